// SPDX-License-Identifier: Apache-2.0
//
// The lookup of compact with SSSE3, unit by unit: wider registers would not
// make that faster. For kernel files: internal linkage.

#ifndef ROWBLOOM_FILTER_COMPACT_COMPACT_X86_LOOKUP_H_
#define ROWBLOOM_FILTER_COMPACT_COMPACT_X86_LOOKUP_H_

#include <tmmintrin.h>

#include "filter/compact/compact_lookup.h"

namespace rowbloom::filter {

namespace {

struct X86Ops {
  static constexpr uint32_t kUnitsTogether = 1;

  static __m128i Load(const char* bytes) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  }

  // For each number below 16, a byte with its parity as the sign.
  static __m128i SignOfParity() {
    return _mm_setr_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128,
                         0, -128, -128, 0);
  }

  static uint32_t Parities(const char* home, const char* next,
                           uint64_t equation) {
    const __m128i halves = _mm_cvtsi64_si128(static_cast<long long>(equation));
    __m128i x = _mm_xor_si128(
        _mm_and_si128(Load(home), _mm_shuffle_epi32(halves, 0x00)),
        _mm_and_si128(Load(next), _mm_shuffle_epi32(halves, 0x55)));
    // Folds each plane's 32 bits into its top 4. These alone then make its top
    // byte, and their parity the sign.
    x = _mm_xor_si128(x, _mm_slli_epi32(x, 16));
    x = _mm_xor_si128(x, _mm_slli_epi32(x, 8));
    x = _mm_xor_si128(x, _mm_slli_epi32(x, 4));
    x = _mm_srli_epi32(x, 4);
    x = _mm_shuffle_epi8(SignOfParity(), x);
    return static_cast<uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(x)));
  }
};

}  // namespace

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_COMPACT_COMPACT_X86_LOOKUP_H_
