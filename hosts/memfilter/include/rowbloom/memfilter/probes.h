// SPDX-License-Identifier: Apache-2.0
//
// The bits of a key: k positions in an array of m bits, from its digest alone,
// by enhanced double hashing (Dillinger and Manolios 2004). Position i is
//
//   floor(m (a + i b + c (i^3 - i) / 6) / 2^64)      arithmetic modulo 2^64
//
// with a the digest, b another 64 bits of it and c a constant. The cubic term
// keeps the progressions of two keys from running into each other.
//
//   BloomProbes probes(digest, shape.bit_count);
//   for (uint32_t i = 0; i < shape.probe_count; ++i) Test(probes.Next());
//
// Saved filters hold these positions, so the definition never changes. A
// value: any thread.

#ifndef ROWBLOOM_MEMFILTER_PROBES_H_
#define ROWBLOOM_MEMFILTER_PROBES_H_

#include <cstdint>

#include "rowbloom/compiler.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"

namespace ROWBLOOM_EXPORT rowbloom {

class BloomProbes {
 public:
  BloomProbes() = default;
  BloomProbes(KeyDigest digest, uint64_t bit_count)
      : at_(digest.value), step_(Step(digest.value)), bit_count_(bit_count) {}

  uint64_t Next() {
    const uint64_t position = internal::Multiply(at_, bit_count_).high;
    at_ += step_;
    bend_ += kBend;
    step_ += bend_;
    return position;
  }

 private:
  // Both are odd, from the fractional bits of the square roots of 5 and of 7.
  static constexpr uint64_t kStepMultiplier = 0x3c6ef372fe94f82bu;
  static constexpr uint64_t kBend = 0xa54ff53a5f1d36f1u;

  static uint64_t Step(uint64_t digest) {
    const internal::Product product =
        internal::Multiply(digest, kStepMultiplier);
    return product.low ^ product.high;
  }

  uint64_t at_ = 0;
  uint64_t step_ = 0;
  uint64_t bend_ = 0;
  uint64_t bit_count_ = 0;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_PROBES_H_
