// SPDX-License-Identifier: Apache-2.0
//
// The split filter (Xiao, Dai, Li 2004): all rows are allocated at the start,
// for the largest set expected. A key goes to a random row that has less than
// keys_per_row keys; lookups probe all rows.
//
//   SplitOptions options;
//   options.row = *ShapeFor(100'000, 0.001);
//   options.keys_per_row = 100'000;
//   options.row_count = 8;
//   absl::StatusOr<SplitFilter> filter = SplitFilter::New(options);
//   absl::StatusOr<bool> added = filter->Add(digest);
//
// Add() does not look a key up: a key that is added again goes to a random row
// again, and may fill it as a new key does. If keys repeat, call MayContain()
// first.
//
// Rate 1 - (1 - f)^rows, lookups O(k rows). A full filter returns
// ResourceExhausted and changes nothing. Threads and moves: mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_SPLIT_H_
#define ROWBLOOM_MEMFILTER_SPLIT_H_

#include <cstdint>
#include <string>
#include <string_view>
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

struct SplitOptions {
  BloomShape row;
  uint64_t keys_per_row = 0;  // At least 1.
  uint32_t row_count = 0;     // 1 to kMaxRowCount.
};
inline bool operator==(const SplitOptions& a, const SplitOptions& b) {
  return a.row == b.row && a.keys_per_row == b.keys_per_row &&
         a.row_count == b.row_count;
}

class SplitFilter {
 public:
  static constexpr MemFilterKind kKind = MemFilterKind::kSplit;

  static absl::StatusOr<SplitFilter> New(const SplitOptions& options);

  absl::StatusOr<bool> Add(KeyDigest digest);
  // Stops at the first key that finds no room.
  absl::Status Add(absl::Span<const KeyDigest> digests);

  bool MayContain(KeyDigest digest) const {
    return rows_.AnyCovers({digest, rows_.shape()});
  }
  void MayContain(absl::Span<const KeyDigest> digests,
                  bool* may_contain) const {
    rows_.AnyCovers(digests, may_contain);
  }

  // Merges row by row; rows that then have keys_per_row keys or more are full.
  // InvalidArgument unless both have the same options.
  absl::Status Union(const SplitFilter& other);

  double fill() const { return rows_.fill(); }
  double expected_fpr() const { return rows_.AnyFpr(); }
  // Keys that changed the filter when they were added.
  uint64_t approximate_count() const { return rows_.total_key_count(); }
  uint64_t memory_usage_bytes() const {
    return sizeof(*this) + rows_.memory_usage_bytes() +
           open_rows_.capacity() * sizeof(open_rows_[0]);
  }

  std::string Save() const;
  static absl::StatusOr<SplitFilter> Load(std::string_view saved);

  const SplitOptions& options() const { return options_; }

 private:
  explicit SplitFilter(const SplitOptions& options);
  void FindOpenRows();

  SplitOptions options_;
  FilterRows rows_;
  std::vector<uint32_t> open_rows_;  // Ascending.
  uint64_t random_ = 0;  // The state of the generator that chooses rows.
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_SPLIT_H_
