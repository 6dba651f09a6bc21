// SPDX-License-Identifier: Apache-2.0
//
// What one thread sees. Several threads: sharded_lru_cache_threads_test.cc.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/epoch.h"
#include "cache/lru_shard.h"
#include "cache/tracked_value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::cache {
namespace {

using ::testing::ElementsAre;

constexpr size_t kOverhead = kEntryOverheadBytes;

// A cache of one shard, so that the order is that of the whole cache. Values
// are numbered in the order of their Insert().
class LruTest : public ::testing::Test {
 protected:
  using Handle = FilterCache::Handle;
  using Policy = ShardedLruCacheOptions::Policy;

  static constexpr size_t kCharge = 100;

  void MakeCache(size_t capacity_bytes, int shard_bits = 0,
                 Policy policy = Policy::kPlainLru) {
    cache_ = NewShardedLruCache({capacity_bytes, shard_bits, policy});
  }
  // Room for so many entries of kCharge, and for no byte more.
  void MakeCacheFor(size_t entry_count, Policy policy = Policy::kPlainLru) {
    MakeCache(entry_count * (kCharge + kOverhead), 0, policy);
  }

  static FilterCacheKey Key(uint64_t n) { return {n / 4, n % 4}; }

  // nullptr if refused.
  Handle* Insert(uint64_t key, size_t charge_bytes = kCharge) {
    return Insert(key, Options(charge_bytes));
  }
  Handle* Insert(uint64_t key, const FilterCache::EntryOptions& options,
                 double worth = -1, std::vector<TrackedPart> parts = {}) {
    std::unique_ptr<FilterCache::Value> value = std::make_unique<TrackedValue>(
        next_number_++, &deaths_, worth, std::move(parts));
    const FilterCache::Value* raw = value.get();
    Handle* handle = cache_->Insert(Key(key), &value, options);
    if (handle == nullptr) {
      EXPECT_EQ(value.get(), raw);  // Left with the caller.
    } else {
      EXPECT_EQ(value, nullptr);
      EXPECT_EQ(cache_->ValueOf(handle), raw);
    }
    return handle;
  }
  bool Put(uint64_t key, size_t charge_bytes = kCharge) {
    Handle* handle = Insert(key, charge_bytes);
    if (handle != nullptr) cache_->Release(handle);
    return handle != nullptr;
  }
  bool Put(uint64_t key, const FilterCache::EntryOptions& options,
           double worth = -1, std::vector<TrackedPart> parts = {}) {
    Handle* handle = Insert(key, options, worth, std::move(parts));
    if (handle != nullptr) cache_->Release(handle);
    return handle != nullptr;
  }
  // kCharge each, never seen before.
  void Sweep(size_t entry_count) {
    for (; entry_count > 0; --entry_count) ASSERT_TRUE(Put(next_cold_++));
  }
  static FilterCache::EntryOptions Options(size_t charge_bytes = kCharge) {
    FilterCache::EntryOptions options;
    options.charge_bytes = charge_bytes;
    return options;
  }
  static FilterCache::EntryOptions OfPriority(FilterCachePriority priority) {
    FilterCache::EntryOptions options = Options();
    options.priority = priority;
    return options;
  }
  static FilterCache::EntryOptions WithHint(FilterCache::Hint* hint) {
    FilterCache::EntryOptions options = Options();
    options.hint = hint;
    return options;
  }
  // The number of the value found, or -1. It is used by that.
  int Get(uint64_t key) {
    Handle* handle = cache_->Lookup(Key(key));
    if (handle == nullptr) return -1;
    const int number = static_cast<int>(NumberOf(*cache_, handle));
    cache_->Release(handle);
    return number;
  }
  FilterCache::Usage usage() const { return cache_->GetUsage(); }
  // Of room for an entry that does not fit.
  double Price() const { return cache_->Price(Key(0), 1 << 20); }

