// SPDX-License-Identifier: Apache-2.0
//
// Hash64() of digest.h for short bytes, inlined: for functions that hash a key
// for each lookup, where the call would cost half as much again. All others
// include digest.h, which compiles faster.

#ifndef ROWBLOOM_UTIL_XXH3_H_
#define ROWBLOOM_UTIL_XXH3_H_

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rowbloom::util {

constexpr size_t kShortHashSize = 32;

// Hash64(bytes) of at most kShortHashSize bytes.
// Static, as the functions of xxhash.h are here.
static inline uint64_t ShortHash64(std::string_view bytes) {
  const char* const data = bytes.data();
  const size_t size = bytes.size();
  // The compiler keeps of each call what bytes of these sizes need.
  if (__builtin_expect(size > 16 && size <= kShortHashSize, 1)) {
    return XXH3_64bits(data, size);
  }
  if (size > 16) __builtin_unreachable();
  return XXH3_64bits(data, size);
}

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_XXH3_H_
