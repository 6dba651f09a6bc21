// SPDX-License-Identifier: Apache-2.0
//
// Murmur3, x64 variant of 128 bits, seed 0 (Appleby): the hash of Guava's
// filters. Our own filters do not use it.

#ifndef ROWBLOOM_HASH_MURMUR3_H_
#define ROWBLOOM_HASH_MURMUR3_H_

#include <cstdint>
#include <string_view>

namespace rowbloom::hash {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
};

Hash128 Murmur3X64_128(std::string_view bytes);

}  // namespace rowbloom::hash

#endif  // ROWBLOOM_HASH_MURMUR3_H_
