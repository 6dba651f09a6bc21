// SPDX-License-Identifier: Apache-2.0
//
// Attributes, and operations that C++17 lacks, which compilers name
// differently. For rowbloom's own code; users need none of it.
//
//   const internal::Product line = internal::Multiply(digest, line_count);
//   if (ROWBLOOM_UNLIKELY(size > 32)) return DigestLongBytes(bytes);
//
// The functions may be called on any number of threads. Kernels include this
// header, so its functions are always inlined: a copy that was compiled for
// newer instructions could be the one that the linker keeps.

#ifndef ROWBLOOM_COMPILER_H_
#define ROWBLOOM_COMPILER_H_

#include <stdint.h>

#include "rowbloom/export.h"

// The CMake option ROWBLOOM_PLAIN_CXX leaves GNU's extensions out, for
// compilers without them. Kernels for one instruction set need them.
#if (defined(__GNUC__) || defined(__clang__)) && !defined(ROWBLOOM_PLAIN_CXX)
#define ROWBLOOM_GNU 1
#if defined(__x86_64__)
#define ROWBLOOM_X86_KERNELS 1
#elif defined(__AARCH64EL__)
#define ROWBLOOM_ARM_KERNELS 1
#endif
#define ROWBLOOM_ALWAYS_INLINE inline __attribute__((always_inline))
#define ROWBLOOM_ALWAYS_INLINE_LAMBDA __attribute__((always_inline))
#define ROWBLOOM_NOINLINE __attribute__((noinline))
#define ROWBLOOM_MAY_ALIAS __attribute__((may_alias))
#define ROWBLOOM_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define ROWBLOOM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ROWBLOOM_UNREACHABLE() __builtin_unreachable()
#else
#define ROWBLOOM_GNU 0
#if defined(_MSC_VER)
#define ROWBLOOM_ALWAYS_INLINE __forceinline
#define ROWBLOOM_NOINLINE __declspec(noinline)
#else
#define ROWBLOOM_ALWAYS_INLINE inline
#define ROWBLOOM_NOINLINE
#endif
#define ROWBLOOM_ALWAYS_INLINE_LAMBDA
#define ROWBLOOM_MAY_ALIAS
#define ROWBLOOM_LIKELY(condition) (condition)
#define ROWBLOOM_UNLIKELY(condition) (condition)
#define ROWBLOOM_UNREACHABLE() static_cast<void>(0)
#endif

// For a variable that needs no initialization: unlike `thread_local`, it is
// read without a call.
#if defined(_MSC_VER)
#include <intrin.h>
#define ROWBLOOM_THREAD_LOCAL __declspec(thread)
#else
#define ROWBLOOM_THREAD_LOCAL __thread
#endif

// Unrolls the loop that follows: completely, or not at all.
#if defined(__clang__)
#define ROWBLOOM_UNROLL _Pragma("unroll")
#define ROWBLOOM_DO_NOT_UNROLL _Pragma("nounroll")
#elif defined(__GNUC__)
#define ROWBLOOM_UNROLL _Pragma("GCC unroll 32")
#define ROWBLOOM_DO_NOT_UNROLL _Pragma("GCC unroll 1")
#else
#define ROWBLOOM_UNROLL
#define ROWBLOOM_DO_NOT_UNROLL
#endif

