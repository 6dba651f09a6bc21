// SPDX-License-Identifier: Apache-2.0
//
// The scalable filter (Almeida, Baquero, Preguica, Hutchison 2007): each layer
// is larger than the one before and has a lower rate, so that the rate of all
// layers stays below the target at any number of keys. (For a target above 0.1,
// or a tightening below 0.25, it may exceed the target by a few percent.
// Non-scaling filters have the target rate on average.)
//
//   ScalableOptions options;
//   options.target_fpr = 0.01;
//   absl::StatusOr<ScalableFilter> filter = ScalableFilter::New(options);
//   absl::StatusOr<bool> added = filter->Add(digest);
//
// A key that may be there already is not added again. Lookups probe all layers,
// the newest first, in O(k log(keys)). Threads and moves: mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_SCALABLE_H_
#define ROWBLOOM_MEMFILTER_SCALABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/mem_filter_kind.h"
#include "rowbloom/memfilter/standard.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct ScalableOptions {
  double target_fpr = 0.01;  // Above 0, below 1.
  uint64_t capacity = 100;   // Keys of the first layer, at least 1.
  uint32_t expansion = 2;    // Keys of a layer / of the one before: 1 to 2^15.
  // The share of the remaining rate that a layer leaves to the layers after it:
  // on average the rate of each layer is this times that of the one before.
  // Above 0, below 1.
  double tightening = 0.5;
  bool non_scaling = false;  // One layer; ResourceExhausted when it is full.
  // The filter grows up to this size; New() refuses it if its first layer needs
  // more. Not saved.
  uint64_t max_memory_bytes = uint64_t{1} << 30;
};

absl::Status ValidateOptions(const ScalableOptions& options);

class ScalableFilter {
 public:
  static constexpr MemFilterKind kKind = MemFilterKind::kScalable;

  // ResourceExhausted if it needs more memory than it may have, or than there
  // is.
  static absl::StatusOr<ScalableFilter> New(const ScalableOptions& options);

  // ResourceExhausted, and nothing is changed, if the filter is full and may
  // not or cannot grow. It has at most 1,024 layers.
  absl::StatusOr<bool> Add(KeyDigest digest);
  // Stops at the first key that finds no room.
  absl::Status Add(absl::Span<const KeyDigest> digests);

  bool MayContain(KeyDigest digest) const {
    for (size_t i = layers_.size(); i-- > 0;) {
      if (layers_[i].filter.MayContain(digest)) return true;
    }
    return false;
  }
  void MayContain(absl::Span<const KeyDigest> digests, bool* may_contain) const;

  double fill() const;  // Over the bits of all layers.
  double expected_fpr() const;
  uint64_t approximate_count() const;  // Keys that were added as new.
  uint64_t capacity() const;           // The sum of all layers.
  uint64_t memory_usage_bytes() const;

  std::string Save() const;
  // A filter larger than `max_memory_bytes` is loaded, but grows no more.
  static absl::StatusOr<ScalableFilter> Load(
      std::string_view saved,
      uint64_t max_memory_bytes = ScalableOptions().max_memory_bytes);

  const ScalableOptions& options() const { return options_; }
  size_t layer_count() const { return layers_.size(); }

 private:
  struct Layer {
    StandardFilter filter;
    uint64_t capacity;
    uint64_t key_count;
  };

  explicit ScalableFilter(const ScalableOptions& options) : options_(options) {}
  double NextLayerFpr() const;
  absl::Status AppendLayer();

  ScalableOptions options_;
  std::vector<Layer> layers_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_SCALABLE_H_
