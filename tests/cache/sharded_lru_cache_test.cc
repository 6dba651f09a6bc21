// SPDX-License-Identifier: Apache-2.0
//
// Tests the cache with one thread. sharded_lru_cache_model_test.cc compares
// random calls with a model; sharded_lru_cache_threads_test.cc and
// slot_threads_test.cc use many threads.

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "cache/chunk_cache.h"
#include "cache/lru_shard.h"
#include "cache/tracked_value.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"
#include "threads/epoch.h"

namespace rowbloom::cache {
namespace {

constexpr size_t kOverhead = kEntryOverheadBytes;
constexpr size_t kCharge = 100;
// An entry of kCharge takes this much of the capacity.
constexpr size_t kEntry = kCharge + kOverhead;
constexpr auto kPinned = FilterCachePriority::kPinned;

// A cache of one shard, so that its order is the order of the whole cache.
// Values are numbered in insertion order.
class LruTest : public ::testing::Test {
 protected:
  using Handle = FilterCache::Handle;

  void MakeCache(size_t capacity_bytes, int shard_bits = 0) {
    cache_ = NewShardedLruCache({capacity_bytes, shard_bits});
  }
  ChunkCache& chunks() { return *Access::ChunkCacheOf(cache_.get()); }
  LoadLedger& ledger() { return *Access::LedgerOf(*cache_); }

  static FilterCacheKey Key(uint64_t n) { return {n / 4, n % 4}; }

  // Returns nullptr if the cache refuses the entry.
  Handle* Insert(uint64_t key,
                 const FilterCache::EntryOptions& options = {kCharge}) {
    std::unique_ptr<FilterCache::Value> value =
        std::make_unique<TrackedValue>(next_number_++, &deaths_);
    return cache_->Insert(Key(key), &value, options);
  }
  bool Put(uint64_t key, const FilterCache::EntryOptions& options = {kCharge}) {
    return Release(Insert(key, options));
  }
  // The entry gets slots_[key].
  Handle* InsertChunk(uint64_t key, double worth = ChunkValue::kUnknownWorth,
                      std::vector<TrackedPart> parts = {},
                      size_t charge_bytes = kCharge) {
    std::unique_ptr<ChunkValue> value = std::make_unique<TrackedValue>(
        next_number_++, &deaths_, worth, std::move(parts));
    return chunks().InsertChunk(Key(key), &value, {charge_bytes}, &slots_[key]);
  }
  bool PutChunk(uint64_t key, double worth = ChunkValue::kUnknownWorth,
                std::vector<TrackedPart> parts = {},
                size_t charge_bytes = kCharge) {
    return Release(InsertChunk(key, worth, std::move(parts), charge_bytes));
  }
  // Returns false for nullptr.
  bool Release(Handle* handle) {
    if (handle != nullptr) cache_->Release(handle);
    return handle != nullptr;
  }
  // Inserts entries that were never inserted before.
  void Sweep(size_t entry_count) {
    for (; entry_count > 0; --entry_count) ASSERT_TRUE(Put(next_cold_++));
  }
  // Returns the number of the value found, or -1; a hit counts as a use.
  int Get(uint64_t key) {
    Handle* handle = cache_->Lookup(Key(key));
    if (handle == nullptr) return -1;
    const int number = static_cast<int>(NumberOf(*cache_, handle));
    cache_->Release(handle);
    return number;
  }
  FilterCache::Usage usage() const { return cache_->GetUsage(); }
  // Returns the price of room for an entry that does not fit.
  double Price() { return chunks().Price(Key(0), 1 << 20); }

