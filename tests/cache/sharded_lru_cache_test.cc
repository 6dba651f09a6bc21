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
  void MakeCacheFor(size_t entry_count) {
    MakeCache(entry_count * (kCharge + kOverhead));
  }

  static FilterCacheKey Key(uint64_t n) { return {n / 4, n % 4}; }

  // nullptr if refused.
  Handle* Insert(uint64_t key, size_t charge_bytes = kCharge) {
    std::unique_ptr<FilterCache::Value> value =
        std::make_unique<TrackedValue>(next_number_++, &deaths_);
    const FilterCache::Value* raw = value.get();
    Handle* handle = cache_->Insert(Key(key), &value, {charge_bytes});
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
  // The number of the value found, or -1. It is used by that.
  int Get(uint64_t key) {
    Handle* handle = cache_->Lookup(Key(key));
    if (handle == nullptr) return -1;
    const int number = static_cast<int>(NumberOf(*cache_, handle));
    cache_->Release(handle);
    return number;
  }
  FilterCache::Usage usage() const { return cache_->GetUsage(); }

  Deaths deaths_{1000};  // Outlives the cache.
  size_t next_number_ = 0;
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
