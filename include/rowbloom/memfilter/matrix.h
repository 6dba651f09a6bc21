// SPDX-License-Identifier: Apache-2.0
//
// The matrix filter and the multi-way balanced matrix filter, M-BMBF (Yang and
// Huang 2018): rows in s groups. A hash gives each key one candidate row in
// each group, so that a lookup probes s rows, however many rows there are.
//
//   MatrixOptions options;
//   options.row = {131072, 10};
//   options.row_count = 8;
//   options.group_count = 2;
//   absl::StatusOr<MatrixFilter> filter = MatrixFilter::New(options);
//   absl::StatusOr<bool> added = filter->Add(digest);
//
// One group makes the plain matrix filter.
//
// A key that a candidate covers counts as present. Otherwise it goes to the
// candidate that already has most of its bits, among those with less than half
// of their bits set; MatrixTie breaks ties. If there is none, Add() returns
// ResourceExhausted and changes nothing: other keys may still find room.
//
// Rate 1 - (1 - f)^s, lookups O(k s). Threads and moves: mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_MATRIX_H_
#define ROWBLOOM_MEMFILTER_MATRIX_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/filter_rows.h"
#include "rowbloom/memfilter/mem_filter_kind.h"
#include "rowbloom/memfilter/sizing.h"

namespace ROWBLOOM_EXPORT rowbloom {

// The rule for candidates that match a key equally. Persisted.
enum class MatrixTie : uint8_t {
  // The first one, by the paper's rule. A fuller row matches better, so rows
  // fill one after the other, and s groups hold no more keys than one.
  kFirst = 0,
  // The one with fewer bits set. That keeps the rows even, and the choice saves
  // bits only among even rows.
  kLessFilled = 1,
};

struct MatrixOptions {
  BloomShape row;
  uint32_t row_count = 0;    // 1 to kMaxRowCount.
  uint32_t group_count = 2;  // Divides row_count; at most 64.
  MatrixTie tie = MatrixTie::kLessFilled;
};
inline bool operator==(const MatrixOptions& a, const MatrixOptions& b) {
  return a.row == b.row && a.row_count == b.row_count &&
         a.group_count == b.group_count && a.tie == b.tie;
}

class MatrixFilter {
 public:
  static constexpr MemFilterKind kKind = MemFilterKind::kMatrix;

  static absl::StatusOr<MatrixFilter> New(const MatrixOptions& options);

  absl::StatusOr<bool> Add(KeyDigest digest);
  // Stops at the first key that finds no room.
  absl::Status Add(absl::Span<const KeyDigest> digests);

  bool MayContain(KeyDigest digest) const {
    const FilterRows::Key key(digest, rows_.shape());
    for (uint32_t group = 0; group < options_.group_count; ++group) {
      if (rows_.Covers(Candidate(digest, group), key)) return true;
    }
    return false;
  }
  void MayContain(absl::Span<const KeyDigest> digests, bool* may_contain) const;

  // Merges row by row. InvalidArgument unless both have the same options.
  absl::Status Union(const MatrixFilter& other);

  double fill() const { return rows_.fill(); }
  double expected_fpr() const;
  // Keys that changed the filter when they were added.
  uint64_t approximate_count() const { return rows_.total_key_count(); }
  uint64_t memory_usage_bytes() const {
    return sizeof(*this) + rows_.memory_usage_bytes();
  }

  std::string Save() const;
  static absl::StatusOr<MatrixFilter> Load(std::string_view saved);

  const MatrixOptions& options() const { return options_; }

  // The row of a group where a key may be. It is independent of the rows in
  // other groups, by the mixer of SplitMix64 (Steele, Lea, Flood 2014).
  // Persisted, as BloomProbes is.
  size_t Candidate(KeyDigest digest, uint32_t group) const {
    uint64_t mixed = digest.value + (group + 1) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    const uint64_t row = (mixed >> 32) * rows_per_group() >> 32;
    return size_t{group} * rows_per_group() + static_cast<size_t>(row);
  }

 private:
  explicit MatrixFilter(const MatrixOptions& options);

  uint32_t rows_per_group() const {
    return options_.row_count / options_.group_count;
  }
  MatrixOptions options_;
  FilterRows rows_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_MATRIX_H_