  Deaths deaths_{1000};  // Outlives the cache.
  size_t next_number_ = 0;
  uint64_t next_cold_ = 1000;
  FilterCache::Hint hints_[2];  // So do these.
  std::unique_ptr<FilterCache> cache_;
};

TEST_F(LruTest, FindsWhatWasInsertedAndNothingElse) {
  MakeCacheFor(4);
  ASSERT_TRUE(Put(1));
  ASSERT_TRUE(Put(2));
  EXPECT_EQ(Get(1), 0);
  EXPECT_EQ(Get(2), 1);
  EXPECT_EQ(Get(3), -1);
  EXPECT_EQ(usage().hits, 2);
  EXPECT_EQ(usage().misses, 1);
  EXPECT_EQ(usage().inserts, 2);
}

TEST_F(LruTest, FileAndChunkAreBothPartOfTheKey) {
  MakeCacheFor(4);
  std::unique_ptr<FilterCache::Value> value =
      std::make_unique<TrackedValue>(0, &deaths_);
  cache_->Release(cache_->Insert({1, 2}, &value, {1}));
  EXPECT_EQ(cache_->Lookup({2, 1}), nullptr);
  EXPECT_EQ(cache_->Lookup({1, 1}), nullptr);
  EXPECT_EQ(cache_->Lookup({2, 2}), nullptr);
  EXPECT_EQ(cache_->Lookup({1, (uint64_t{1} << 32) + 2}), nullptr);
}

TEST_F(LruTest, EvictsInOrderOfUse) {
  MakeCacheFor(4);
  for (uint64_t key : {0, 1, 2, 3}) ASSERT_TRUE(Put(key));
  EXPECT_EQ(Get(0), 0);
  EXPECT_EQ(Get(2), 2);
  // Oldest first now: 1 3 0 2.
  std::vector<size_t> order;
  for (uint64_t key : {10, 11, 12, 13}) {
    ASSERT_TRUE(Put(key));
    for (size_t number : {0, 1, 2, 3}) {
      if (deaths_.Of(number) == 1 &&
          std::count(order.begin(), order.end(), number) == 0) {
        order.push_back(number);
      }
    }
  }
  EXPECT_THAT(order, ElementsAre(1, 3, 0, 2));
  EXPECT_EQ(usage().evictions, 4);
}

TEST_F(LruTest, UseIsCountedFromTheLastRelease) {
  MakeCacheFor(3);
  for (uint64_t key : {0, 1, 2}) ASSERT_TRUE(Put(key));
  Handle* first = cache_->Lookup(Key(0));
  Handle* second = cache_->Lookup(Key(0));
  cache_->Release(first);
  EXPECT_EQ(Get(1), 1);
  cache_->Release(second);
  // Oldest first now: 2 1 0.
  ASSERT_TRUE(Put(10));
  EXPECT_EQ(deaths_.Of(2), 1);
  ASSERT_TRUE(Put(11));
  EXPECT_EQ(deaths_.Of(1), 1);
  EXPECT_EQ(deaths_.Of(0), 0);
}

TEST_F(LruTest, MissDoesNotDisturbTheOrder) {
  MakeCacheFor(2);
  ASSERT_TRUE(Put(0));
  ASSERT_TRUE(Put(1));
  EXPECT_EQ(Get(9), -1);
  ASSERT_TRUE(Put(2));
  EXPECT_EQ(deaths_.Of(0), 1);
  EXPECT_EQ(deaths_.Of(1), 0);
}

TEST_F(LruTest, ChargesAreCountedExactly) {
  MakeCache(10000);
  EXPECT_EQ(usage().capacity_bytes, 10000);
  EXPECT_EQ(usage().usage_bytes, 0);
  ASSERT_TRUE(Put(0, 0));
  EXPECT_EQ(usage().usage_bytes, kOverhead);
  Handle* held = Insert(1, 1000);
  EXPECT_EQ(usage().usage_bytes, 1000 + 2 * kOverhead);
  EXPECT_EQ(usage().pinned_bytes, 1000 + kOverhead);
  EXPECT_EQ(usage().entry_count, 2);
  Handle* again = cache_->Lookup(Key(1));
  EXPECT_EQ(again, held);
  EXPECT_EQ(usage().pinned_bytes, 1000 + kOverhead);  // Once.
  cache_->Release(held);
  EXPECT_EQ(usage().pinned_bytes, 1000 + kOverhead);
  cache_->Release(again);
  EXPECT_EQ(usage().pinned_bytes, 0);
  EXPECT_EQ(usage().usage_bytes, 1000 + 2 * kOverhead);
  cache_->Erase(Key(1));
  EXPECT_EQ(usage().usage_bytes, kOverhead);
  cache_->Erase(Key(0));
  EXPECT_EQ(usage().usage_bytes, 0);
  EXPECT_EQ(usage().entry_count, 0);
  EXPECT_EQ(usage().evictions, 0);  // Erasing is no eviction.
}

TEST_F(LruTest, FillsToTheLastByte) {
  MakeCache(1000);
  EXPECT_FALSE(Put(0, 1001 - kOverhead));
  EXPECT_TRUE(Put(0, 1000 - kOverhead));
  EXPECT_EQ(usage().usage_bytes, 1000);
  EXPECT_EQ(usage().rejections, 1);
}

TEST_F(LruTest, EvictsNoMoreThanItMust) {
  MakeCacheFor(4);
  for (uint64_t key : {0, 1, 2, 3}) ASSERT_TRUE(Put(key));
  // As large as two, less one byte: two must go, and no third.
  ASSERT_TRUE(Put(4, 2 * (kCharge + kOverhead) - kOverhead));
  EXPECT_EQ(usage().evictions, 2);
  EXPECT_EQ(Get(2), 2);
  EXPECT_EQ(Get(3), 3);
}

TEST_F(LruTest, RefusesWhenAllIsHeldAndAcceptsAfterARelease) {
  MakeCacheFor(3);
  Handle* handles[] = {Insert(0), Insert(1), Insert(2)};
  EXPECT_EQ(Insert(3), nullptr);
  EXPECT_EQ(Insert(4, 0), nullptr);
  EXPECT_EQ(usage().rejections, 2);
  EXPECT_EQ(usage().evictions, 0);
  EXPECT_EQ(usage().usage_bytes, usage().capacity_bytes);
  EXPECT_EQ(usage().pinned_bytes, usage().capacity_bytes);
  EXPECT_EQ(Get(1), 1);  // What is held can still be found.
  cache_->Release(handles[1]);
  EXPECT_TRUE(Put(3));
  EXPECT_EQ(Get(1), -1);
  EXPECT_EQ(usage().evictions, 1);
  cache_->Release(handles[0]);
  cache_->Release(handles[2]);
}

TEST_F(LruTest, RefusedInsertEvictsNothing) {
  MakeCacheFor(4);
  Handle* held = Insert(0);
  for (uint64_t key : {1, 2, 3}) ASSERT_TRUE(Put(key));
  EXPECT_FALSE(Put(4, 4 * kCharge + 3 * kOverhead));
  for (uint64_t key : {1, 2, 3}) EXPECT_EQ(Get(key), key);
  EXPECT_EQ(usage().rejections, 1);
  cache_->Release(held);
}

TEST_F(LruTest, RefusedInsertKeepsTheEntryUnderItsKey) {
  MakeCacheFor(1);
  ASSERT_TRUE(Put(0));
  EXPECT_FALSE(Put(0, kCharge + 1));
  EXPECT_EQ(Get(0), 0);
}

TEST_F(LruTest, ErasedWhileHeldStaysValidAndCounted) {
  MakeCacheFor(2);
  Handle* held = Insert(0);
  cache_->Erase(Key(0));
  EXPECT_EQ(Get(0), -1);
  EXPECT_EQ(NumberOf(*cache_, held), 0);
  EXPECT_EQ(deaths_.Of(0), 0);
  EXPECT_EQ(usage().usage_bytes, kCharge + kOverhead);
  EXPECT_EQ(usage().pinned_bytes, kCharge + kOverhead);
  EXPECT_EQ(usage().entry_count, 1);

  // Only one more fits while it is held.
  Handle* other = Insert(1);
  EXPECT_EQ(Insert(2), nullptr);
  cache_->Release(held);
  EXPECT_EQ(deaths_.Of(0), 1);
  EXPECT_TRUE(Put(2));
  cache_->Release(other);
}

TEST_F(LruTest, EraseOfNothingDoesNothing) {
  MakeCacheFor(2);
  ASSERT_TRUE(Put(0));
  cache_->Erase(Key(1));
  cache_->Erase(Key(0));
  cache_->Erase(Key(0));
  EXPECT_EQ(deaths_.Of(0), 1);
  EXPECT_EQ(usage().usage_bytes, 0);
}

TEST_F(LruTest, ReplacesAnIdleEntry) {
  MakeCacheFor(2);
  ASSERT_TRUE(Put(0));
  ASSERT_TRUE(Put(1));
  ASSERT_TRUE(Put(0));  // Needs no eviction: it frees as much as it takes.
  EXPECT_EQ(deaths_.Of(0), 1);
  EXPECT_EQ(Get(0), 2);
  EXPECT_EQ(Get(1), 1);
  EXPECT_EQ(usage().evictions, 0);
  EXPECT_EQ(usage().inserts, 3);
  EXPECT_EQ(usage().entry_count, 2);
}

TEST_F(LruTest, ReplacesAHeldEntryWhichItsHolderKeeps) {
  MakeCacheFor(2);
  Handle* old = Insert(0);
  Handle* fresh = Insert(0);
  EXPECT_NE(old, fresh);
  EXPECT_EQ(NumberOf(*cache_, old), 0);
  EXPECT_EQ(NumberOf(*cache_, fresh), 1);
  EXPECT_EQ(Get(0), 1);
  EXPECT_EQ(usage().pinned_bytes, 2 * (kCharge + kOverhead));
  cache_->Release(old);
  EXPECT_EQ(deaths_.Of(0), 1);
  EXPECT_EQ(Get(0), 1);  // Releasing the old did not take the new away.
  cache_->Erase(Key(0));
  cache_->Release(fresh);
  EXPECT_EQ(deaths_.Of(1), 1);
}

TEST_F(LruTest, CapacityZeroRefusesAll) {
  for (const int shard_bits : {-1, 0, 3}) {
    MakeCache(0, shard_bits);
    EXPECT_FALSE(Put(0, 0));
    EXPECT_FALSE(Put(0, 1));
    EXPECT_EQ(Get(0), -1);
    EXPECT_EQ(usage().rejections, 2);
    EXPECT_EQ(usage().usage_bytes, 0);
  }
}

TEST_F(LruTest, HugeChargeDoesNotWrapAround) {
  MakeCache(1000);
  constexpr size_t kMax = std::numeric_limits<size_t>::max();
  for (const size_t charge : {kMax, kMax - kOverhead, kMax - kOverhead + 1}) {
    EXPECT_FALSE(Put(0, charge));
  }
  EXPECT_EQ(usage().rejections, 3);
}

TEST_F(LruTest, HugeCapacityWorks) {
  MakeCache(std::numeric_limits<size_t>::max(), -1);
  EXPECT_TRUE(Put(0, size_t{1} << 50));
  EXPECT_EQ(usage().usage_bytes, (size_t{1} << 50) + kOverhead);
}

TEST_F(LruTest, EntryLargerThanItsShardsShareIsRefused) {
  MakeCache(4096, 2);
  EXPECT_FALSE(Put(0, 1025 - kOverhead));
  EXPECT_TRUE(Put(0, 1024 - kOverhead));
}

TEST_F(LruTest, ShardHasAtLeastEightMiBAndThereAreAtMost64) {
  const auto largest_entry = [this] {
    size_t low = 0, high = usage().capacity_bytes;  // Accepted, refused.
    while (high - low > 1) {
      const size_t middle = low + (high - low) / 2;
      (Put(0, middle - kOverhead) ? low : high) = middle;
    }
    return low;
  };
  constexpr size_t kShard = 8 << 20;
  for (const auto& [capacity, share] :
       std::vector<std::pair<size_t, size_t>>{{kShard / 2 + 1, kShard / 2},
                                              {2 * kShard - 1, 2 * kShard - 2},
                                              {2 * kShard, kShard},
                                              {63 * kShard, 63 * kShard / 32},
                                              {64 * kShard, kShard},
                                              {640 * kShard, 10 * kShard}}) {
    next_number_ = 0;
    deaths_ = Deaths(1000);
    MakeCache(capacity, -1);
    EXPECT_EQ(largest_entry(), share) << capacity;
    cache_.reset();
  }
}

// Sequential file ids and chunk numbers, as there are, must not fill one
// shard and leave another empty. 4096 keys over 64 shards: 64 each expected;
// a shard of 2 * 64 has probability below 1e-11 under an even hash.
TEST_F(LruTest, SequentialKeysSpreadOverShards) {
  for (const uint64_t chunks : {1, 64, 4096}) {
    auto cache = NewShardedLruCache({64 * 128 * (1 + kOverhead), 6});
    for (uint64_t i = 0; i < 4096; ++i) {
      auto value = std::make_unique<FilterCache::Value>();
      cache->Release(cache->Insert({1 + i / chunks, i % chunks}, &value, {1}));
    }
    EXPECT_EQ(cache->GetUsage().evictions, 0) << chunks;
  }
}

TEST_F(LruTest, CacheDestroysEachValueOnce) {
  MakeCacheFor(3);
  Handle* held = Insert(0);
  Handle* erased = Insert(1);
  cache_->Erase(Key(1));
  for (uint64_t key : {2, 3, 4, 4}) ASSERT_TRUE(Put(key));
  cache_->Release(held);
  cache_->Release(erased);
  EXPECT_FALSE(Put(9, 100000));
  cache_.reset();
  for (size_t number = 0; number < next_number_; ++number) {
    EXPECT_EQ(deaths_.Of(number), 1) << number;
  }
}

// Values die outside the cache's mutex.
TEST_F(LruTest, ValueMayUseTheCacheWhenItDies) {
  class Curious : public FilterCache::Value {
   public:
    explicit Curious(FilterCache* cache) : cache_(cache) {}
    ~Curious() override { EXPECT_EQ(cache_->Lookup({100, 100}), nullptr); }

   private:
    FilterCache* const cache_;
  };
  MakeCacheFor(1);
  const auto put = [this](uint64_t key) {
    std::unique_ptr<FilterCache::Value> value =
        std::make_unique<Curious>(cache_.get());
    return cache_->Insert(Key(key), &value, {kCharge});
  };
  cache_->Release(put(0));
  cache_->Release(put(1));  // Evicts.
  cache_->Release(put(1));  // Replaces.
  Handle* held = put(1);
  cache_->Erase(Key(1));
  cache_->Release(held);
  cache_->Release(put(2));
  cache_->Erase(Key(2));
  EXPECT_EQ(usage().misses, 5);
}

TEST_F(LruTest, SweepEmptiesAPlainLru) {
  MakeCacheFor(10);
  for (uint64_t key : {0, 1, 2}) ASSERT_TRUE(Put(key));
  for (uint64_t key : {0, 1, 2}) EXPECT_EQ(Get(key), key);
  Sweep(10);
  for (uint64_t key : {0, 1, 2}) EXPECT_EQ(Get(key), -1);
}

TEST_F(LruTest, WhatWasUsedAgainSurvivesASweepOfAnyLength) {
  MakeCacheFor(10, Policy::kScanResistant);
  for (uint64_t key : {0, 1, 2, 3}) ASSERT_TRUE(Put(key));
  for (uint64_t key : {0, 1, 2}) EXPECT_EQ(Get(key), key);
  Sweep(500);
  for (uint64_t key : {0, 1, 2}) EXPECT_EQ(Get(key), key);
  EXPECT_EQ(Get(3), -1);
}

TEST_F(LruTest, WhatIsProtectedBeyond80PercentIsOnProbationAgain) {
  MakeCacheFor(10, Policy::kScanResistant);
  for (uint64_t key = 0; key < 10; ++key) ASSERT_TRUE(Put(key));
  for (uint64_t key = 0; key < 10; ++key) EXPECT_EQ(Get(key), key);
  Sweep(2);
  EXPECT_EQ(Get(0), -1);
  EXPECT_EQ(Get(1), -1);
  for (uint64_t key = 2; key < 10; ++key) EXPECT_EQ(Get(key), key);
}

TEST_F(LruTest, LowPriorityGoesFirst) {
  for (const Policy policy : {Policy::kPlainLru, Policy::kScanResistant}) {
    next_number_ = 0;
    MakeCacheFor(4, policy);
    ASSERT_TRUE(Put(0, OfPriority(FilterCachePriority::kHigh)));
    ASSERT_TRUE(Put(1, OfPriority(FilterCachePriority::kHigh)));
    ASSERT_TRUE(Put(2));
    EXPECT_EQ(Get(2), 2);
    Sweep(20);
    EXPECT_EQ(deaths_.Of(0), 0);
    EXPECT_EQ(deaths_.Of(1), 0);
    // Without low ones, high ones go.
    ASSERT_TRUE(Put(3, Options(3 * (kCharge + kOverhead) - kOverhead)));
    EXPECT_EQ(Get(2), -1);
    EXPECT_EQ(Get(0), -1);
    EXPECT_EQ(Get(1), 1);
    cache_.reset();
    deaths_ = Deaths(1000);
  }
}

TEST_F(LruTest, PinnedStaysUntilItIsErasedOrReplaced) {
  MakeCacheFor(2, Policy::kScanResistant);
  ASSERT_TRUE(Put(0, OfPriority(FilterCachePriority::kPinned)));
  EXPECT_EQ(usage().pinned_bytes, kCharge + kOverhead);
  EXPECT_EQ(Get(0), 0);
  EXPECT_EQ(usage().pinned_bytes, kCharge + kOverhead);
  Sweep(10);
  ASSERT_TRUE(Put(1, OfPriority(FilterCachePriority::kPinned)));
  EXPECT_FALSE(Put(2));
  EXPECT_EQ(usage().rejections, 1);
  cache_->Erase(Key(0));
  EXPECT_EQ(deaths_.Of(0), 1);
  EXPECT_EQ(usage().pinned_bytes, kCharge + kOverhead);
  ASSERT_TRUE(Put(1));  // As low priority.
  EXPECT_EQ(usage().pinned_bytes, 0);
  Sweep(2);
  EXPECT_EQ(Get(1), -1);
}

TEST_F(LruTest, BytesAreCountedByRole) {
  MakeCacheFor(4);
  const auto bytes_of = [this](FilterCacheRole role) {
    return usage().role_bytes.at(static_cast<size_t>(role));
  };
  FilterCache::EntryOptions options = Options();
  options.role = FilterCacheRole::kChunk;
  ASSERT_TRUE(Put(0, options));
  ASSERT_TRUE(Put(1, options));
  options.role = FilterCacheRole::kMemo;
  ASSERT_TRUE(Put(2, options));
  EXPECT_EQ(bytes_of(FilterCacheRole::kChunk), 2 * (kCharge + kOverhead));
  EXPECT_EQ(bytes_of(FilterCacheRole::kIndex), 0);
  EXPECT_EQ(bytes_of(FilterCacheRole::kMemo), kCharge + kOverhead);
  cache_->Erase(Key(0));
  ASSERT_TRUE(Put(1, options));  // Now a memo.
  EXPECT_EQ(bytes_of(FilterCacheRole::kChunk), 0);
  EXPECT_EQ(bytes_of(FilterCacheRole::kMemo), 2 * (kCharge + kOverhead));
}

TEST_F(LruTest, EraseFileForgetsItsEntriesAndNoOthers) {
  MakeCache(1 << 20, 2);
  // Four keys to a file.
  for (uint64_t key = 0; key < 40; ++key) ASSERT_TRUE(Put(key));
  Handle* held = cache_->Lookup(Key(9));
  ASSERT_TRUE(Put(11, OfPriority(FilterCachePriority::kPinned)));
  cache_->EraseFile(2);
  for (uint64_t key = 0; key < 40; ++key) {
    EXPECT_EQ(Get(key), key / 4 == 2 ? -1 : static_cast<int>(key));
  }
  EXPECT_EQ(NumberOf(*cache_, held), 9);
  cache_->Release(held);
  EXPECT_EQ(deaths_.Of(9), 1);
  EXPECT_EQ(usage().entry_count, 36);
  EXPECT_EQ(usage().pinned_bytes, 0);
  EXPECT_EQ(usage().evictions, 0);
}

TEST_F(LruTest, ShrinkingEvictsAtOnceWhatItCan) {
  MakeCacheFor(10, Policy::kScanResistant);
  for (uint64_t key = 0; key < 10; ++key) ASSERT_TRUE(Put(key));
  Handle* first = cache_->Lookup(Key(0));
  Handle* second = cache_->Lookup(Key(1));
  cache_->SetCapacity(4 * (kCharge + kOverhead));
  EXPECT_EQ(usage().capacity_bytes, 4 * (kCharge + kOverhead));
  EXPECT_EQ(usage().usage_bytes, 4 * (kCharge + kOverhead));
  for (uint64_t key : {8, 9}) EXPECT_EQ(Get(key), key);
  EXPECT_EQ(Get(7), -1);

  cache_->SetCapacity(kCharge + kOverhead);
  EXPECT_EQ(usage().usage_bytes, 2 * (kCharge + kOverhead));  // Held.
  EXPECT_FALSE(Put(20, 0));
  cache_->Release(first);
  EXPECT_FALSE(Put(20));
  cache_->Release(second);
  EXPECT_TRUE(Put(20));
  EXPECT_LE(usage().usage_bytes, usage().capacity_bytes);

  cache_->SetCapacity(0);
  EXPECT_EQ(usage().usage_bytes, 0);
  cache_->SetCapacity(3 * (kCharge + kOverhead));
  for (uint64_t key : {30, 31, 32}) EXPECT_TRUE(Put(key));
  EXPECT_EQ(usage().entry_count, 3);
}

TEST_F(LruTest, LeastWorthOfTheThirtyTwoOldestGoes) {
  MakeCacheFor(33, Policy::kScanResistant);
  for (uint64_t key = 0; key < 32; ++key) {
    ASSERT_TRUE(Put(key, Options(), key == 5 ? 1 : 2));
  }
  ASSERT_TRUE(Put(32, Options(), 0.5));  // The 33rd: not looked at yet.
  Sweep(1);
  EXPECT_EQ(deaths_.Of(5), 1);
  EXPECT_EQ(usage().evictions, 1);
  EXPECT_EQ(Price(), 1);
  // Those that were worth more count as just entered.
  ASSERT_TRUE(Put(40, Options(), 3));
  EXPECT_EQ(deaths_.Of(32), 1);
}

TEST_F(LruTest, EqualWorthGoesByAge) {
  MakeCacheFor(4, Policy::kScanResistant);
  for (uint64_t key = 0; key < 4; ++key) ASSERT_TRUE(Put(key, Options(), 3));
  for (size_t number : {0, 1}) {
    ASSERT_TRUE(Put(10 + number, Options(), 3));
    EXPECT_EQ(deaths_.Of(number), 1);
  }
}

TEST_F(LruTest, VictimGivesUpPartsBeforeItGoes) {
  MakeCacheFor(2, Policy::kScanResistant);
  ASSERT_TRUE(Put(0, Options(), 5, {{500, 20, 2}, {501, 30, 1}}));
  ASSERT_TRUE(Put(1, Options(), 9));
  const size_t full_bytes = usage().usage_bytes;
  cache_->SetCapacity(full_bytes + kOverhead);
  ASSERT_TRUE(Put(2, Options(30), 100));
  EXPECT_EQ(deaths_.Of(501), 1);
  EXPECT_EQ(usage().shrinks, 1);
  EXPECT_EQ(usage().entry_count, 3);
  EXPECT_EQ(usage().usage_bytes, full_bytes + kOverhead);
  EXPECT_EQ(Price(), 1);

  cache_->SetCapacity(usage().usage_bytes - 1);
  EXPECT_EQ(deaths_.Of(500), 1);
  EXPECT_EQ(usage().shrinks, 2);
  EXPECT_EQ(usage().usage_bytes, full_bytes + kOverhead - 20);
  EXPECT_EQ(usage().evictions, 0);
  EXPECT_EQ(deaths_.Of(0), 0);

  cache_->SetCapacity(usage().usage_bytes - 1);
  EXPECT_EQ(usage().evictions, 1);
  EXPECT_EQ(deaths_.Of(0), 1);
}

TEST_F(LruTest, PriceIsTheWorthOfWhatWentAndFadesWithLookups) {
  MakeCacheFor(20, Policy::kScanResistant);
  EXPECT_EQ(Price(), 0);
  for (uint64_t key = 0; key < 40; ++key) ASSERT_TRUE(Put(key, Options(), 7));
  EXPECT_EQ(Price(), 7);
  for (uint64_t key = 100; key < 130; ++key) {
    ASSERT_TRUE(Put(key, Options(), 4));
  }
  EXPECT_EQ(Price(), 7);
  cache_->ledger().CountLookups(cache_->ledger().era_length(), 0, 1);
  EXPECT_EQ(Price(), 3.5);
  ASSERT_TRUE(Put(200, Options(), 4));
  EXPECT_EQ(Price(), 4);
}

TEST_F(LruTest, RoomThatIsFreeHasNoPrice) {
  MakeCacheFor(2, Policy::kScanResistant);
  for (uint64_t key = 0; key < 3; ++key) ASSERT_TRUE(Put(key, Options(), 7));
  EXPECT_EQ(cache_->Price(Key(9), kCharge), 7);
  cache_->Erase(Key(2));
  EXPECT_EQ(cache_->Price(Key(9), kCharge), 0);
  EXPECT_EQ(cache_->Price(Key(9), kCharge + 1), 7);
}

TEST_F(LruTest, HintPointsToTheValueAsLongAsItIsCached) {
  MakeCacheFor(2, Policy::kScanResistant);
  FilterCache::Hint& hint = hints_[0];
  Handle* held = Insert(0, WithHint(&hint));
  EXPECT_EQ(hint.value, cache_->ValueOf(held));
  cache_->Release(held);
  ASSERT_NE(hint.value, nullptr);
  EXPECT_EQ(NumberOf(hint.value), 0);
  ASSERT_TRUE(Put(0, WithHint(&hint)));  // Replaced.
  EXPECT_EQ(NumberOf(hint.value), 1);
  Sweep(2);
  EXPECT_EQ(hint.value, nullptr);

  ASSERT_TRUE(Put(0, WithHint(&hint)));
  cache_->Erase(Key(0));
  EXPECT_EQ(hint.value, nullptr);
  held = Insert(0, WithHint(&hint));
  cache_->EraseFile(0);
  EXPECT_EQ(hint.value, nullptr);  // Though it is held.
  cache_->Release(held);
  ASSERT_TRUE(Put(0, WithHint(&hint)));
  cache_->SetCapacity(0);
  EXPECT_EQ(hint.value, nullptr);
  cache_->SetCapacity(1000);
  ASSERT_TRUE(Put(0, WithHint(&hint)));
  cache_.reset();
  EXPECT_EQ(hint.value, nullptr);
}

TEST_F(LruTest, EntryHasOneHintAtMost) {
  MakeCacheFor(2);
  FilterCache::Hint& first = hints_[0];
  FilterCache::Hint& second = hints_[1];
  ASSERT_TRUE(Put(0));
  cache_->Release(cache_->Lookup(Key(0), &first));
  EXPECT_NE(first.value, nullptr);
  cache_->Release(cache_->Lookup(Key(0), &second));
  EXPECT_EQ(second.value, nullptr);
  cache_->DropHint(Key(0), &second);  // Not its: nothing happens.
  EXPECT_NE(first.value, nullptr);
  cache_->DropHint(Key(0), &first);
  EXPECT_EQ(first.value, nullptr);
  cache_->Release(cache_->Lookup(Key(0), &second));
  EXPECT_EQ(NumberOf(second.value), 0);
  cache_->Erase(Key(0));
  cache_->DropHint(Key(0), &second);
  EXPECT_EQ(second.value, nullptr);
}

TEST_F(LruTest, UseThroughAHintIsUse) {
  MakeCacheFor(2);
  FilterCache::Hint& hint = hints_[0];
  ASSERT_TRUE(Put(0, WithHint(&hint)));
  ASSERT_TRUE(Put(1));
  hint.used = true;
  Sweep(1);
  EXPECT_EQ(deaths_.Of(1), 1);
  EXPECT_FALSE(hint.used);
  Sweep(2);
  EXPECT_EQ(deaths_.Of(0), 1);
}

TEST_F(LruTest, UseThroughAHintProtects) {
  MakeCacheFor(4, Policy::kScanResistant);
  FilterCache::Hint& hint = hints_[0];
  ASSERT_TRUE(Put(0, WithHint(&hint)));
  hint.used = true;
  Sweep(100);
  EXPECT_EQ(Get(0), 0);
}

TEST_F(LruTest, WhatAThreadMaySeeIsKeptAndCountsUntilItsGuardEnds) {
  MakeCacheFor(2);
  FilterCache::Hint& hint = hints_[0];
  {
    base::EpochGuard guard;
    ASSERT_TRUE(Put(0, WithHint(&hint)));
    cache_->Erase(Key(0));
    EXPECT_EQ(deaths_.Of(0), 0);
    EXPECT_EQ(usage().usage_bytes, kCharge + kOverhead);
    EXPECT_EQ(usage().pinned_bytes, 0);
    EXPECT_EQ(usage().entry_count, 1);
    ASSERT_TRUE(Put(1));
    // The room that eviction makes is not enough.
    EXPECT_FALSE(Put(2, 2 * kCharge + kOverhead));
    EXPECT_EQ(usage().rejections, 1);
    EXPECT_EQ(usage().usage_bytes, kCharge + kOverhead);
  }
  EXPECT_EQ(deaths_.Of(0), 0);
  ASSERT_TRUE(Put(3, 2 * kCharge + kOverhead));
  EXPECT_EQ(deaths_.Of(0), 1);
}

TEST_F(LruTest, GuardKeepsReplacedDetachedAndGivenUpOnesToo) {
  MakeCacheFor(4);
  FilterCache::Hint& hint = hints_[0];
  FilterCache::EntryOptions options = WithHint(&hint);
  {
    base::EpochGuard guard;
    ASSERT_TRUE(Put(0, options));
    Handle* held = Insert(0, options);  // Replaces 0.
    cache_->Erase(Key(0));
    cache_->Release(held);  // The last holder of 1.
    ASSERT_TRUE(Put(0, options, 0, {{500, 50, 1}}));
    cache_->DropHint(Key(0), &hint);
    cache_->SetCapacity(3 * (kCharge + kOverhead) - 1);  // Gives up 500.
    EXPECT_EQ(usage().shrinks, 0);  // What is retired will make room.
    cache_->SetCapacity(kCharge + kOverhead - 1);
    EXPECT_EQ(usage().shrinks, 1);
    for (const size_t number : {0, 1, 2, 500}) {
      EXPECT_EQ(deaths_.Of(number), 0) << number;
    }
  }
  cache_->Erase(Key(9));  // Any call that may free.
  for (const size_t number : {0, 1, 500}) {
    EXPECT_EQ(deaths_.Of(number), 1) << number;
  }
  EXPECT_EQ(deaths_.Of(2), 0);
}

TEST_F(LruTest, WithoutAHintNoGuardIsWaitedFor) {
  MakeCacheFor(1);
  base::EpochGuard guard;
  ASSERT_TRUE(Put(0));
  ASSERT_TRUE(Put(1));
  EXPECT_EQ(deaths_.Of(0), 1);
  cache_->Erase(Key(1));
  EXPECT_EQ(deaths_.Of(1), 1);
  EXPECT_EQ(usage().usage_bytes, 0);
}

using LruDeathTest = LruTest;

TEST_F(LruDeathTest, DestroyingTheCacheUnderAHandleIsChecked) {
  MakeCacheFor(2);
  Handle* held = Insert(0);
  EXPECT_DEATH(cache_.reset(), "check failed");
  cache_->Erase(Key(0));
  EXPECT_DEATH(cache_.reset(), "check failed");
  cache_->Release(held);
}

TEST_F(LruDeathTest, ReleasingTwiceIsCheckedWhileTheEntryLives) {
  MakeCacheFor(2);
  Handle* held = Insert(0);
  cache_->Release(held);
  EXPECT_DEATH(cache_->Release(held), "check failed");
}

TEST_F(LruDeathTest, ShardBitsOutOfRangeAreChecked) {
  EXPECT_DEATH(NewShardedLruCache({1000, -2}), "check failed");
  EXPECT_DEATH(NewShardedLruCache({1000, 17}), "check failed");
}

}  // namespace
}  // namespace rowbloom::cache
