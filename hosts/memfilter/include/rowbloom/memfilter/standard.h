// SPDX-License-Identifier: Apache-2.0
//
// The standard Bloom filter (Bloom 1970): one array of bits, in which each key
// sets k bits. Keys are added one by one and never removed.
//
//   absl::StatusOr<BloomShape> shape = ShapeFor(1'000'000, 0.01);
//   absl::StatusOr<StandardFilter> filter = StandardFilter::New(*shape);
//   filter->Add(FilterKey::Row("user17").digest());
//   if (!filter->MayContain(digest)) return;       // Certainly not there.
//   std::string saved = filter->Save();            // And Load(saved).
//
// mem_filter.h defines the terms of all filters of this directory, and the
// rules for threads and moves.

#ifndef ROWBLOOM_MEMFILTER_STANDARD_H_
#define ROWBLOOM_MEMFILTER_STANDARD_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/bit_array.h"
#include "rowbloom/memfilter/mem_filter_kind.h"
#include "rowbloom/memfilter/probes.h"
#include "rowbloom/memfilter/sizing.h"

namespace ROWBLOOM_EXPORT rowbloom {

class StandardFilter {
 public:
  static constexpr MemFilterKind kKind = MemFilterKind::kStandard;

  // InvalidArgument if the shape is invalid.
  static absl::StatusOr<StandardFilter> New(const BloomShape& shape);

  bool Add(KeyDigest digest) {
    BloomProbes probes(digest, shape_.bit_count);
    uint32_t changed = 0;
    for (uint32_t i = 0; i < shape_.probe_count; ++i) {
      changed += bits_.Set(probes.Next());
    }
    bits_set_ += changed;
    return changed != 0;
  }
  void Add(absl::Span<const KeyDigest> digests);

  bool MayContain(KeyDigest digest) const {
    BloomProbes probes(digest, shape_.bit_count);
    for (uint32_t i = 0; i < shape_.probe_count; ++i) {
      if (!bits_.Test(probes.Next())) return false;
    }
    return true;
  }
  void MayContain(absl::Span<const KeyDigest> digests, bool* may_contain) const;

  // InvalidArgument unless both have the same shape.
  absl::Status Union(const StandardFilter& other);

  double fill() const;
  double expected_fpr() const;
  uint64_t approximate_count() const;
  uint64_t memory_usage_bytes() const {
    return sizeof(*this) + bits_.memory_usage_bytes();
  }

  std::string Save() const;
  static absl::StatusOr<StandardFilter> Load(std::string_view saved);

  const BloomShape& shape() const { return shape_; }

 private:
  friend class ConcurrentFilter;  // Wraps one, with other access to bits_.
  friend class GuavaFilter;       // Wraps one, with other positions.
  friend class RedissonFilter;    // As GuavaFilter.
  friend class ScalableFilter;    // Has several, saved as one.

  StandardFilter(const BloomShape& shape, BitArray bits)
      : shape_(shape), bits_set_(bits.CountSet()), bits_(std::move(bits)) {}
  static std::string SaveBits(MemFilterKind kind, const BloomShape& shape,
                              absl::Span<const uint64_t> words);

  BloomShape shape_;
  uint64_t bits_set_;
  BitArray bits_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_STANDARD_H_
