// SPDX-License-Identifier: Apache-2.0
//
// The standard filter for a memtable: any number of threads add and look up at
// the same time, without locks. A key whose Add() happened before is always
// found.
//
//   absl::StatusOr<ConcurrentFilter> filter = ConcurrentFilter::New(*shape);
//   filter->Add(digest);                    // Any thread.
//   if (!filter->MayContain(digest)) ...    // Any thread.
//
// Bits, rates and saved form are those of a StandardFilter of that shape. All
// calls except moves and Load() may run on any number of threads at once. Calls
// that read all bits (Save, Union, fill, expected_fpr, approximate_count) see
// each word at some moment between their begin and end. They cost O(bits), and
// Save() needs twice the filter's memory in addition. To add a StandardFilter's
// keys, call Union(*Load(standard.Save())). Moves: mem_filter.h.

#ifndef ROWBLOOM_MEMFILTER_CONCURRENT_H_
#define ROWBLOOM_MEMFILTER_CONCURRENT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/compiler.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/probes.h"
#include "rowbloom/memfilter/sizing.h"
#include "rowbloom/memfilter/standard.h"

namespace ROWBLOOM_EXPORT rowbloom {

class ConcurrentFilter {
 public:
  static constexpr MemFilterKind kKind = MemFilterKind::kStandard;

  static absl::StatusOr<ConcurrentFilter> New(const BloomShape& shape);
  ConcurrentFilter(ConcurrentFilter&&) = default;
  ConcurrentFilter& operator=(ConcurrentFilter&&) = default;

  // If several threads add a new key at once, more than one of them may get
  // true.
  bool Add(KeyDigest digest) {
    PrefetchToAdd(digest);  // Requests all cache lines at once.
    return SetBits(digest);
  }
  void Add(absl::Span<const KeyDigest> digests);

  bool MayContain(KeyDigest digest) const {
    BloomProbes probes(digest, shape().bit_count);
    for (uint32_t i = 0; i < shape().probe_count; ++i) {
      const uint64_t position = probes.Next();
      if ((Word(position / 64) >> (position % 64) & 1) == 0) return false;
    }
    return true;
  }
  void MayContain(absl::Span<const KeyDigest> digests, bool* may_contain) const;

  // Adds the keys of `other`. InvalidArgument unless both have the same shape.
  absl::Status Union(const ConcurrentFilter& other);

  double fill() const;
  double expected_fpr() const;
  uint64_t approximate_count() const;
  uint64_t memory_usage_bytes() const { return filter_.memory_usage_bytes(); }

  std::string Save() const;
  static absl::StatusOr<ConcurrentFilter> Load(std::string_view saved);

  const BloomShape& shape() const { return filter_.shape(); }

 private:
  explicit ConcurrentFilter(StandardFilter filter)
      : filter_(std::move(filter)) {}

  // Sets a bit even if it is set already: branches on random bits would often
  // be mispredicted.
  bool SetBits(KeyDigest digest) {
    uint64_t* const words = filter_.bits_.data();
    BloomProbes probes(digest, shape().bit_count);
    bool changed = false;
    for (uint32_t i = 0; i < shape().probe_count; ++i) {
      const uint64_t position = probes.Next();
      const uint64_t bit = uint64_t{1} << (position % 64);
      uint64_t* word = words + position / 64;
      changed |= (internal::LoadRelaxed(word) & bit) == 0;
      internal::OrRelaxed(word, bit);
    }
    return changed;
  }
  void PrefetchToAdd(KeyDigest digest) const {
    BloomProbes probes(digest, shape().bit_count);
    for (uint32_t i = 0; i < shape().probe_count; ++i) {
      internal::PrefetchToWrite(AddressOf(probes.Next() / 64));
    }
  }
  uint64_t Word(uint64_t i) const {
    return internal::LoadRelaxed(AddressOf(i));
  }
  const uint64_t* AddressOf(uint64_t i) const {
    return filter_.bits_.data() + i;
  }
  uint64_t CountSet() const;

  StandardFilter filter_;  // Its count of set bits is not maintained.
};

}  // namespace rowbloom

#endif  // ROWBLOOM_MEMFILTER_CONCURRENT_H_