namespace ROWBLOOM_EXPORT rowbloom {
namespace internal {

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
constexpr bool kIsLittleEndian = false;
#else
constexpr bool kIsLittleEndian = true;  // So is every system of Windows.
#endif

struct Product {
  uint64_t high;
  uint64_t low;
};

// a * b + addend
ROWBLOOM_ALWAYS_INLINE Product Multiply(uint64_t a, uint64_t b,
                                        uint64_t addend = 0) {
#if ROWBLOOM_GNU
  __extension__ using Uint128 = unsigned __int128;  // No warning if pedantic.
  const Uint128 product = static_cast<Uint128>(a) * b + addend;
  return {static_cast<uint64_t>(product >> 64), static_cast<uint64_t>(product)};
#else
  Product product;
#if defined(_M_X64)
  product.low = _umul128(a, b, &product.high);
#else
  const uint64_t kHalf = 0xffffffff;
  const uint64_t low = (a & kHalf) * (b & kHalf);
  const uint64_t first = (a >> 32) * (b & kHalf) + (low >> 32);
  const uint64_t second = (a & kHalf) * (b >> 32) + (first & kHalf);
  product = {(a >> 32) * (b >> 32) + (first >> 32) + (second >> 32),
             second << 32 | (low & kHalf)};
#endif
  product.low += addend;
  product.high += product.low < addend;
  return product;
#endif
}

// Both return true, and an undefined *result, if the result exceeds 64 bits.
ROWBLOOM_ALWAYS_INLINE bool AddOverflows(uint64_t a, uint64_t b,
                                         uint64_t* result) {
  *result = a + b;
  return *result < a;
}
ROWBLOOM_ALWAYS_INLINE bool MultiplyOverflows(uint64_t a, uint64_t b,
                                              uint64_t* result) {
  const Product product = Multiply(a, b);
  *result = product.low;
  return product.high != 0;
}

ROWBLOOM_ALWAYS_INLINE uint64_t SwapBytes64(uint64_t value) {
#if ROWBLOOM_GNU
  return __builtin_bswap64(value);
#else
  value = (value & 0x00ff00ff00ff00ff) << 8 | (value >> 8 & 0x00ff00ff00ff00ff);
  value =
      (value & 0x0000ffff0000ffff) << 16 | (value >> 16 & 0x0000ffff0000ffff);
  return value << 32 | value >> 32;
#endif
}

ROWBLOOM_ALWAYS_INLINE uint32_t CountOnes(uint64_t word) {
#if ROWBLOOM_GNU
  return static_cast<uint32_t>(__builtin_popcountll(word));
#else
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return static_cast<uint32_t>(word * 0x0101010101010101 >> 56);
#endif
}

// The number of zeros below the lowest one. `word` is not 0.
ROWBLOOM_ALWAYS_INLINE uint32_t LowestOne(uint64_t word) {
#if ROWBLOOM_GNU
  return static_cast<uint32_t>(__builtin_ctzll(word));
#else
  return CountOnes((word & (0 - word)) - 1);
#endif
}

ROWBLOOM_ALWAYS_INLINE uint32_t Parity(uint64_t word) {
#if ROWBLOOM_GNU
  return static_cast<uint32_t>(__builtin_parityll(word));
#else
  return CountOnes(word) & 1;
#endif
}

// Into all caches.
ROWBLOOM_ALWAYS_INLINE void PrefetchToRead(const void* bytes) {
#if ROWBLOOM_GNU
  __builtin_prefetch(bytes);
#elif defined(_M_X64)
  _mm_prefetch(static_cast<const char*>(bytes), _MM_HINT_T0);
#else
  static_cast<void>(bytes);
#endif
}

// Into the second-level cache, which can wait for more lines at a time.
ROWBLOOM_ALWAYS_INLINE void PrefetchFar(const void* bytes) {
#if ROWBLOOM_GNU
  __builtin_prefetch(bytes, 0, 1);
#elif defined(_M_X64)
  _mm_prefetch(static_cast<const char*>(bytes), _MM_HINT_T2);
#else
  static_cast<void>(bytes);
#endif
}

// Compilers prefetch to read unless they may assume this instruction, which all
// 64-bit x86 processors have or ignore.
ROWBLOOM_ALWAYS_INLINE void PrefetchToWrite(const uint64_t* word) {
#if ROWBLOOM_GNU && defined(__x86_64__)
  __asm__("prefetchw %0" : : "m"(*word));
#elif ROWBLOOM_GNU
  __builtin_prefetch(word, 1);
#elif defined(_M_X64)
  _m_prefetchw(word);
#else
  static_cast<void>(word);
#endif
}

// Words that threads share and that are no std::atomic, which C++17 has no
// reference to.
ROWBLOOM_ALWAYS_INLINE uint64_t LoadRelaxed(const uint64_t* word) {
#if defined(_MSC_VER) && !defined(__clang__)
  return *const_cast<const volatile uint64_t*>(word);
#else
  return __atomic_load_n(word, __ATOMIC_RELAXED);
#endif
}
ROWBLOOM_ALWAYS_INLINE void OrRelaxed(uint64_t* word, uint64_t bits) {
#if defined(_MSC_VER) && !defined(__clang__)
  _InterlockedOr64(reinterpret_cast<volatile long long*>(word),
                   static_cast<long long>(bits));
#else
  __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
#endif
}

}  // namespace internal
}  // namespace rowbloom

#endif  // ROWBLOOM_COMPILER_H_
