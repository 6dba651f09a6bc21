// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of fast, one implementation for each instruction set. All
// build the same bytes and give the same answers.
//
// A filter is an array of 64-byte lines. A line holds `columns` columns of
// slots, a bit each: byte b has the eight slots of group b / columns of column
// b % columns. A key has one home line, a row of bits, one for each slot, and a
// fingerprint, one bit for each column. The builder chooses the slots so that,
// for each key and column, the XOR of the column's bits in the slots of the
// key's row is the key's fingerprint bit: a system of linear equations over
// GF(2), one for each line.
//
//   line        = high64(digest * line_count)
//   position    = the 7 bits below: bits 57..63 of the low word
//   low, high   = the words of digest * kFastMultiplier
//   row         = low xor high: bit 8 g + i is for slot i of group g. With 8
//                 columns, shifted right by one. With fewer, there are more
//                 than 64 slots: of the further ones, the row has one, whose
//                 number is bits kFastSparseShift and up of low
//   fingerprint = bits kFastFingerprintShift and up of low
//
// Each line has a threshold. A key whose position is below it is not stored
// there but in the next line, which for the last line is the first. A threshold
// above kFastMaxThreshold makes every key at home there "maybe".

#ifndef ROWBLOOM_FILTER_FAST_FAST_KERNEL_H_
#define ROWBLOOM_FILTER_FAST_FAST_KERNEL_H_

#include <stddef.h>
#include <stdint.h>

#include "rowbloom/filter_state.h"

namespace rowbloom::filter {

constexpr uint32_t kFastLineSize = 64;
constexpr uint32_t kFastMinColumns = 5;
constexpr uint32_t kFastMaxColumns = 15;
constexpr uint32_t kFastMaxThreshold = 128;
constexpr uint32_t kFastSaturated = 255;
constexpr uint32_t kFastThresholdByte = 63;  // Unless columns = 8.
// Odd, from the fractional bits of the golden ratio.
constexpr uint64_t kFastMultiplier = 0x9e3779b97f4a7c15u;
// The row does not reveal the lower bits of `low`, not even in one of many
// lines, whose keys share a long prefix of their digests.
constexpr uint32_t kFastFingerprintShift = 8;
constexpr uint32_t kFastSparseShift = 16;

// Lines of 11, 13 and 14 columns would have no more slots than of 12 and 15.
constexpr bool FastColumnsAreValid(uint64_t columns) {
  return (columns >= kFastMinColumns && columns <= 10) || columns == 12 ||
         columns == kFastMaxColumns;
}
// With 8 columns all bytes hold slots, and bit i of the threshold is the top
// bit of byte 56 + i.
constexpr uint32_t FastGroups(uint32_t columns) {
  return columns == 8 ? 8 : kFastThresholdByte / columns;
}
constexpr uint32_t FastSlots(uint32_t columns) {
  return columns == 8 ? 63 : 8 * FastGroups(columns);
}
// A row has any number of the dense slots, and one of the others.
constexpr uint32_t kFastMaxDenseSlots = 64;
constexpr uint32_t FastDenseSlots(uint32_t columns) {
  return columns >= 8 ? FastSlots(columns) : kFastMaxDenseSlots;
}
constexpr uint32_t FastSparseSlots(uint32_t columns) {
  return FastSlots(columns) - FastDenseSlots(columns);
}
// Rows that can be solved together.
constexpr uint32_t kFastMaxRows = FastSlots(kFastMinColumns);
constexpr uint32_t FastRows(uint32_t columns) {
  return kFastMaxDenseSlots + FastSparseSlots(columns);
}

// The keys of four lines, which are solved side by side. Keys are rows; of rows
// that contradict each other, the earlier hold.
constexpr uint32_t kFastLanes = 4;
constexpr uint32_t kFastFingerprintBytes = (kFastMaxColumns + 7) / 8;

struct FastLines {
  uint32_t columns;
  uint32_t row_count[kFastLanes];  // At most FastRows.
  uint64_t digests[kFastLanes][kFastMaxRows];
  // Results: the lines, with threshold 0, and the rows that do not hold.
  char lines[kFastLanes][kFastLineSize];
  uint32_t contradicted_count[kFastLanes];
  uint8_t contradicted[kFastLanes][kFastMaxRows];
  // Memory of the solver: zeros at first, later what the last call left there.
  alignas(32) uint64_t
      words[kFastMaxDenseSlots + 8 * kFastFingerprintBytes][kFastLanes];
  uint8_t fingerprints[kFastFingerprintBytes][kFastLanes][kFastMaxDenseSlots];
};

namespace {

struct FastEquation {
  uint64_t row;
  uint64_t sparse_slot;  // One of FastSparseSlots, if there are any.
  uint64_t fingerprint;  // In its lowest bits.
};

inline FastEquation FastEquationOf(uint64_t digest, uint32_t columns) {
  const unsigned __int128 product =
      static_cast<unsigned __int128>(digest) * kFastMultiplier;
  const uint64_t low = static_cast<uint64_t>(product);
  const uint64_t row = low ^ static_cast<uint64_t>(product >> 64);
  return {columns == 8 ? row >> 1 : row,
          columns >= 8
              ? 0
              : low >> kFastSparseShift & (FastSparseSlots(columns) - 1),
          low >> kFastFingerprintShift};
}

}  // namespace

// These functions read FilterState: unit[0] holds the lines, slot_count is
// their number, parameter is the columns.
struct FastKernel {
  bool (*may_contain)(const FilterState& state, uint64_t digest);
  void (*may_contain_batch)(const FilterState& state, const uint64_t* digests,
                            size_t count, bool* may_contain);
  void (*solve)(FastLines* lines);
};

// For `columns` that FastColumnsAreValid.
FastKernel PortableFastKernel(uint32_t columns);
#if defined(__x86_64__)
FastKernel Sse42FastKernel(uint32_t columns);
FastKernel Avx2FastKernel(uint32_t columns);
#elif defined(__AARCH64EL__)
FastKernel NeonFastKernel(uint32_t columns);
#endif

}  // namespace rowbloom::filter

#endif  // ROWBLOOM_FILTER_FAST_FAST_KERNEL_H_
