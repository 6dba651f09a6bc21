// SPDX-License-Identifier: Apache-2.0
//
// The dynamic filter (Guo, Wu, Chen, Luo 2006): layers of one shape. Keys go to
// the newest layer until it has keys_per_layer keys; then a new one is added.
// Lookups probe all layers.
//
//   DynamicOptions options;
//   options.layer = *ShapeFor(100'000, 0.001);
//   options.keys_per_layer = 100'000;
//   absl::StatusOr<DynamicFilter> filter = DynamicFilter::New(options);
//   absl::StatusOr<bool> added = filter->Add(digest);
//
// For sets that grow without a bound, in equal steps. Memory grows in
// proportion, and so do rate and lookup cost: 1 - (1 - f)^layers and
// O(k layers). ScalableFilter keeps its rate instead. Threads and moves:
// mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_DYNAMIC_H_
#define ROWBLOOM_MEMFILTER_DYNAMIC_H_

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

struct DynamicOptions {
  BloomShape layer;
  uint64_t keys_per_layer = 0;  // At least 1.
};
inline bool operator==(const DynamicOptions& a, const DynamicOptions& b) {
  return a.layer == b.layer && a.keys_per_layer == b.keys_per_layer;
}

class DynamicFilter {
 public:
  static constexpr MemFilterKind kKind = MemFilterKind::kDynamic;

  static absl::StatusOr<DynamicFilter> New(const DynamicOptions& options);

  // Does not probe older layers: a key that is in one is added once more.
  // ResourceExhausted, and nothing is changed, if there is no memory for a new
  // layer; in a batch, the keys before that one stay added.
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
  absl::Status Union(const DynamicFilter& other);

  double fill() const { return rows_.fill(); }
  double expected_fpr() const { return rows_.AnyFpr(); }
  // Keys that changed the filter when they were added.
  uint64_t approximate_count() const { return rows_.total_key_count(); }
  uint64_t memory_usage_bytes() const {
    return sizeof(*this) + rows_.memory_usage_bytes();
  }

  std::string Save() const;
  static absl::StatusOr<DynamicFilter> Load(std::string_view saved);

  const DynamicOptions& options() const { return options_; }
  size_t layer_count() const { return rows_.size(); }

 private:
  explicit DynamicFilter(const DynamicOptions& options);

  DynamicOptions options_;
  FilterRows rows_;  // The newest is last.
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_DYNAMIC_H_
