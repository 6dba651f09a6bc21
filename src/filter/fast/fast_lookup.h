// SPDX-License-Identifier: Apache-2.0
//
// Lookups of fast, around the few instructions that differ between instruction
// sets, and the kernels that they make. For kernel files: internal linkage.
//
// `Ops` gives them:
//   // Its lowest kPlanes bits: the parity of each plane's bits in the slots
//   // of the key's equation, whose sparse part is sparse_equation.
//   template <uint32_t kPlanes>
//   static uint32_t Parities(const char* line, uint64_t equation,
//                            uint64_t sparse_equation);
//   // The threshold of a line of 8 planes.
//   static uint32_t SplitThreshold(const char* line);

#ifndef ROWBLOOM_FILTER_FAST_FAST_LOOKUP_H_
#define ROWBLOOM_FILTER_FAST_FAST_LOOKUP_H_

#include "filter/fast/fast_kernel.h"
#include "filter/fast/fast_solver.h"

namespace rowbloom::filter {

namespace {

struct FastPlace {
  uint64_t line;
  uint32_t position;
};

inline FastPlace FastPlaceOf(uint64_t digest, uint64_t line_count) {
  const internal::Product product = internal::Multiply(digest, line_count);
  return {product.high, static_cast<uint32_t>(product.low >> 57)};
}

// The XOR of the first kGroups groups of kPlanes bits, in the lowest kPlanes
// bits. Bits after the groups are 0.
template <uint32_t kPlanes, uint32_t kGroups, typename Word>
inline uint32_t XorOfGroups(Word bits) {
  constexpr uint32_t kBits = 8 * sizeof(Word);
  for (uint32_t step = 8; step > 0; step /= 2) {
    if (step >= kGroups) continue;
    // Rotates, which takes fewer instructions than a shift, if the bits that
    // come in from the other side of the word do no harm: in the last step, or
    // if no bits follow the groups.
    const uint32_t distance = step * kPlanes;
    const bool rotate = step == 1 || kPlanes * kGroups == kBits;
    bits ^= bits >> distance | (rotate ? bits << (kBits - distance) : 0);
  }
  return static_cast<uint32_t>(bits);
}

// For kernels that shuffle bytes of the equation in 16-byte registers: the byte
// of the equation for each byte of the line; 255, for which a shuffle gives 0,
// for bytes without slots.
struct EquationIndex {
  alignas(16) uint8_t of[kFastLineSize];
};

template <uint32_t kPlanes>
constexpr EquationIndex MakeEquationIndex() {
  EquationIndex index = {};
  for (uint32_t b = 0; b < kFastLineSize; ++b) {
    const uint32_t group = b / kPlanes;
    index.of[b] =
        static_cast<uint8_t>(group < FastGroups(kPlanes) ? group : 255);
  }
  return index;
}

template <uint32_t kPlanes>
constexpr EquationIndex kEquationIndex = MakeEquationIndex<kPlanes>();

template <typename Ops, uint32_t kPlanes>
inline bool FastMatches(const char* line, uint64_t digest) {
  const FastEquation equation = FastEquationOf(digest, kPlanes);
  const uint32_t wrong =
      Ops::template Parities<kPlanes>(line, equation.equation,
                                      uint64_t{1} << equation.sparse_slot) ^
      static_cast<uint32_t>(equation.fingerprint);
  return (wrong & ((1u << kPlanes) - 1)) == 0;
}

template <typename Ops, uint32_t kPlanes>
inline uint32_t FastThreshold(const char* line) {
  return kPlanes == 8 ? Ops::SplitThreshold(line)
                      : static_cast<uint8_t>(line[kFastThresholdByte]);
}

// Looks up a key that is not stored in its home.
template <typename Ops, uint32_t kPlanes>
ROWBLOOM_NOINLINE bool FastMayContainCarried(const FilterState& state,
                                             uint64_t line, uint32_t threshold,
                                             uint64_t digest) {
  if (threshold > kFastMaxThreshold) return true;
  const uint64_t next = line + 1 == state.slot_count ? 0 : line + 1;
  return FastMatches<Ops, kPlanes>(state.unit[0] + next * kFastLineSize,
                                   digest);
}

template <typename Ops, uint32_t kPlanes>
inline bool FastMayContainAt(const FilterState& state, const FastPlace& place,
                             uint64_t digest) {
  const char* line = state.unit[0] + place.line * kFastLineSize;
  const uint32_t threshold = FastThreshold<Ops, kPlanes>(line);
  if (ROWBLOOM_UNLIKELY(place.position < threshold)) {
    return FastMayContainCarried<Ops, kPlanes>(state, place.line, threshold,
                                               digest);
  }
  return FastMatches<Ops, kPlanes>(line, digest);
}

template <typename Ops, uint32_t kPlanes>
bool FastMayContain(const FilterState& state, uint64_t digest) {
  return FastMayContainAt<Ops, kPlanes>(
      state, FastPlaceOf(digest, state.slot_count), digest);
}

template <typename Ops, uint32_t kPlanes>
void FastMayContainBatch(const FilterState& state, const uint64_t* digests,
                         size_t count, bool* may_contain) {
  constexpr size_t kBatch = 32;
  FastPlace places[kBatch];
  for (size_t begin = 0; begin < count; begin += kBatch) {
    const size_t size = count - begin < kBatch ? count - begin : kBatch;
    for (size_t i = 0; i < size; ++i) {
      places[i] = FastPlaceOf(digests[begin + i], state.slot_count);
      internal::PrefetchFar(state.unit[0] + places[i].line * kFastLineSize);
    }
    for (size_t i = 0; i < size; ++i) {
      may_contain[begin + i] =
          FastMayContainAt<Ops, kPlanes>(state, places[i], digests[begin + i]);
    }
  }
}

inline void FastPrefetch(const FilterState& state, uint64_t digest) {
  const uint64_t line = FastPlaceOf(digest, state.slot_count).line;
  internal::PrefetchFar(state.unit[0] + line * kFastLineSize);
}

template <typename Ops, uint32_t kPlanes>
constexpr FastKernel kFastKernel = {FastMayContain<Ops, kPlanes>,
                                    FastMayContainBatch<Ops, kPlanes>,
                                    FastPrefetch, SolveFastLines};

template <typename Ops>
FastKernel FastKernelOf(uint32_t planes) {
  switch (planes) {
    case 5:
      return kFastKernel<Ops, 5>;
    case 6:
      return kFastKernel<Ops, 6>;
    case 7:
      return kFastKernel<Ops, 7>;
    case 8:
      return kFastKernel<Ops, 8>;
    case 9:
      return kFastKernel<Ops, 9>;
    case 10:
      return kFastKernel<Ops, 10>;
    case 12:
      return kFastKernel<Ops, 12>;
    default:
      return kFastKernel<Ops, 15>;
  }
}

}  // namespace

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_FAST_FAST_LOOKUP_H_
