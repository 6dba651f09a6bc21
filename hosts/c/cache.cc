// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>

#include "c/boundary.h"
#include "c/handles.h"

using namespace rowbloom;
using namespace rowbloom::c;

namespace {

static_assert(static_cast<int>(FilterCounter::kLookups) == ROWBLOOM_LOOKUPS);
static_assert(static_cast<int>(FilterCounter::kNegatives) ==
              ROWBLOOM_NEGATIVES);
static_assert(static_cast<int>(FilterCounter::kTruePositives) ==
              ROWBLOOM_TRUE_POSITIVES);
static_assert(static_cast<int>(FilterCounter::kFalsePositives) ==
              ROWBLOOM_FALSE_POSITIVES);
static_assert(static_cast<int>(FilterCounter::kUnloaded) == ROWBLOOM_UNLOADED);
static_assert(static_cast<int>(FilterCounter::kChunkLoads) ==
              ROWBLOOM_CHUNK_LOADS);
static_assert(static_cast<int>(FilterCounter::kChunkLoadBytes) ==
              ROWBLOOM_CHUNK_LOAD_BYTES);
static_assert(static_cast<int>(FilterCounter::kLoadErrors) ==
              ROWBLOOM_LOAD_ERRORS);
static_assert(static_cast<int>(FilterCounter::kOpenErrors) ==
              ROWBLOOM_OPEN_ERRORS);
static_assert(static_cast<int>(FilterCounter::kPrefixLookups) ==
              ROWBLOOM_PREFIX_LOOKUPS);
static_assert(static_cast<int>(FilterCounter::kPrefixNegatives) ==
              ROWBLOOM_PREFIX_NEGATIVES);
static_assert(static_cast<int>(FilterCounter::kCount) ==
                  ROWBLOOM_PREFIX_NEGATIVES + 1,
              "c.h needs the new counter");

size_t Capacity(uint64_t capacity) {
  return static_cast<size_t>(
      std::min<uint64_t>(capacity, std::numeric_limits<size_t>::max()));
}

}  // namespace

extern "C" {

rowbloom_code rowbloom_cache_new(uint64_t capacity, rowbloom_cache** out,
                                 rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    ShardedLruCacheOptions options;
    options.capacity_bytes = Capacity(capacity);
    auto cache = std::make_unique<rowbloom_cache>();
    cache->cache = NewShardedLruCache(options);
    return Give(std::move(cache), out);
  });
}

void rowbloom_cache_set_capacity(rowbloom_cache* cache, uint64_t capacity) {
  if (cache == nullptr) return;
  Shared([&] { cache->cache->SetCapacity(Capacity(capacity)); });
}

void rowbloom_cache_erase_file(rowbloom_cache* cache, uint64_t file_id) {
  if (cache == nullptr) return;
  Shared([&] { cache->cache->EraseFile(file_id); });
}

rowbloom_code rowbloom_cache_usage(const rowbloom_cache* cache,
                                   rowbloom_buffer* text,
                                   rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    Clear(text);
    if (text == nullptr) return NullArgument("text");
    if (cache == nullptr) return NullArgument("cache");
    return Fill(cache->cache->GetUsage().ToString(), text);
  });
}

size_t rowbloom_cache_numbers(const rowbloom_cache* cache, uint64_t* numbers,
                              size_t count) {
  if (numbers == nullptr) count = 0;
  std::fill_n(numbers, count, uint64_t{0});
  if (cache == nullptr) return 0;
  return Shared([&] {
    const FilterCache::Usage usage = cache->cache->GetUsage();
    const auto role = [&](FilterCacheRole name) -> uint64_t {
      return usage.role_bytes[static_cast<size_t>(name)];
    };
    // In the order of c.h.
    const uint64_t known[] = {usage.capacity_bytes,
                              usage.usage_bytes,
                              usage.pinned_bytes,
                              usage.retired_bytes,
                              usage.index_bytes_outside,
                              usage.resident_bytes,
                              role(FilterCacheRole::kChunk),
                              role(FilterCacheRole::kIndex),
                              usage.entry_count,
                              usage.hits,
                              usage.misses,
                              usage.inserts,
                              usage.evictions,
                              usage.shrinks,
                              usage.rejections};
    static_assert(std::size(known) == ROWBLOOM_REJECTIONS + 1);
    std::copy_n(known, std::min(count, std::size(known)), numbers);
    return std::size(known);
  });
}

void rowbloom_cache_free(rowbloom_cache* cache) { delete cache; }

rowbloom_code rowbloom_stats_new(rowbloom_stats** out, rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    if (out == nullptr) return NullArgument("out");
    *out = nullptr;
    auto stats = std::make_unique<rowbloom_stats>();
    stats->stats = std::make_shared<FilterStats>();
    return Give(std::move(stats), out);
  });
}

void rowbloom_stats_add(rowbloom_stats* stats, int32_t counter,
                        uint64_t delta) {
  if (stats == nullptr || !IsCounter(counter)) return;
  Shared(
      [&] { stats->stats->Add(static_cast<FilterCounter>(counter), delta); });
}

uint64_t rowbloom_stats_get(const rowbloom_stats* stats, int32_t counter) {
  if (stats == nullptr || !IsCounter(counter)) return 0;
  const auto name = static_cast<FilterCounter>(counter);
  return Shared([&] { return stats->stats->Snapshot()[name]; });
}

uint64_t rowbloom_stats_get_of_level(const rowbloom_stats* stats, int32_t level,
                                     int32_t counter) {
  if (stats == nullptr || !IsCounter(counter)) return 0;
  return Shared([&]() -> uint64_t {
    const std::map<int, FilterStatsSnapshot> levels = stats->stats->Levels();
    const auto found = levels.find(level);
    if (found == levels.end()) return 0;
    return found->second[static_cast<FilterCounter>(counter)];
  });
}

size_t rowbloom_stats_levels(const rowbloom_stats* stats, int32_t* levels,
                             size_t count) {
  if (stats == nullptr) return 0;
  if (levels == nullptr) count = 0;
  return Shared([&] {
    size_t known = 0;
    for (const auto& [level, counters] : stats->stats->Levels()) {
      if (known < count) levels[known] = level;
      ++known;
    }
    return known;
  });
}

uint64_t rowbloom_stats_get_of_key_level(const rowbloom_stats* stats,
                                         size_t key_level, int32_t counter) {
  if (stats == nullptr || key_level == 0 ||
      key_level > FilterStatsSnapshot::kPrefixLevels) {
    return 0;
  }
  return Shared([&]() -> uint64_t {
    const FilterStatsSnapshot::PrefixLevel level =
        stats->stats->Snapshot().prefix_levels[key_level - 1];
    if (counter == ROWBLOOM_PREFIX_LOOKUPS) return level.lookups;
    return counter == ROWBLOOM_PREFIX_NEGATIVES ? level.negatives : 0;
  });
}

rowbloom_code rowbloom_stats_prometheus(const rowbloom_stats* stats,
                                        rowbloom_buffer* text,
                                        rowbloom_error* error) {
  return CallShared(error, [&]() -> absl::Status {
    Clear(text);
    if (text == nullptr) return NullArgument("text");
    if (stats == nullptr) return NullArgument("stats");
    return Fill(stats->stats->ToPrometheus(), text);
  });
}

void rowbloom_stats_free(rowbloom_stats* stats) { delete stats; }

}  // extern "C"