  Deaths deaths_{1000};  // It outlives the cache.
  size_t next_number_ = 0;
  uint64_t next_cold_ = 1000;
  std::array<Slot, 210> slots_;  // They outlive the cache, too.
  std::unique_ptr<FilterCache> cache_;
};

TEST_F(LruTest, FindsWhatWasInsertedAndNothingElse) {
  MakeCache(4 * kEntry);
  ASSERT_TRUE(Put(6));
  ASSERT_TRUE(Put(2));
  EXPECT_EQ(Get(6), 0);  // {1, 2}
  EXPECT_EQ(Get(2), 1);  // {0, 2}
  EXPECT_EQ(cache_->Lookup({2, 1}), nullptr);
  EXPECT_EQ(cache_->Lookup({1, 1}), nullptr);
  EXPECT_EQ(cache_->Lookup({2, 2}), nullptr);
  EXPECT_EQ(cache_->Lookup({1, (uint64_t{1} << 32) + 2}), nullptr);
  EXPECT_EQ(usage().hits, 2);
  EXPECT_EQ(usage().misses, 4);
  EXPECT_EQ(usage().inserts, 2);
}

TEST_F(LruTest, UsageIncludesWhatReadersReport) {
  MakeCache(4 * kEntry);
  EXPECT_EQ(usage().index_bytes_outside, 0);
  chunks().AddIndexBytesOutside(700);
  chunks().AddIndexBytesOutside(50);
  EXPECT_EQ(usage().index_bytes_outside, 750);
  EXPECT_EQ(usage().usage_bytes, 0);
  chunks().AddIndexBytesOutside(-700);
  EXPECT_EQ(usage().index_bytes_outside, 50);

  // These lookups are samples.
  ledger().CountLookups(16, LoadLedger::Answer::kNo, 1);
  ledger().CountLookups(32, LoadLedger::Answer::kMaybe, 1);
  ledger().CountLookups(64, LoadLedger::Answer::kUnloaded, 1);
  ASSERT_TRUE(Put(0));
  EXPECT_EQ(Get(0), 0);
  EXPECT_EQ(Get(1), -1);
  EXPECT_EQ(usage().hits, 16 + 32 + 1);
  EXPECT_EQ(usage().misses, 64 + 1);
}

TEST_F(LruTest, EntriesNeverFoundGoInOrderOfInsertion) {
  MakeCache(4 * kEntry);
  for (uint64_t key : {0, 1, 2, 3}) ASSERT_TRUE(Put(key));
  for (size_t number : {0, 1, 2, 3}) {
    EXPECT_EQ(Get(99), -1);  // A miss changes no order.
    EXPECT_EQ(deaths_.Of(number), 0);
    Sweep(1);
    EXPECT_EQ(deaths_.Of(number), 1);
  }
  EXPECT_EQ(usage().evictions, 4);
}

TEST_F(LruTest, FoundEntriesGoInOrderOfTheirLastRelease) {
  MakeCache(5 * kEntry);
  for (uint64_t key : {0, 1, 2}) ASSERT_TRUE(Put(key));
  Handle* first = cache_->Lookup(Key(0));
  Handle* second = cache_->Lookup(Key(0));
  cache_->Release(first);
  EXPECT_EQ(Get(1), 1);
  cache_->Release(second);
  // The new entry leaves room for one: 2, which was never found, goes first,
  // then 1.
  ASSERT_TRUE(Put(10, {4 * kEntry - kOverhead}));
  EXPECT_EQ(deaths_.Of(2), 1);
  EXPECT_EQ(deaths_.Of(1), 1);
  EXPECT_EQ(deaths_.Of(0), 0);
}

TEST_F(LruTest, EntryCountsForItsChargeAndOverheadOnce) {
  MakeCache(10000);
  ASSERT_TRUE(Put(0, {0}));
  EXPECT_EQ(usage().usage_bytes, kOverhead);
  Handle* held = Insert(1, {1000});
  Handle* again = cache_->Lookup(Key(1));
  EXPECT_EQ(again, held);
  cache_->Release(held);
  EXPECT_EQ(usage().usage_bytes, 1000 + 2 * kOverhead);
  EXPECT_EQ(usage().pinned_bytes, 1000 + kOverhead);
  EXPECT_EQ(usage().entry_count, 2);
  cache_->Release(again);
  EXPECT_EQ(usage().pinned_bytes, 0);
  cache_->Erase(Key(1));
  EXPECT_EQ(usage().usage_bytes, kOverhead);
  EXPECT_EQ(usage().evictions, 0);  // Erasing is no eviction.
}

TEST_F(LruTest, FillsItsShardToTheLastByte) {
  MakeCache(4001, 2);
  EXPECT_EQ(chunks().MaxChargeBytes(Key(0)), 1000 - kOverhead);
  EXPECT_FALSE(Put(0, {1001 - kOverhead}));
  EXPECT_TRUE(Put(0, {1000 - kOverhead}));
  EXPECT_EQ(usage().usage_bytes, 1000);
  EXPECT_EQ(usage().rejections, 1);
}

TEST_F(LruTest, RefusesWhenAllIsHeldAndAcceptsAfterARelease) {
  MakeCache(2 * kEntry);
  Handle* handles[] = {Insert(0), Insert(1)};
  EXPECT_EQ(chunks().MaxChargeBytes(Key(2)), 0);
  EXPECT_FALSE(Put(2));
  EXPECT_FALSE(PutChunk(2));
  EXPECT_EQ(slots_[2].value, nullptr);
  EXPECT_EQ(usage().rejections, 2);
  EXPECT_EQ(usage().pinned_bytes, usage().capacity_bytes);
  cache_->Release(handles[1]);
  EXPECT_TRUE(Put(2));
  EXPECT_EQ(Get(1), -1);
  cache_->Release(handles[0]);
}

TEST_F(LruTest, CapacityZeroRefusesAll) {
  for (const int shard_bits : {-1, 0, 3}) {
    MakeCache(0, shard_bits);
    EXPECT_FALSE(Put(0, {0}));
    EXPECT_FALSE(Put(0, {1}));
    EXPECT_EQ(Get(0), -1);
    EXPECT_EQ(usage().rejections, 2);
    EXPECT_EQ(usage().usage_bytes, 0);
  }
}

TEST_F(LruTest, HugeChargesAndCapacitiesDoNotWrapAround) {
  constexpr size_t kMax = std::numeric_limits<size_t>::max();
  MakeCache(1000);
  for (const size_t charge : {kMax, kMax - kOverhead, kMax - kOverhead + 1}) {
    EXPECT_FALSE(Put(0, {charge}));
  }
  EXPECT_EQ(usage().rejections, 3);
  MakeCache(kMax, -1);
  EXPECT_TRUE(Put(0, {size_t{1} << 50}));
  EXPECT_EQ(usage().usage_bytes, (size_t{1} << 50) + kOverhead);
}

TEST_F(LruTest, ShardHasAtLeastEightMiBAndThereAreAtMost64) {
  constexpr size_t kShard = 8 << 20;
  for (const auto& [capacity, share] :
       std::vector<std::pair<size_t, size_t>>{{kShard / 2 + 1, kShard / 2 + 1},
                                              {2 * kShard - 1, 2 * kShard - 1},
                                              {2 * kShard, kShard},
                                              {63 * kShard, 63 * kShard / 32},
                                              {64 * kShard, kShard},
                                              {640 * kShard, 10 * kShard}}) {
    MakeCache(capacity, -1);
    EXPECT_EQ(chunks().MaxChargeBytes(Key(0)) + kOverhead, share) << capacity;
  }
}

// Real file ids and chunk numbers are sequential; they must not fill one shard
// and leave another empty. With 4096 keys over 64 shards, 64 are expected in
// each; a shard of 2 * 64 has probability below 1e-11 under an even hash.
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

// The cache destroys values outside its mutex.
TEST_F(LruTest, ValueMayUseTheCacheWhenItIsDestroyed) {
  class Curious : public FilterCache::Value {
   public:
    explicit Curious(FilterCache* cache) : cache_(cache) {}
    ~Curious() override { EXPECT_EQ(cache_->Lookup({100, 100}), nullptr); }

   private:
    FilterCache* const cache_;
  };
  MakeCache(kEntry);
  const auto put = [this](uint64_t key) {
    std::unique_ptr<FilterCache::Value> value =
        std::make_unique<Curious>(cache_.get());
    return cache_->Insert(Key(key), &value, {kCharge});
  };
  cache_->Release(put(0));
  cache_->Release(put(1));  // It evicts the other value.
  cache_->Release(put(1));  // It replaces the value of the same key.
  Handle* held = put(1);
  cache_->Erase(Key(1));
  cache_->Release(held);
  cache_->Release(put(2));
  cache_->Erase(Key(2));
  EXPECT_EQ(usage().misses, 5);
}

TEST_F(LruTest, FoundEntriesSurviveASweepOfAnyLength) {
  MakeCache(10 * kEntry);
  for (uint64_t key : {0, 1, 2, 3}) ASSERT_TRUE(Put(key));
  for (uint64_t key : {0, 1, 2}) EXPECT_EQ(Get(key), key);
  Sweep(500);
  for (uint64_t key : {0, 1, 2}) EXPECT_EQ(Get(key), key);
  EXPECT_EQ(Get(3), -1);
}

TEST_F(LruTest, ProtectedEntriesBeyond80PercentAreOnProbationAgain) {
  MakeCache(10 * kEntry);
  for (uint64_t key = 0; key < 10; ++key) ASSERT_TRUE(Put(key));
  for (uint64_t key = 0; key < 10; ++key) EXPECT_EQ(Get(key), key);
  Sweep(2);
  EXPECT_EQ(Get(0), -1);
  EXPECT_EQ(Get(1), -1);
  for (uint64_t key = 2; key < 10; ++key) EXPECT_EQ(Get(key), key);
}

TEST_F(LruTest, PinnedStaysUntilItIsErasedOrReplaced) {
  MakeCache(2 * kEntry);
  ASSERT_TRUE(Put(0, {kCharge, kPinned}));
  Sweep(10);
  EXPECT_EQ(Get(0), 0);
  ASSERT_TRUE(Put(1, {kCharge, kPinned}));
  EXPECT_FALSE(Put(2));
  cache_->Erase(Key(0));
  EXPECT_EQ(deaths_.Of(0), 1);
  EXPECT_EQ(usage().pinned_bytes, kEntry);
  ASSERT_TRUE(Put(1));  // The new entry has normal priority.
  EXPECT_EQ(usage().pinned_bytes, 0);
  Sweep(2);
  EXPECT_EQ(Get(1), -1);
}

TEST_F(LruTest, EraseFileForgetsItsEntriesInAllShardsAndNoOthers) {
  MakeCache(1 << 20, 2);
  // Each file has four keys.
  for (uint64_t key = 0; key < 40; ++key) ASSERT_TRUE(Put(key));
  cache_->EraseFile(2);
  for (uint64_t key = 0; key < 40; ++key) {
    EXPECT_EQ(Get(key), key / 4 == 2 ? -1 : static_cast<int>(key));
  }
}

TEST_F(LruTest, ShrinkingEvictsAtOnceWhatIsNotHeld) {
  MakeCache(10 * kEntry);
  Handle* held = Insert(0);
  for (uint64_t key = 1; key < 10; ++key) ASSERT_TRUE(Put(key));
  cache_->SetCapacity(4 * kEntry);
  EXPECT_EQ(usage().capacity_bytes, 4 * kEntry);
  EXPECT_EQ(usage().usage_bytes, 4 * kEntry);
  EXPECT_EQ(Get(6), -1);
  EXPECT_EQ(Get(7), 7);

  cache_->SetCapacity(kEntry - 1);
  EXPECT_EQ(usage().usage_bytes, kEntry);  // A handle holds the entry.
  EXPECT_EQ(chunks().MaxChargeBytes(Key(20)), 0);
  EXPECT_FALSE(Put(20, {0}));
  cache_->Release(held);
  EXPECT_TRUE(Put(20, {0}));
  EXPECT_LE(usage().usage_bytes, usage().capacity_bytes);
}

TEST_F(LruTest, ChunkOfLeastWorthAmongTheThirtyTwoOldestGoes) {
  MakeCache(33 * kEntry);
  for (uint64_t key = 0; key < 32; ++key) {
    ASSERT_TRUE(PutChunk(key, key == 5 ? 1 : 2));
  }
  ASSERT_TRUE(PutChunk(32, 0.5));  // The 33rd entry is not considered yet.
  Sweep(1);
  EXPECT_EQ(deaths_.Of(5), 1);
  EXPECT_EQ(usage().evictions, 1);
  EXPECT_EQ(Price(), 1);
  // Entries that were worth more count as just inserted.
  ASSERT_TRUE(PutChunk(40, 3));
  EXPECT_EQ(deaths_.Of(32), 1);
}

TEST_F(LruTest, ChunkGivesUpPartsBeforeItGoes) {
  MakeCache(2 * kEntry);
  ASSERT_TRUE(PutChunk(0, 5, {{500, 20, 2}, {501, 30, 1}}));
  ASSERT_TRUE(PutChunk(1, 9));
  cache_->SetCapacity(2 * kEntry - 1);
  EXPECT_EQ(deaths_.Of(501), 1);
  EXPECT_EQ(usage().usage_bytes, 2 * kEntry - 30);
  EXPECT_EQ(Price(), 1);
  cache_->SetCapacity(2 * kEntry - 31);
  EXPECT_EQ(deaths_.Of(500), 1);
  EXPECT_EQ(usage().shrinks, 2);
  EXPECT_EQ(usage().evictions, 0);
  EXPECT_EQ(usage().entry_count, 2);

  cache_->SetCapacity(2 * kEntry - 51);
  EXPECT_EQ(usage().evictions, 1);
  EXPECT_EQ(deaths_.Of(0), 1);
}

TEST_F(LruTest, PriceIsTheWorthOfWhatWentAndFadesWithLookups) {
  MakeCache(20 * kEntry);
  EXPECT_EQ(Price(), 0);
  for (uint64_t key = 0; key < 40; ++key) ASSERT_TRUE(PutChunk(key, 7));
  EXPECT_EQ(Price(), 7);
  for (uint64_t key = 100; key < 130; ++key) ASSERT_TRUE(PutChunk(key, 4));
  EXPECT_EQ(Price(), 7);
  ledger().CountLookups(ledger().HalfLifeLookups(), LoadLedger::Answer::kMaybe,
                        1);
  EXPECT_EQ(Price(), 3.5);
  ASSERT_TRUE(PutChunk(200, 4));
  EXPECT_EQ(Price(), 4);
  cache_->Erase(Key(200));
  EXPECT_EQ(chunks().Price(Key(0), kCharge + 1), 4);
  EXPECT_EQ(chunks().Price(Key(0), kCharge), 0);  // Room is free.
}

TEST_F(LruTest, SlotPointsToTheChunkAsLongAsItIsCached) {
  MakeCache(2 * kEntry);
  const std::atomic<const ChunkValue*>& seen = slots_[0].value;
  Handle* held = InsertChunk(0);
  EXPECT_EQ(seen, cache_->ValueOf(held));
  cache_->EraseFile(0);
  EXPECT_EQ(seen, nullptr);  // A handle still holds it.
  cache_->Release(held);
  ASSERT_TRUE(PutChunk(0));
  ASSERT_TRUE(PutChunk(0));  // It replaces the entry.
  EXPECT_EQ(NumberOf(seen), 2);
  ASSERT_TRUE(Put(0));  // An entry without a slot replaces it, too.
  EXPECT_EQ(seen, nullptr);
  ASSERT_TRUE(PutChunk(0));
  Sweep(2);
  EXPECT_EQ(seen, nullptr);
  ASSERT_TRUE(PutChunk(0));
  cache_.reset();
  EXPECT_EQ(seen, nullptr);
}

TEST_F(LruTest, EntryHasOneSlotAtMost) {
  MakeCache(2 * kEntry);
  Slot& first = slots_[0];
  Slot& second = slots_[1];
  ASSERT_TRUE(PutChunk(0));
  chunks().DropSlot(Key(0), &second);  // The entry has another slot.
  EXPECT_EQ(NumberOf(first.value), 0);
  std::unique_ptr<ChunkValue> value =
      std::make_unique<TrackedValue>(next_number_++, &deaths_);
  cache_->Release(chunks().InsertChunk(Key(0), &value, {kCharge}, &second));
  EXPECT_EQ(first.value, nullptr);
  EXPECT_EQ(NumberOf(second.value), 1);
  chunks().DropSlot(Key(0), &first);
  EXPECT_EQ(NumberOf(second.value), 1);
  chunks().DropSlot(Key(0), &second);
  EXPECT_EQ(second.value, nullptr);
  EXPECT_EQ(Get(0), 1);  // The entry stays.
  EXPECT_EQ(second.value, nullptr);
  cache_->Erase(Key(0));
  chunks().DropSlot(Key(0), &second);  // There is no entry.
}

TEST_F(LruTest, ChunkThatAThreadMaySeeIsKeptAndCountsUntilItsGuardEnds) {
  MakeCache(2 * kEntry);
  {
    threads::EpochGuard guard;
    ASSERT_TRUE(PutChunk(0));
    cache_->Erase(Key(0));
    EXPECT_EQ(deaths_.Of(0), 0);
    EXPECT_EQ(usage().usage_bytes, kEntry);
    EXPECT_EQ(usage().retired_bytes, kEntry);
    EXPECT_EQ(usage().pinned_bytes, 0);
    EXPECT_EQ(usage().entry_count, 1);
    ASSERT_TRUE(Put(1));
    // Eviction does not free enough room.
    EXPECT_FALSE(Put(2, {kEntry + kCharge}));
    EXPECT_EQ(usage().rejections, 1);
    EXPECT_EQ(usage().usage_bytes, kEntry);
  }
  EXPECT_EQ(deaths_.Of(0), 0);
  ASSERT_TRUE(Put(3, {kEntry + kCharge}));
  EXPECT_EQ(deaths_.Of(0), 1);
  EXPECT_EQ(usage().retired_bytes, 0);
}

using LruDeathTest = LruTest;

TEST_F(LruDeathTest, DestroyingTheCacheUnderAHandleIsChecked) {
  MakeCache(2 * kEntry);
  Handle* held = Insert(0);
  EXPECT_DEATH(cache_.reset(), "check failed");
  cache_->Erase(Key(0));
  EXPECT_DEATH(cache_.reset(), "check failed");
  cache_->Release(held);
}

TEST_F(LruDeathTest, DestroyingTheCacheBeforeAFileIsChecked) {
  MakeCache(2 * kEntry);
  chunks().AddFile(1);
  chunks().AddFile(1);
  chunks().AddFile(-1);
  EXPECT_DEATH(cache_.reset(), "FilterCache is destroyed before");
  chunks().AddFile(-1);
}

TEST_F(LruDeathTest, ReleasingTwiceIsCheckedWhileTheEntryLives) {
  MakeCache(2 * kEntry);
  Handle* held = Insert(0);
  cache_->Release(held);
  EXPECT_DEATH(cache_->Release(held), "check failed");
}

TEST_F(LruDeathTest, ShardBitsOutOfRangeAreChecked) {
  EXPECT_DEATH(NewShardedLruCache({1000, -2}), "shard_bits must be");
  EXPECT_DEATH(NewShardedLruCache({1000, 17}), "shard_bits must be");
}

}  // namespace
}  // namespace rowbloom::cache
