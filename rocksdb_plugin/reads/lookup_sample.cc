// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>

#include "rdb.h"
#include "release.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rowbloom/rocksdb_stats.h"

namespace rowbloom {

using plugin::CheckRocksDbRelease;

namespace {

struct LevelCounts {
  uint64_t useful = 0;
  uint64_t positive = 0;
  uint64_t true_positive = 0;
};

// The thread's counters since it was started.
struct Counts {
  // The last element also counts the levels deeper than FilterStats knows.
  std::array<LevelCounts, FilterStats::kLevels + 1> levels;
  uint64_t filter_hits = 0;  // Includes scans.
  uint64_t filter_misses = 0;
};

// The sample that the thread is taking.
struct Current {
  bool active = false;
  bool was_by_level = false;
  rdb::PerfLevel perf_level = rdb::PerfLevel::kDisable;
  Counts before;
};
thread_local Current current;

Counts CountsOfThread() {
  const rdb::PerfContext& perf = *rdb::get_perf_context();
  Counts counts;
  counts.filter_hits = perf.bloom_sst_hit_count;
  counts.filter_misses = perf.bloom_sst_miss_count;
  if (perf.level_to_perf_context == nullptr) return counts;  // It was cleared.
  for (const auto& [level, by_level] : *perf.level_to_perf_context) {
    LevelCounts& c =
        counts.levels[std::min<size_t>(level, FilterStats::kLevels)];
    c.useful += by_level.bloom_filter_useful;
    c.positive += by_level.bloom_filter_full_positive;
    c.true_positive += by_level.bloom_filter_full_true_positive;
  }
  return counts;
}

// True for one call of `interval`, at any pattern of lookups.
bool IsDrawn(uint32_t interval) {
  if (interval <= 1) return true;
  // A seed of 32 bits would draw the first lookup of a thread too often.
  thread_local uint64_t state = [] {
    std::random_device device;
    return uint64_t{device()} << 32 | device() | 1;
  }();
  state ^= state << 13;  // Marsaglia, Xorshift RNGs, 2003.
  state ^= state >> 7;
  state ^= state << 17;
  return state < std::numeric_limits<uint64_t>::max() / interval;
}

// 0 if the counter was reset in between.
uint64_t Since(uint64_t before, uint64_t now) {
  return now > before ? now - before : 0;
}

}  // namespace

RocksDbLookupSample::RocksDbLookupSample(const RocksDbSampling& sampling) {
  if (sampling.stats == nullptr || !IsDrawn(sampling.interval)) return;
  if (current.active || !CheckRocksDbRelease().ok()) return;
  stats_ = sampling.stats;
  interval_ = std::max<uint32_t>(sampling.interval, 1);
  rdb::PerfContext* perf = rdb::get_perf_context();
  current.active = true;
  current.was_by_level = perf->per_level_perf_context_enabled;
  perf->EnablePerLevelPerfContext();
  current.perf_level = rdb::GetPerfLevel();
  if (current.perf_level < rdb::PerfLevel::kEnableCount) {
    rdb::SetPerfLevel(rdb::PerfLevel::kEnableCount);
  }
  current.before = CountsOfThread();
}

void RocksDbLookupSample::Stop() {
  const Counts now = CountsOfThread();
  if (current.perf_level < rdb::PerfLevel::kEnableCount) {
    rdb::SetPerfLevel(current.perf_level);
  }
  if (!current.was_by_level) {
    rdb::get_perf_context()->DisablePerLevelPerfContext();
  }
  current.active = false;
  if (is_discarded_) return;

  const auto add = [this](FilterCounter counter, uint64_t count, int level) {
    if (count > 0) stats_->Add(counter, count * interval_, level);
  };
  const Counts& before = current.before;
  for (size_t i = 0; i < now.levels.size(); ++i) {
    const int level = i < FilterStats::kLevels ? static_cast<int>(i)
                                               : FilterStats::kUnknownLevel;
    const uint64_t useful =
        Since(before.levels[i].useful, now.levels[i].useful);
    const uint64_t positive =
        Since(before.levels[i].positive, now.levels[i].positive);
    // A MultiGet by prefix counts true positives, but no positives.
    const uint64_t true_positive = std::min(
        positive,
        Since(before.levels[i].true_positive, now.levels[i].true_positive));
    add(FilterCounter::kLookups, useful + positive, level);
    add(FilterCounter::kNegatives, useful, level);
    add(FilterCounter::kTruePositives, true_positive, level);
    add(FilterCounter::kFalsePositives, positive - true_positive, level);
  }
  if (!scan_found_nothing_) return;
  const uint64_t hits = Since(before.filter_hits, now.filter_hits);
  const uint64_t misses = Since(before.filter_misses, now.filter_misses);
  add(FilterCounter::kLookups, hits + misses, FilterStats::kUnknownLevel);
  add(FilterCounter::kNegatives, misses, FilterStats::kUnknownLevel);
  add(FilterCounter::kFalsePositives, hits, FilterStats::kUnknownLevel);
}

}  // namespace rowbloom
