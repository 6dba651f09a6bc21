// SPDX-License-Identifier: Apache-2.0

#include <immintrin.h>

#include "filter/compact/compact_kernel.h"
#include "filter/compact/compact_lookup.h"
#include "filter/compact/compact_solver.h"
#include "filter/compact/compact_x86_lookup.h"

namespace rowbloom::filter {

namespace {

struct Avx2Ops : X86Ops {
  static constexpr uint32_t kUnitsTogether = 2;

  static uint32_t ParitiesOfTwo(const char* first, const char* second,
                                uint64_t equation) {
    const auto load = [=](uint32_t offset) {
      return _mm256_set_m128i(Load(second + offset), Load(first + offset));
    };
    const __m256i halves = _mm256_set1_epi64x(static_cast<long long>(equation));
    __m256i x = _mm256_xor_si256(
        _mm256_and_si256(load(0), _mm256_shuffle_epi32(halves, 0x00)),
        _mm256_and_si256(load(kFullStripeSize),
                         _mm256_shuffle_epi32(halves, 0x55)));
    // As in X86Ops.
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 16));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 8));
    x = _mm256_xor_si256(x, _mm256_slli_epi32(x, 4));
    x = _mm256_srli_epi32(x, 4);
    x = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(SignOfParity()), x);
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(x)));
  }
};

}  // namespace

CompactKernel Avx2CompactKernel() {
  return {CompactLookupOf<Avx2Ops>, WorkSize, SolveGroup};
}

}  // namespace rowbloom::filter
