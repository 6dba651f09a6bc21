// SPDX-License-Identifier: Apache-2.0

#include <nmmintrin.h>

#include "filter/fast/fast_kernel.h"
#include "filter/fast/fast_lookup.h"

namespace rowbloom::filter {

namespace {

constexpr uint32_t kPiece = 16;

inline __m128i Load(const void* bytes) {
  return _mm_loadu_si128(static_cast<const __m128i*>(bytes));
}

// The parity of each byte.
inline uint32_t ByteParities(__m128i x) {
  const __m128i parity = _mm_setr_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128,
                                       0, 0, -128, 0, -128, -128, 0);
  x = _mm_xor_si128(x, _mm_srli_epi16(x, 4));
  x = _mm_and_si128(x, _mm_set1_epi8(15));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_shuffle_epi8(parity, x)));
}

struct Sse42Ops {
  template <uint32_t kPlanes>
  static uint32_t Parities(const char* line, uint64_t equation,
                           uint64_t sparse_equation) {
    const __m128i equations = _mm_set_epi64x(
        static_cast<long long>(kPlanes >= 8 ? equation : sparse_equation),
        static_cast<long long>(equation));
    __m128i pieces[kFastLineSize / kPiece];
    for (uint32_t i = 0; i < kFastLineSize / kPiece; ++i) {
      const uint8_t* index = kEquationIndex<kPlanes>.of + i * kPiece;
      pieces[i] = _mm_and_si128(Load(line + i * kPiece),
                                _mm_shuffle_epi8(equations, Load(index)));
    }
    if (kPiece % kPlanes == 0) {  // All have the same planes.
      return XorOfGroups<kPlanes, kPiece / kPlanes>(
          ByteParities(_mm_xor_si128(_mm_xor_si128(pieces[0], pieces[1]),
                                     _mm_xor_si128(pieces[2], pieces[3]))));
    }
    uint64_t parities = 0;
    for (uint32_t i = 0; i < kFastLineSize / kPiece; ++i) {
      parities |= uint64_t{ByteParities(pieces[i])} << (i * kPiece);
    }
    return XorOfGroups<kPlanes, FastGroups(kPlanes)>(parities);
  }

  static uint32_t SplitThreshold(const char* line) {
    return static_cast<uint32_t>(_mm_movemask_epi8(Load(line + 48))) >> 8;
  }
};

}  // namespace

FastKernel Sse42FastKernel(uint32_t planes) {
  return FastKernelOf<Sse42Ops>(planes);
}

}  // namespace rowbloom::filter
