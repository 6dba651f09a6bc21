// SPDX-License-Identifier: Apache-2.0
//
// Memory of the heap on a cache-line boundary, from operator new for ordinary
// objects: glibc before 2.38 seldom reuses what lies around the blocks that an
// operator new for aligned ones takes, and a cache that evicts then keeps more
// memory resident (memory_bench cache).
//
//   void* bytes = NewOnCacheLine(576);
//   DeleteOnCacheLine(bytes);

#ifndef ROWBLOOM_UTIL_CACHE_LINE_H_
#define ROWBLOOM_UTIL_CACHE_LINE_H_

#include <cstddef>
#include <cstdint>
#include <new>

namespace rowbloom::util {

inline constexpr size_t kCacheLineBytes = 64;

// The byte before the block holds its distance from the one that was taken.
inline void* NewOnCacheLine(size_t size) {
  char* const taken =
      static_cast<char*>(::operator new(size + kCacheLineBytes));
  const size_t distance =
      kCacheLineBytes - reinterpret_cast<uintptr_t>(taken) % kCacheLineBytes;
  char* const bytes = taken + distance;
  bytes[-1] = static_cast<char>(distance);
  return bytes;
}

inline void DeleteOnCacheLine(void* bytes) {
  char* const block = static_cast<char*>(bytes);
  ::operator delete(block - block[-1]);
}

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_CACHE_LINE_H_
