// SPDX-License-Identifier: Apache-2.0
//
// Estimates from the number of set bits in one array.

#ifndef ROWBLOOM_MEMFILTER_ESTIMATES_H_
#define ROWBLOOM_MEMFILTER_ESTIMATES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "rowbloom/memfilter/sizing.h"

namespace rowbloom::internal::memfilter {

inline double Fill(const BloomShape& shape, uint64_t bits_set) {
  return static_cast<double>(bits_set) / static_cast<double>(shape.bit_count);
}

// The probability that all bits of an absent key are set.
inline double RateAt(const BloomShape& shape, uint64_t bits_set) {
  return std::pow(Fill(shape, bits_set), shape.probe_count);
}

// The most likely number of keys that set `bits_set` bits, -m/k ln(1 - X/m)
// (Swamidass and Baldi 2007); if all bits are set, the number that leaves half
// a bit clear.
inline uint64_t KeysThatSet(const BloomShape& shape, uint64_t bits_set) {
  const double bits = static_cast<double>(shape.bit_count);
  const double clear = std::max(bits - static_cast<double>(bits_set), 0.5);
  return static_cast<uint64_t>(
      std::llround(-bits / shape.probe_count * std::log(clear / bits)));
}

}  // namespace rowbloom::internal::memfilter

#endif  // ROWBLOOM_MEMFILTER_ESTIMATES_H_
