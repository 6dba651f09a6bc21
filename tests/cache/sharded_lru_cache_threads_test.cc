// SPDX-License-Identifier: Apache-2.0
//
// Many threads use a cache that is much too small for them. Sanitizers detect
// most errors.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "cache/lru_shard.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::cache {
namespace {

constexpr size_t kCharge = 100;
constexpr int kThreads = 16;
constexpr int kRounds = 4000;

std::atomic<int64_t> live_values{0};

class KeyedValue : public FilterCache::Value {
 public:
  explicit KeyedValue(const FilterCacheKey& key) : key_(key) { ++live_values; }
  ~KeyedValue() override {
    key_ = {~uint64_t{0}, ~uint64_t{0}};
    --live_values;
  }
  const FilterCacheKey& key() const { return key_; }

 private:
  FilterCacheKey key_;
};

// The counts of one thread's own calls.
struct Counts {
  uint64_t hits = 0, misses = 0, inserts = 0, rejections = 0;
};

Counts Work(FilterCache* cache, uint32_t seed, size_t max_handles) {
  struct Held {
    FilterCache::Handle* handle;
    FilterCacheKey key;
  };
  Counts counts;
  std::vector<Held> held;
  std::mt19937 random(seed);
  for (int i = 0; i < kRounds; ++i) {
    const FilterCacheKey key{random() % 4, random() % 4};
    const uint32_t operation = random() % 100;
    if (operation < 50) {
      FilterCache::Handle* handle = cache->Lookup(key);
      ++(handle != nullptr ? counts.hits : counts.misses);
      if (handle != nullptr) held.push_back({handle, key});
    } else if (operation < 95) {
      std::unique_ptr<FilterCache::Value> value =
          std::make_unique<KeyedValue>(key);
      FilterCache::Handle* handle = cache->Insert(key, &value, {kCharge});
      ++(handle != nullptr ? counts.inserts : counts.rejections);
      EXPECT_EQ(handle == nullptr, value != nullptr);
      if (handle != nullptr) held.push_back({handle, key});
    } else {
      cache->Erase(key);
    }
    for (const Held& h : held) {
      const auto* value = static_cast<KeyedValue*>(cache->ValueOf(h.handle));
      EXPECT_TRUE(value->key() == h.key);
    }
    while (held.size() > max_handles) {
      const size_t victim = random() % held.size();
      cache->Release(held[victim].handle);
      held[victim] = held.back();
      held.pop_back();
    }
  }
  for (const Held& h : held) cache->Release(h.handle);
  return counts;
}

void WorkTogether(int shard_bits, size_t entries_per_shard,
                  size_t max_handles) {
  const size_t capacity_bytes =
      (entries_per_shard << shard_bits) * (kCharge + kEntryOverheadBytes);
  std::unique_ptr<FilterCache> cache =
      NewShardedLruCache({capacity_bytes, shard_bits});
  std::vector<Counts> counts(kThreads);
  std::vector<std::thread> threads;
  std::atomic<int> running{kThreads};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      counts[t] = Work(cache.get(), static_cast<uint32_t>(t), max_handles);
      --running;
    });
  }
  while (running > 0) {
    const FilterCache::Usage usage = cache->GetUsage();
    EXPECT_LE(usage.usage_bytes, capacity_bytes);
    EXPECT_LE(usage.pinned_bytes, usage.usage_bytes);
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();

  Counts sum;
  for (const Counts& c : counts) {
    sum.hits += c.hits;
    sum.misses += c.misses;
    sum.inserts += c.inserts;
    sum.rejections += c.rejections;
  }
  const FilterCache::Usage usage = cache->GetUsage();
  EXPECT_EQ(usage.hits, sum.hits);
  EXPECT_EQ(usage.misses, sum.misses);
  EXPECT_EQ(usage.inserts, sum.inserts);
  EXPECT_EQ(usage.rejections, sum.rejections);
  EXPECT_GT(usage.evictions, 0);
  EXPECT_EQ(usage.pinned_bytes, 0);
  EXPECT_LE(usage.usage_bytes, capacity_bytes);
  EXPECT_EQ(usage.entry_count, static_cast<uint64_t>(live_values));
  cache.reset();
  EXPECT_EQ(live_values, 0);
}

TEST(ShardedLruCacheThreads, OneTinyShardHoldsItsCapacity) {
  WorkTogether(0, 4, 1);
}

TEST(ShardedLruCacheThreads, SeveralTinyShardsHoldTheirCapacity) {
  WorkTogether(2, 2, 1);
}

// 16 threads hold up to 3 handles each; the cache has room for 12 entries.
TEST(ShardedLruCacheThreads, MoreHandlesThanRoomIsRefusedNotExceeded) {
  WorkTogether(1, 6, 3);
}

}  // namespace
}  // namespace rowbloom::cache
