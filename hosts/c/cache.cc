// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <limits>
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

bool IsCounter(int32_t counter) {
  return counter >= 0 && counter < static_cast<int>(FilterCounter::kCount);
}

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
