// SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "filter/compact/compact_kernel.h"
#include "filter/compact/compact_lookup.h"
#include "filter/compact/compact_solver.h"

namespace rowbloom::filter {

namespace {

struct Avx512Ops {
  static constexpr uint32_t kUnitsTogether = 2;

  static __m128i Load(const char* bytes) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  }

  static uint32_t Parities(const char* home, const char* next,
                           uint64_t equation) {
    const __m128i low = _mm_set1_epi32(static_cast<int>(equation));
    const __m128i high = _mm_set1_epi32(static_cast<int>(equation >> 32));
    const __m128i x = _mm_xor_si128(_mm_and_si128(Load(home), low),
                                    _mm_and_si128(Load(next), high));
    return _mm_test_epi32_mask(_mm_popcnt_epi32(x), _mm_set1_epi32(1));
  }

  static uint32_t ParitiesOfTwo(const char* first, const char* second,
                                uint64_t equation) {
    const auto load = [=](uint32_t offset) {
      return _mm256_set_m128i(Load(second + offset), Load(first + offset));
    };
    const __m256i low = _mm256_set1_epi32(static_cast<int>(equation));
    const __m256i high = _mm256_set1_epi32(static_cast<int>(equation >> 32));
    const __m256i x =
        _mm256_xor_si256(_mm256_and_si256(load(0), low),
                         _mm256_and_si256(load(kFullStripeSize), high));
    return _mm256_test_epi32_mask(_mm256_popcnt_epi32(x), _mm256_set1_epi32(1));
  }
};

}  // namespace

CompactKernel Avx512CompactKernel() {
  return {CompactLookupOf<Avx512Ops>, WorkSize, SolveGroup};
}

}  // namespace rowbloom::filter
