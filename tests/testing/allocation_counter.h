// SPDX-License-Identifier: Apache-2.0
//
// Replaces the global operator new of a whole test binary by one that counts,
// so that a test can state what allocates.
//
//   const size_t before = AllocationCount();
//   reader->MayContain("row");
//   EXPECT_EQ(AllocationCount(), before);
//
//   ResetPeakBytes();
//   builder->Finish();
//   EXPECT_LE(PeakBytes() - LiveBytes(), 1000);  // Was freed again.
//
//   FailAllocation(3);  // The third one from now on finds no memory.
//
// It defines the operators: include it from exactly one file of a binary.
// Counts are by thread, bytes with the allocator's rounding. They stay at zero,
// and kCountsAllocations is false, where the operators cannot be replaced:
// under clang's ThreadSanitizer.

#ifndef ROWBLOOM_TESTS_TESTING_ALLOCATION_COUNTER_H_
#define ROWBLOOM_TESTS_TESTING_ALLOCATION_COUNTER_H_

#if defined(__APPLE__)
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ROWBLOOM_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef ROWBLOOM_COUNTS_ALLOCATIONS
#define ROWBLOOM_COUNTS_ALLOCATIONS 1
#endif

namespace rowbloom::testing {

inline constexpr bool kCountsAllocations = ROWBLOOM_COUNTS_ALLOCATIONS;

inline thread_local size_t allocation_count = 0;

inline thread_local size_t failing_allocation = 0;

inline thread_local int64_t live_bytes = 0;
inline thread_local int64_t peak_bytes = 0;

inline size_t AllocationCount() { return allocation_count; }
// 0: none fails.
inline void FailAllocation(size_t nth) { failing_allocation = nth; }
// False once it has failed.
inline bool AllocationWillFail() { return failing_allocation != 0; }
// The bytes that this thread has allocated, minus those that it has freed.
inline int64_t LiveBytes() { return live_bytes; }
// The maximum of LiveBytes() since ResetPeakBytes().
inline int64_t PeakBytes() { return peak_bytes; }
inline void ResetPeakBytes() { peak_bytes = live_bytes; }

inline void* AlignedAllocation(size_t size, size_t align) {
#if defined(_WIN32)
  return _aligned_malloc(size, align);
#else
  return std::aligned_alloc(align, size);
#endif
}
inline int64_t UsableBytes(void* p, [[maybe_unused]] std::align_val_t align) {
#if defined(_WIN32)
  return p == nullptr ? 0
                      : static_cast<int64_t>(
                            _aligned_msize(p, static_cast<size_t>(align), 0));
#elif defined(__APPLE__)
  return static_cast<int64_t>(malloc_size(p));
#else
  return static_cast<int64_t>(malloc_usable_size(p));
#endif
}

inline void* CountedAllocation(size_t size, std::align_val_t alignment) {
  ++allocation_count;
  if (failing_allocation > 0 && --failing_allocation == 0) {
    throw std::bad_alloc();
  }
  const size_t align = static_cast<size_t>(alignment);
  const size_t blocks = size / align + (size % align != 0 || size == 0);
  void* p = AlignedAllocation(blocks * align, align);
  if (p == nullptr) std::abort();
  live_bytes += UsableBytes(p, alignment);
  if (live_bytes > peak_bytes) peak_bytes = live_bytes;
  return p;
}

inline constexpr std::align_val_t kDefaultAlignment{
    __STDCPP_DEFAULT_NEW_ALIGNMENT__};

inline void CountedFree(void* p,
                        std::align_val_t alignment = kDefaultAlignment) {
  live_bytes -= UsableBytes(p, alignment);
#if defined(_WIN32)
  _aligned_free(p);
#else
  std::free(p);
#endif
}

}  // namespace rowbloom::testing

#if ROWBLOOM_COUNTS_ALLOCATIONS

// Defines every form whose version in the standard library does not end in
// another of these, or not under a sanitizer. They are not inlined: g++ would
// see free() meet operator new.
#define ROWBLOOM_NEW [[gnu::noinline]] void* operator
#define ROWBLOOM_DELETE [[gnu::noinline]] void operator

ROWBLOOM_NEW new (size_t size) {
  return rowbloom::testing::CountedAllocation(
      size, rowbloom::testing::kDefaultAlignment);
}
ROWBLOOM_NEW new[](size_t size) { return operator new(size); }
ROWBLOOM_NEW new (size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
ROWBLOOM_NEW new[](size_t size, const std::nothrow_t& tag) noexcept {
  return operator new(size, tag);
}
ROWBLOOM_NEW new (size_t size, std::align_val_t alignment) {
  return rowbloom::testing::CountedAllocation(size, alignment);
}
ROWBLOOM_NEW new[](size_t size, std::align_val_t alignment) {
  return rowbloom::testing::CountedAllocation(size, alignment);
}

ROWBLOOM_DELETE delete (void* p) noexcept { rowbloom::testing::CountedFree(p); }
ROWBLOOM_DELETE delete[](void* p) noexcept {
  rowbloom::testing::CountedFree(p);
}
ROWBLOOM_DELETE delete (void* p, size_t) noexcept {
  rowbloom::testing::CountedFree(p);
}
ROWBLOOM_DELETE delete[](void* p, size_t) noexcept {
  rowbloom::testing::CountedFree(p);
}
ROWBLOOM_DELETE delete (void* p, const std::nothrow_t&) noexcept {
  rowbloom::testing::CountedFree(p);
}
ROWBLOOM_DELETE delete[](void* p, const std::nothrow_t&) noexcept {
  rowbloom::testing::CountedFree(p);
}
ROWBLOOM_DELETE delete (void* p, std::align_val_t alignment) noexcept {
  rowbloom::testing::CountedFree(p, alignment);
}
ROWBLOOM_DELETE delete[](void* p, std::align_val_t alignment) noexcept {
  rowbloom::testing::CountedFree(p, alignment);
}
ROWBLOOM_DELETE delete (void* p, size_t, std::align_val_t alignment) noexcept {
  rowbloom::testing::CountedFree(p, alignment);
}
ROWBLOOM_DELETE delete[](void* p, size_t, std::align_val_t alignment) noexcept {
  rowbloom::testing::CountedFree(p, alignment);
}

#undef ROWBLOOM_NEW
#undef ROWBLOOM_DELETE

#endif  // ROWBLOOM_COUNTS_ALLOCATIONS

#endif  // ROWBLOOM_TESTS_TESTING_ALLOCATION_COUNTER_H_
