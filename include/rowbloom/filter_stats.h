// SPDX-License-Identifier: Apache-2.0
//
// Counters of what filters answered and what they cost.
//
//   FilterStats stats;
//   options.stats = &stats;             // Shared by any number of readers.
//   ...
//   puts(stats.Snapshot().ToString().c_str());
//
// Add() is lock-free and may be called on any number of threads; counters are
// spread over cache lines by thread. Snapshot() sums them: each counter is
// exact once the writers are quiet.

#ifndef ROWBLOOM_FILTER_STATS_H_
#define ROWBLOOM_FILTER_STATS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom {

enum class FilterCounter : uint8_t {
  kLookups,         // Questions asked.
  kNegatives,       // Answered "no".
  kTruePositives,   // "maybe", and the engine said that the key was there.
  kFalsePositives,  // "maybe", and the engine said that it was not.
  kChunkLoads,      // Chunks read because the cache did not have them.
  kChunkLoadBytes,
  kLoadErrors,  // Chunks that could not be read or were damaged.
  kCount,
};

// As in `chunk_load_bytes`.
std::string_view FilterCounterName(FilterCounter counter);

struct FilterStatsSnapshot {
  std::array<uint64_t, static_cast<size_t>(FilterCounter::kCount)> values{};

  uint64_t operator[](FilterCounter counter) const {
    return values[static_cast<size_t>(counter)];
  }
  // One `name value` line for each counter.
  std::string ToString() const;
};

class FilterStats {
 public:
  void Add(FilterCounter counter, uint64_t delta = 1) {
    shards_[ThreadShard()].values[static_cast<size_t>(counter)].fetch_add(
        delta, std::memory_order_relaxed);
  }
  // What the engine found after a "maybe".
  void TellOutcome(bool key_was_there) {
    Add(key_was_there ? FilterCounter::kTruePositives
                      : FilterCounter::kFalsePositives);
  }
  FilterStatsSnapshot Snapshot() const;

 private:
  static constexpr size_t kShards = 16;

  struct alignas(64) Shard {
    std::array<std::atomic<uint64_t>,
               static_cast<size_t>(FilterCounter::kCount)>
        values{};
  };

  static size_t ThreadShard();

  std::array<Shard, kShards> shards_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_STATS_H_
