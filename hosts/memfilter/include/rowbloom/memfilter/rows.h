// SPDX-License-Identifier: Apache-2.0
//
// Four filters of rows of bits of one shape. They differ in the row that takes
// a key and in the rows that a lookup asks.
//
//   DynamicOptions options;
//   options.row = *ShapeFor(100'000, 0.001);
//   options.keys_per_row = 100'000;
//   absl::StatusOr<DynamicFilter> filter = DynamicFilter::New(options);
//   absl::StatusOr<bool> added = filter->Add(digest);
//
// With a rate of f in each row and k probes:
//
//   filter           a key goes to                rate              a lookup
//   DynamicFilter    the newest row               1 - (1 - f)^rows  O(k rows)
//   BalancedFilter   the less filled row of the   1 - (1 - f)^rows  O(k rows)
//                    newest group
//   SplitFilter      a random row that is open    1 - (1 - f)^rows  O(k rows)
//   MatrixFilter     one of s candidate rows      1 - (1 - f)^s     O(k s)
//
// The first two grow without a bound, the others have all rows from the start.
// ScalableFilter also grows, and keeps its rate. Threads and moves:
// mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_ROWS_H_
#define ROWBLOOM_MEMFILTER_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/filter_rows.h"
#include "rowbloom/memfilter/mem_filter_kind.h"
#include "rowbloom/memfilter/sizing.h"

namespace ROWBLOOM_EXPORT rowbloom {

// The dynamic filter (Guo, Wu, Chen, Luo 2006). A row that has its number of
// keys is followed by a new one. Add() asks the newest row only, so a key of an
// older row is added once more.
struct DynamicOptions {
  static constexpr MemFilterKind kKind = MemFilterKind::kDynamic;
  struct State {};

  BloomShape row;
  uint64_t keys_per_row = 0;  // At least 1.
};
inline bool operator==(const DynamicOptions& a, const DynamicOptions& b) {
  return a.row == b.row && a.keys_per_row == b.keys_per_row;
}

// The split filter (Xiao, Dai, Li 2004): all rows exist from the start, for the
// largest expected set. A row is open until it has its number of keys. Add()
// asks no row, so a key that is added again goes to some row again and may fill
// it as a new key does. Where keys repeat, ask first.
struct SplitOptions {
  static constexpr MemFilterKind kKind = MemFilterKind::kSplit;
  struct State {
    std::vector<uint32_t> open_rows;  // In ascending order.
    uint64_t random = 0;              // The generator that chooses rows.
  };

  BloomShape row;
  uint64_t keys_per_row = 0;  // At least 1.
  uint32_t row_count = 0;     // 1 to kMaxRowCount.
};
inline bool operator==(const SplitOptions& a, const SplitOptions& b) {
  return a.row == b.row && a.keys_per_row == b.keys_per_row &&
         a.row_count == b.row_count;
}

// The two-way balanced dynamic filter, 2BDBF (Sun and Xu 2014). A row is full
// when half of its bits are set, whatever the number of keys, so that repeated
// keys fill no row. A new group follows when all rows of the newest are full.
struct BalancedOptions {
  static constexpr MemFilterKind kKind = MemFilterKind::kBalanced;
  struct State {};

  BloomShape row;
  uint32_t group_size = 2;  // Rows in a group: 1 to 64.
};
inline bool operator==(const BalancedOptions& a, const BalancedOptions& b) {
  return a.row == b.row && a.group_size == b.group_size;
}

// Chooses among candidate rows that match a key equally. Persisted.
enum class MatrixTie : uint8_t {
  // The first candidate: the paper's rule. A fuller row matches better, so that
  // rows fill one after the other, and s groups hold no more keys than one.
  kFirst = 0,
  // The candidate with fewer set bits. That keeps the rows even, and only among
  // even rows does the choice save bits.
  kLessFilled = 1,
};

// The matrix filter and the multi-way balanced matrix filter, M-BMBF (Yang and
// Huang 2018): rows in s groups. A key has one candidate row in each group,
// named by a hash, so that a lookup asks s rows however many there are. One
// group makes the plain matrix filter.
//
// A key that a candidate covers counts as present. Otherwise it goes to the
// candidate that already has most of its bits, among those with less than half
// of their bits set. If there is none, Add() returns ResourceExhausted; other
// keys may still find room.
struct MatrixOptions {
  static constexpr MemFilterKind kKind = MemFilterKind::kMatrix;
  struct State {};

