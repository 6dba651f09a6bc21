// SPDX-License-Identifier: Apache-2.0
//
// The values that families derive from a key's digest. Kernel files include it,
// too: internal linkage, C headers only.

#ifndef ROWBLOOM_FILTER_DIGEST_MIX_H_
#define ROWBLOOM_FILTER_DIGEST_MIX_H_

#include <stdint.h>

namespace rowbloom::filter {

namespace {

// Odd, from the fractional bits of the golden ratio and the square root of 3.
constexpr uint64_t kMixMultiplier = 0x9e3779b97f4a7c15u;
constexpr uint64_t kFingerprintMultiplier = 0xbb67ae8584caa73bu;

// The line or home, out of `count`, where a key is looked up first.
inline uint64_t HomeOf(uint64_t digest, uint64_t count) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(digest) * count >>
                               64);
}

// 64 bits that depend on all bits of both.
inline uint64_t Mix64(uint64_t digest, uint64_t seed) {
  const unsigned __int128 product =
      static_cast<unsigned __int128>(digest ^ seed) * kMixMultiplier;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// 32 more bits, derived from a Mix64().
inline uint32_t Fingerprint32(uint64_t mixed) {
  return static_cast<uint32_t>((mixed * kFingerprintMultiplier) >> 32);
}

// The digest that places the same key in the next layer.
inline uint64_t DigestInNextLayer(uint64_t digest) {
  return Mix64(digest, kFingerprintMultiplier);
}

}  // namespace

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_DIGEST_MIX_H_
