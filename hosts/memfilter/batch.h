// SPDX-License-Identifier: Apache-2.0
//
// Batches over one array of bits: they prefetch the memory of a group of keys
// before they read any of it.

#ifndef ROWBLOOM_MEMFILTER_BATCH_H_
#define ROWBLOOM_MEMFILTER_BATCH_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/probes.h"
#include "rowbloom/memfilter/sizing.h"

namespace rowbloom::internal::memfilter {

inline constexpr size_t kBatchGroup = 32;

// A smaller array fits a processor's cache, so prefetching gains nothing: keys
// are faster one by one (bench/memfilter/memfilter_bench).
inline constexpr uint64_t kSmallestBatchBits = uint64_t{1} << 25;

inline bool IsBatched(const BloomShape& shape) {
  return shape.bit_count >= kSmallestBatchBits;
}

// Calls `add(digest)` for all keys; for a large array, first
// `prefetch(position)` for the bits of each group of keys.
template <typename Prefetch, typename Add>
void AddBatch(absl::Span<const KeyDigest> digests, const BloomShape& shape,
              const Prefetch& prefetch, const Add& add) {
  if (!IsBatched(shape)) {
    for (const KeyDigest digest : digests) add(digest);
    return;
  }
  for (size_t begin = 0; begin < digests.size(); begin += kBatchGroup) {
    const auto group = digests.subspan(begin, kBatchGroup);
    for (const KeyDigest digest : group) {
      BloomProbes probes(digest, shape.bit_count);
      for (uint32_t i = 0; i < shape.probe_count; ++i) prefetch(probes.Next());
    }
    for (const KeyDigest digest : group) add(digest);
  }
}

// Adds keys one by one, up to the first that finds no room.
template <typename Filter>
absl::Status AddUntilFull(absl::Span<const KeyDigest> digests, Filter* filter) {
  for (const KeyDigest digest : digests) {
    const absl::StatusOr<bool> added = filter->Add(digest);
    if (!added.ok()) return added.status();
  }
  return absl::OkStatus();
}

// Stores the answer of `ask(digest)` for all keys. For a large array, probes a
// group in rounds and drops a key once `test(position)` is false: absent keys
// touch as little memory as in lookups of their own.
template <typename Ask, typename Prefetch, typename Test>
void AskBatch(absl::Span<const KeyDigest> digests, const BloomShape& shape,
              const Ask& ask, const Prefetch& prefetch, const Test& test,
              bool* may_contain) {
  if (!IsBatched(shape)) {
    for (size_t i = 0; i < digests.size(); ++i) {
      may_contain[i] = ask(digests[i]);
    }
    return;
  }
  BloomProbes probes[kBatchGroup];
  uint64_t positions[kBatchGroup] = {};
  size_t open[kBatchGroup] = {};
  for (size_t begin = 0; begin < digests.size(); begin += kBatchGroup) {
    const auto group = digests.subspan(begin, kBatchGroup);
    bool* answers = may_contain + begin;
    for (size_t i = 0; i < group.size(); ++i) {
      probes[i] = BloomProbes(group[i], shape.bit_count);
      positions[i] = probes[i].Next();
      prefetch(positions[i]);
      open[i] = i;
    }
    size_t open_count = group.size();
    for (uint32_t probe = 1; open_count > 0; ++probe) {
      size_t still_open = 0;
      for (size_t j = 0; j < open_count; ++j) {
        const size_t i = open[j];
        const bool is_set = test(positions[i]);
        answers[i] = is_set;
        open[still_open] = i;
        still_open += is_set;
        if (is_set) {
          positions[i] = probes[i].Next();
          if (probe < shape.probe_count) prefetch(positions[i]);
        }
      }
      open_count = probe < shape.probe_count ? still_open : 0;
    }
  }
}

// For filters of several arrays: calls `prefetch(digest)` for a group, then
// `ask(digest)`.
template <typename Prefetch, typename Ask>
void AskLayers(absl::Span<const KeyDigest> digests, const Prefetch& prefetch,
               const Ask& ask, bool* may_contain) {
  for (size_t begin = 0; begin < digests.size(); begin += kBatchGroup) {
    const auto group = digests.subspan(begin, kBatchGroup);
    for (const KeyDigest digest : group) prefetch(digest);
    for (size_t i = 0; i < group.size(); ++i) {
      may_contain[begin + i] = ask(group[i]);
    }
  }
}

}  // namespace rowbloom::internal::memfilter

#endif  // ROWBLOOM_MEMFILTER_BATCH_H_