  BloomShape row;
  uint32_t row_count = 0;    // 1 to kMaxRowCount.
  uint32_t group_count = 2;  // Divides row_count; at most 64.
  MatrixTie tie = MatrixTie::kLessFilled;

  uint32_t rows_per_group() const { return row_count / group_count; }
  // The row of a group where a key may be: independent of those of the other
  // groups, by the mixer of SplitMix64 (Steele, Lea, Flood 2014). Persisted, as
  // BloomProbes is.
  size_t Candidate(KeyDigest digest, uint32_t group) const {
    uint64_t mixed = digest.value + (group + 1) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    mixed ^= mixed >> 31;
    const uint64_t chosen = (mixed >> 32) * rows_per_group() >> 32;
    return size_t{group} * rows_per_group() + static_cast<size_t>(chosen);
  }
};
inline bool operator==(const MatrixOptions& a, const MatrixOptions& b) {
  return a.row == b.row && a.row_count == b.row_count &&
         a.group_count == b.group_count && a.tie == b.tie;
}

template <typename Options>
class RowsFilter : private Options::State {
 public:
  static constexpr MemFilterKind kKind = Options::kKind;

  static absl::StatusOr<RowsFilter> New(const Options& options);

  // ResourceExhausted, and nothing is changed, if the filter is full or there
  // is no memory for a new row. With many keys, it stops at the first that
  // finds no room.
  absl::StatusOr<bool> Add(KeyDigest digest);
  absl::Status Add(absl::Span<const KeyDigest> digests);

  bool MayContain(KeyDigest digest) const {
    const FilterRows::Key key(digest, rows_.shape());
    if constexpr (std::is_same_v<Options, MatrixOptions>) {
      for (uint32_t group = 0; group < options_.group_count; ++group) {
        if (rows_.Covers(options_.Candidate(digest, group), key)) return true;
      }
      return false;
    } else {
      return rows_.AnyCovers(key);
    }
  }
  void MayContain(absl::Span<const KeyDigest> digests, bool* may_contain) const;

  // Dynamic and balanced filters take over the other's rows, without groups of
  // no bits. The others are joined row by row; a row that then has more keys
  // than its number is full. InvalidArgument unless both have the same options.
  absl::Status Union(const RowsFilter& other);

  double fill() const { return rows_.fill(); }
  double expected_fpr() const;
  // Number of keys that changed the filter when they were added.
  uint64_t approximate_count() const { return rows_.total_key_count(); }
  uint64_t memory_usage_bytes() const;

  std::string Save() const;
  static absl::StatusOr<RowsFilter> Load(std::string_view saved);

  const Options& options() const { return options_; }
  size_t row_count() const { return rows_.size(); }

 private:
  using State = typename Options::State;  // A base: most are empty.

  explicit RowsFilter(const Options& options)
      : options_(options), rows_(options.row) {}
  State* state() { return this; }
  const State& state() const { return *this; }

  Options options_;
  FilterRows rows_;  // The newest group is the last.
};

extern template class RowsFilter<DynamicOptions>;
extern template class RowsFilter<SplitOptions>;
extern template class RowsFilter<BalancedOptions>;
extern template class RowsFilter<MatrixOptions>;

using DynamicFilter = RowsFilter<DynamicOptions>;
using SplitFilter = RowsFilter<SplitOptions>;
using BalancedFilter = RowsFilter<BalancedOptions>;
using MatrixFilter = RowsFilter<MatrixOptions>;

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_ROWS_H_
