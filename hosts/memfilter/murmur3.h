// SPDX-License-Identifier: Apache-2.0
//
// Murmur3, x64 variant of 128 bits, seed 0 (Appleby), by which Guava's filters
// hash. Filters of our own use XXH3.

#ifndef ROWBLOOM_MEMFILTER_MURMUR3_H_
#define ROWBLOOM_MEMFILTER_MURMUR3_H_

#include <cstdint>
#include <string_view>

namespace rowbloom::internal::memfilter {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
};

Hash128 Murmur3X64_128(std::string_view bytes);

}  // namespace rowbloom::internal::memfilter

#endif  // ROWBLOOM_MEMFILTER_MURMUR3_H_
