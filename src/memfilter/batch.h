// SPDX-License-Identifier: Apache-2.0
//
// Batches over one array of bits: the memory that a group of keys needs is
// asked for before any of it is waited for.

#ifndef ROWBLOOM_MEMFILTER_BATCH_H_
#define ROWBLOOM_MEMFILTER_BATCH_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/memfilter/probes.h"
#include "rowbloom/memfilter/sizing.h"

namespace rowbloom::memfilter {

inline constexpr size_t kBatchGroup = 32;

// In a smaller array, which a processor's cache holds, there is nothing to wait
// for: keys are faster one by one (bench/memfilter).
inline constexpr uint64_t kSmallestBatchBits = uint64_t{1} << 25;

inline bool IsBatched(const BloomShape& shape) {
  return shape.bit_count >= kSmallestBatchBits;
}

// Calls `add(digest)` for all keys; of a large array, `prefetch(position)` for
// the bits of a group of them before.
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

// One by one, up to the first that finds no room.
template <typename Filter>
absl::Status AddUntilFull(absl::Span<const KeyDigest> digests, Filter* filter) {
  for (const KeyDigest digest : digests) {
    const absl::StatusOr<bool> added = filter->Add(digest);
    if (!added.ok()) return added.status();
  }
  return absl::OkStatus();
}

// The answer of `ask(digest)` for all keys. Of a large array, probe by probe
// over a group, of which only the keys go on whose `test(position)` was true so
// far: absent ones touch as little memory as when they are asked alone.
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

// Over filters of several arrays: `prefetch(digest)` for a group, then
// `ask(digest)`.
template <typename Prefetch, typename Ask>
void AskRows(absl::Span<const KeyDigest> digests, const Prefetch& prefetch,
             const Ask& ask, bool* may_contain) {
  for (size_t begin = 0; begin < digests.size(); begin += kBatchGroup) {
    const auto group = digests.subspan(begin, kBatchGroup);
    for (const KeyDigest digest : group) prefetch(digest);
    for (size_t i = 0; i < group.size(); ++i) {
      may_contain[begin + i] = ask(group[i]);
    }
  }
}

}  // namespace rowbloom::memfilter

#endif  // ROWBLOOM_MEMFILTER_BATCH_H_
