// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of fast, one implementation for each instruction set. All
// build the same bytes and give the same answers.
//
// A filter is an array of 64-byte lines. A line holds `planes` planes of
// slots, a bit each: byte b has the eight slots of group b / planes of plane
// b % planes. A key has one home line, an equation of bits, one for each slot,
// and a fingerprint, one bit for each plane. The builder chooses the slots so
// that, for each key and plane, the XOR of the plane's bits in the slots of the
// key's equation is the key's fingerprint bit: a system of linear equations
// over GF(2), one for each line.
//
//   line        = high64(digest * line_count)
//   position    = the 7 bits below: bits 57..63 of the low word
//   low, high   = the words of digest * kFastMultiplier
//   equation    = low xor high: bit 8 g + i is for slot i of group g. With 8
//                 planes, shifted right by one. With fewer, there are more
//                 than 64 slots: of the further ones, the equation has one,
//                 whose number is bits kFastSparseShift and up of low
//   fingerprint = bits kFastFingerprintShift and up of low
//
// Each line has a threshold. A key whose position is below it is not stored
// there but in the next line, which for the last line is the first. A threshold
// above kFastMaxThreshold makes every key at home there "maybe".

#ifndef ROWBLOOM_FILTER_FAST_FAST_KERNEL_H_
#define ROWBLOOM_FILTER_FAST_FAST_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#include "rowbloom/compiler.h"
#include "rowbloom/filter_state.h"

namespace rowbloom::filter {

constexpr uint32_t kFastLineSize = 64;
constexpr uint32_t kFastMinPlanes = 5;
constexpr uint32_t kFastMaxPlanes = 15;
constexpr uint32_t kFastMaxThreshold = 128;
constexpr uint32_t kFastSaturated = 255;
constexpr uint32_t kFastThresholdByte = 63;  // Unless planes = 8.
// Odd, from the fractional bits of the golden ratio.
constexpr uint64_t kFastMultiplier = 0x9e3779b97f4a7c15u;
// The equation does not reveal the lower bits of `low`, not even in one of many
// lines, whose keys share a long prefix of their digests.
constexpr uint32_t kFastFingerprintShift = 8;
constexpr uint32_t kFastSparseShift = 16;

namespace {

// Lines of 11, 13 and 14 planes would have no more slots than of 12 and 15.
constexpr bool FastPlanesAreValid(uint64_t planes) {
  return (planes >= kFastMinPlanes && planes <= 10) || planes == 12 ||
         planes == kFastMaxPlanes;
}
// With 8 planes all bytes hold slots, and bit i of the threshold is the top
// bit of byte 56 + i.
constexpr uint32_t FastGroups(uint32_t planes) {
  return planes == 8 ? 8 : kFastThresholdByte / planes;
}
constexpr uint32_t FastSlots(uint32_t planes) {
  return planes == 8 ? 63 : 8 * FastGroups(planes);
}
// An equation has any number of the dense slots, and one of the others.
constexpr uint32_t kFastMaxDenseSlots = 64;
constexpr uint32_t FastDenseSlots(uint32_t planes) {
  return planes >= 8 ? FastSlots(planes) : kFastMaxDenseSlots;
}
constexpr uint32_t FastSparseSlots(uint32_t planes) {
  return FastSlots(planes) - FastDenseSlots(planes);
}
// Equations that can be solved together.
constexpr uint32_t kFastMaxEquations = FastSlots(kFastMinPlanes);
constexpr uint32_t FastEquations(uint32_t planes) {
  return kFastMaxDenseSlots + FastSparseSlots(planes);
}

}  // namespace

// The keys of four lines, which are solved side by side. Keys are equations; of
// equations that contradict each other, the earlier hold.
constexpr uint32_t kFastLanes = 4;
constexpr uint32_t kFastFingerprintBytes = (kFastMaxPlanes + 7) / 8;

struct FastLines {
  uint32_t planes;
  uint32_t equation_count[kFastLanes];  // At most FastEquations.
  uint64_t digests[kFastLanes][kFastMaxEquations];
  // Results: the lines, with threshold 0, and the equations that do not hold.
  char lines[kFastLanes][kFastLineSize];
  uint32_t contradicted_count[kFastLanes];
  uint8_t contradicted[kFastLanes][kFastMaxEquations];
  // Memory of the solver: zeros at first, later what the last call left there.
  alignas(32) uint64_t
      words[kFastMaxDenseSlots + 8 * kFastFingerprintBytes][kFastLanes];
  uint8_t fingerprints[kFastFingerprintBytes][kFastLanes][kFastMaxDenseSlots];
};

namespace {

struct FastEquation {
  uint64_t equation;
  uint64_t sparse_slot;  // One of FastSparseSlots, if there are any.
  uint64_t fingerprint;  // In its lowest bits.
};

inline FastEquation FastEquationOf(uint64_t digest, uint32_t planes) {
  const internal::Product product = internal::Multiply(digest, kFastMultiplier);
  const uint64_t low = product.low;
  const uint64_t equation = low ^ product.high;
  return {
      planes == 8 ? equation >> 1 : equation,
      planes >= 8 ? 0 : low >> kFastSparseShift & (FastSparseSlots(planes) - 1),
      low >> kFastFingerprintShift};
}

}  // namespace

// These functions read FilterState: unit[0] holds the lines, slot_count is
// their number, parameter is the planes.
struct FastKernel {
  bool (*may_contain)(const FilterState& state, uint64_t digest);
  void (*may_contain_batch)(const FilterState& state, const uint64_t* digests,
                            size_t count, bool* may_contain);
  // Prefetches the line where a key is at home, as in batches.
  void (*prefetch)(const FilterState& state, uint64_t digest);
  void (*solve)(FastLines* lines);
};

// For `planes` that FastPlanesAreValid.
FastKernel PortableFastKernel(uint32_t planes);
#if ROWBLOOM_X86_KERNELS
FastKernel Sse42FastKernel(uint32_t planes);
FastKernel Avx2FastKernel(uint32_t planes);
// Works as FastKernel::solve; its lookups would be those of AVX2.
void SolveFastLinesByAvx512(FastLines* lines);
#elif ROWBLOOM_ARM_KERNELS
FastKernel NeonFastKernel(uint32_t planes);
#endif

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_FAST_FAST_KERNEL_H_
