// SPDX-License-Identifier: Apache-2.0
//
// Systems of linear equations over GF(2), four side by side, bit-sliced: one
// word holds one plane (a coefficient, or one bit of the right-hand sides) of
// up to 64 equations of one system, and one Lanes holds that word of four
// systems. An operation on Lanes serves 64 equations of four systems, without a
// branch.
//
// For kernel files (CONTRIBUTING.md, "Kernels"): everything here has internal
// linkage, and compiles to the instructions of the file that includes it.

#ifndef ROWBLOOM_FILTER_GF2_LANES_H_
#define ROWBLOOM_FILTER_GF2_LANES_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

#include "rowbloom/compiler.h"

namespace rowbloom::filter {

namespace {

constexpr uint32_t kLanes = 4;
constexpr uint32_t kMaxEquations = 64;

#if ROWBLOOM_GNU
// May alias words in memory that are written one by one.
typedef uint64_t Lanes __attribute__((vector_size(32), may_alias));
typedef int64_t SignedLanes __attribute__((vector_size(32)));
#else
// The operations of GNU's vectors that are used here.
struct alignas(32) Lanes {
  uint64_t words[kLanes];

  uint64_t& operator[](size_t i) { return words[i]; }
  uint64_t operator[](size_t i) const { return words[i]; }
};

template <typename Operation>
ROWBLOOM_ALWAYS_INLINE Lanes ForEachLane(Operation operation) {
  return {{operation(0), operation(1), operation(2), operation(3)}};
}

#define ROWBLOOM_LANES_OPERATOR(op)                                 \
  ROWBLOOM_ALWAYS_INLINE Lanes operator op(Lanes a, Lanes b) {      \
    return ForEachLane([&](size_t i) { return a[i] op b[i]; });     \
  }                                                                 \
  ROWBLOOM_ALWAYS_INLINE Lanes operator op(Lanes a, uint64_t b) {   \
    return ForEachLane([&](size_t i) { return a[i] op b; });        \
  }                                                                 \
  template <typename Other>                                         \
  ROWBLOOM_ALWAYS_INLINE Lanes& operator op##=(Lanes& a, Other b) { \
    return a = a op b;                                              \
  }
ROWBLOOM_LANES_OPERATOR(&)
ROWBLOOM_LANES_OPERATOR(|)
ROWBLOOM_LANES_OPERATOR(^)
ROWBLOOM_LANES_OPERATOR(+)
ROWBLOOM_LANES_OPERATOR(<<)
ROWBLOOM_LANES_OPERATOR(>>)
#undef ROWBLOOM_LANES_OPERATOR
ROWBLOOM_ALWAYS_INLINE Lanes operator~(Lanes a) { return a ^ ~uint64_t{0}; }
ROWBLOOM_ALWAYS_INLINE Lanes operator-(Lanes a) { return ~a + uint64_t{1}; }
#endif

// The index of the low one of the two 32-bit halves of a word in memory.
constexpr uint32_t kLowHalf = internal::kIsLittleEndian ? 0 : 1;

// All ones in the lanes where `plane` has the one bit of `pivot`, or where
// `pivot` is 0.
ROWBLOOM_ALWAYS_INLINE Lanes Holds(Lanes plane, Lanes pivot) {
#if ROWBLOOM_GNU
  return reinterpret_cast<Lanes>((plane & pivot) == pivot);
#else
  return ForEachLane([&](size_t i) {
    return 0 - uint64_t{(plane[i] & pivot[i]) == pivot[i]};
  });
#endif
}

// All ones in the lanes where `a` is not 0.
ROWBLOOM_ALWAYS_INLINE Lanes NonZero(Lanes a) {
#if ROWBLOOM_GNU
  return reinterpret_cast<Lanes>(a != Lanes{});
#else
  return ForEachLane([&](size_t i) { return 0 - uint64_t{a[i] != 0}; });
#endif
}

// `sum`, plus `others` in the lanes where `plane` has the one bit of `pivot`.
// Where `pivot` is 0, `others` must be 0.
ROWBLOOM_ALWAYS_INLINE Lanes AddWhere(Lanes plane, Lanes pivot, Lanes others,
                                      Lanes sum) {
#if defined(__AVX512VL__)
  const __m256i wide_sum = reinterpret_cast<__m256i>(sum);
  return reinterpret_cast<Lanes>(_mm256_mask_xor_epi64(
      wide_sum,
      _mm256_test_epi64_mask(reinterpret_cast<__m256i>(plane),
                             reinterpret_cast<__m256i>(pivot)),
      wide_sum, reinterpret_cast<__m256i>(others)));
#else
  return sum ^ (others & Holds(plane, pivot));
#endif
}

#if defined(__AVX512VL__)

// Swaps as one step of Transpose() does, for the words of two Lanes at once.
template <uint32_t kShift>
ROWBLOOM_ALWAYS_INLINE void SwapFields(__m512i* first, __m512i* last) {
  constexpr uint64_t kLow = ~uint64_t{0} / ((uint64_t{1} << kShift) + 1);
  const __m512i swapped = _mm512_and_si512(
      _mm512_xor_si512(_mm512_srli_epi64(*first, kShift), *last),
      _mm512_set1_epi64(static_cast<long long>(kLow)));
  *last = _mm512_xor_si512(*last, swapped);
  *first = _mm512_xor_si512(*first, _mm512_slli_epi64(swapped, kShift));
}

// Works as Transpose() for pairs of words in registers.
template <uint32_t kSize, uint32_t kBits>
ROWBLOOM_ALWAYS_INLINE void TransposePairs(__m512i* pairs) {
  static_assert(kSize >= 4);
  ROWBLOOM_UNROLL
  for (uint32_t i = 0; i < kSize / 4; ++i) {
    SwapFields<kBits * kSize / 2>(&pairs[i], &pairs[i + kSize / 4]);
  }
  if constexpr (kSize > 4) {
    TransposePairs<kSize / 2, kBits>(pairs);
    TransposePairs<kSize / 2, kBits>(pairs + kSize / 4);
  } else {
    __m512i first = _mm512_shuffle_i64x2(pairs[0], pairs[1], 0x44);
    __m512i last = _mm512_shuffle_i64x2(pairs[0], pairs[1], 0xee);
    SwapFields<kBits>(&first, &last);
    pairs[0] = _mm512_shuffle_i64x2(first, last, 0x44);
    pairs[1] = _mm512_shuffle_i64x2(first, last, 0xee);
  }
}

#endif

// Transposes kSize words, whose bits form elements of kBits, and these form
// fields of kSize: element i of each field of words[j] becomes element j of
// that field of words[i]. A second call undoes it.
template <uint32_t kSize, uint32_t kBits>
inline void Transpose(Lanes* words) {
#if defined(__AVX512VL__)
  if constexpr (kSize >= 4 && kSize <= 32) {
    __m512i pairs[kSize / 2];
    ROWBLOOM_UNROLL
    for (uint32_t i = 0; i < kSize / 2; ++i) {
      pairs[i] = _mm512_loadu_si512(words + 2 * i);
    }
    TransposePairs<kSize, kBits>(pairs);
    ROWBLOOM_UNROLL
    for (uint32_t i = 0; i < kSize / 2; ++i) {
      _mm512_storeu_si512(words + 2 * i, pairs[i]);
    }
    return;
  }
#endif
  if constexpr (kSize > 1) {
    // Swaps the high halves of the first words with the low halves of the last.
    constexpr uint32_t kHalf = kSize / 2;
    constexpr uint32_t kShift = kBits * kHalf;
    constexpr uint64_t kLow = ~uint64_t{0} / ((uint64_t{1} << kShift) + 1);
    ROWBLOOM_UNROLL
    for (uint32_t i = 0; i < kHalf; ++i) {
      const Lanes swapped = ((words[i] >> kShift) ^ words[i + kHalf]) & kLow;
      words[i + kHalf] ^= swapped;
      words[i] ^= swapped << kShift;
    }
    Transpose<kHalf, kBits>(words);
    Transpose<kHalf, kBits>(words + kHalf);
  }
}

// Takes 64 equations of kBits bits: equation kBits * j + i in the j-th field of
// kBits bits, from the lowest, of words[i]. Gives planes: bit r of words[c] is
// bit c of equation r. A second call undoes it.
template <uint32_t kBits = 32>
inline void EquationsToPlanes(Lanes* words) {
  Transpose<kBits, 1>(words);
}

// Eliminates the next kBlock planes together, so that the others are loaded
// and stored less often.
template <uint32_t kBlock>
ROWBLOOM_ALWAYS_INLINE Lanes EliminateBlock(Lanes* planes, uint32_t first,
                                            uint32_t plane_count,
                                            Lanes equations, Lanes* pivots) {
  // A plane takes others[b] where its pivot equation pivot[b] has a 1.
  Lanes pivot[kBlock];
  Lanes others[kBlock];
  const auto add = [&](Lanes plane, uint32_t blocks)
                       ROWBLOOM_ALWAYS_INLINE_LAMBDA {
                         Lanes sum = plane;
                         ROWBLOOM_UNROLL
                         for (uint32_t b = 0; b < blocks; ++b) {
                           sum = AddWhere(plane, pivot[b], others[b], sum);
                         }
                         return sum;
                       };
  ROWBLOOM_UNROLL
  for (uint32_t b = 0; b < kBlock; ++b) {
    const Lanes plane = add(planes[first + b], b);
    const Lanes candidates = plane & equations;
    pivot[b] = candidates & -candidates;
    equations ^= pivot[b];
    pivots[first + b] = pivot[b];
    const Lanes new_others = (plane ^ pivot[b]) & NonZero(pivot[b]);
    // Adding an earlier equation to this one adds this one to the others.
    ROWBLOOM_UNROLL
    for (uint32_t e = 0; e < b; ++e) {
      others[e] = AddWhere(others[e], pivot[b], new_others, others[e]);
    }
    others[b] = new_others;
  }
  uint32_t j = first + kBlock;
#if defined(__AVX512VL__)
  // Two planes at a time.
  __m512i pivots_twice[kBlock];
  __m512i others_twice[kBlock];
  ROWBLOOM_UNROLL
  for (uint32_t b = 0; b < kBlock; ++b) {
    pivots_twice[b] =
        _mm512_broadcast_i64x4(reinterpret_cast<__m256i>(pivot[b]));
    others_twice[b] =
        _mm512_broadcast_i64x4(reinterpret_cast<__m256i>(others[b]));
  }
  for (; j + 2 <= plane_count; j += 2) {
    const __m512i two = _mm512_loadu_si512(planes + j);
    __m512i sum = two;
    ROWBLOOM_UNROLL
    for (uint32_t b = 0; b < kBlock; ++b) {
      sum = _mm512_mask_xor_epi64(sum,
                                  _mm512_test_epi64_mask(two, pivots_twice[b]),
                                  sum, others_twice[b]);
    }
    _mm512_storeu_si512(planes + j, sum);
  }
#endif
  for (; j < plane_count; ++j) planes[j] = add(planes[j], kBlock);
  return equations;
}

// Solves planes[0 .. pivot_count - 1] for the equations in `equations`, by
// Gauss-Jordan elimination. pivots[i] is the bit of plane i's pivot equation,
// or 0; returns the equations that are not pivot equations. The later planes,
// up to plane_count, then hold the reduced equations: a pivot equation is 1 in
// its own pivot plane and 0 in the others, any other equation is 0 in all. The
// first pivot_count planes are used up.
//
// The order of the equations does not change which planes have a pivot.
inline Lanes Eliminate(Lanes* planes, uint32_t pivot_count,
                       uint32_t plane_count, Lanes equations, Lanes* pivots) {
  uint32_t first = 0;
  for (; first + 4 <= pivot_count; first += 4) {
    equations =
        EliminateBlock<4>(planes, first, plane_count, equations, pivots);
  }
  for (; first < pivot_count; ++first) {
    equations =
        EliminateBlock<1>(planes, first, plane_count, equations, pivots);
  }
  return equations;
}

}  // namespace

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_GF2_LANES_H_
