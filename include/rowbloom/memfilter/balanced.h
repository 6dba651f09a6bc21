// SPDX-License-Identifier: Apache-2.0
//
// The two-way balanced dynamic filter, 2BDBF (Sun and Xu 2014): layers come in
// groups of two. A layer is full when half of its bits are set, at any number
// of keys. A key goes to the less filled layer of the newest group; lookups
// probe all layers.
//
//   BalancedOptions options;
//   options.layer = {131072, 10};
//   absl::StatusOr<BalancedFilter> filter = BalancedFilter::New(options);
//   absl::StatusOr<bool> added = filter->Add(digest);
//
// Grows without a bound, as DynamicFilter does, and at the same cost; repeated
// keys fill no layer. Threads and moves: mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_BALANCED_H_
#define ROWBLOOM_MEMFILTER_BALANCED_H_

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

struct BalancedOptions {
  BloomShape layer;
  uint32_t group_size = 2;  // Layers in a group: 1 to 64.
};
inline bool operator==(const BalancedOptions& a, const BalancedOptions& b) {
  return a.layer == b.layer && a.group_size == b.group_size;
}

class BalancedFilter {
 public:
  static constexpr MemFilterKind kKind = MemFilterKind::kBalanced;

  static absl::StatusOr<BalancedFilter> New(const BalancedOptions& options);

  // Does not probe the other layers: a key that is in one may be added once
  // more. ResourceExhausted, and nothing is changed, if there is no memory for
  // a new group; in a batch, the keys before that one stay added.
  absl::StatusOr<bool> Add(KeyDigest digest);
  absl::Status Add(absl::Span<const KeyDigest> digests);

  bool MayContain(KeyDigest digest) const {
    return rows_.AnyCovers({digest, rows_.shape()});
  }
  void MayContain(absl::Span<const KeyDigest> digests,
                  bool* may_contain) const {
    rows_.AnyCovers(digests, may_contain);
  }

  // Copies the other's layers as they are, also those with few keys, but not
  // empty ones. InvalidArgument unless both have the same options.
  absl::Status Union(const BalancedFilter& other);

  double fill() const { return rows_.fill(); }
  double expected_fpr() const { return rows_.AnyFpr(); }
  // Keys that changed the filter when they were added.
  uint64_t approximate_count() const { return rows_.total_key_count(); }
  uint64_t memory_usage_bytes() const {
    return sizeof(*this) + rows_.memory_usage_bytes();
  }

  std::string Save() const;
  static absl::StatusOr<BalancedFilter> Load(std::string_view saved);

  const BalancedOptions& options() const { return options_; }
  size_t layer_count() const { return rows_.size(); }
  // True if the next Add() makes a new group.
  bool is_saturated() const { return rows_.IsSaturated(LeastFilled()); }

 private:
  explicit BalancedFilter(const BalancedOptions& options);
  size_t LeastFilled() const;  // In the newest group.

  BalancedOptions options_;
  FilterRows rows_;  // The newest group is last.
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_BALANCED_H_
