// SPDX-License-Identifier: Apache-2.0
//
// Tests what the model of sharded_lru_cache_model_test.cc leaves out: shards,
// limits, prices, destructors and mistakes.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "cache/lru_cache.h"
#include "cache/tracked_value.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::internal::cache {
namespace {

constexpr size_t kOverhead = kEntryOverheadBytes;
constexpr size_t kCharge = 100;
// An entry of kCharge takes this much of the capacity.
constexpr size_t kEntry = kCharge + kOverhead;

// A cache of one shard, so that its order is the order of the whole cache.
// Values are numbered in insertion order.
class LruTest : public ::testing::Test {
 protected:
  using Handle = FilterCache::Handle;

  void MakeCache(size_t capacity_bytes, int shard_bits = 0) {
    cache_ = NewShardedLruCache({capacity_bytes, shard_bits});
  }
  ChunkCache& chunks() { return ChunkCache::Of(*cache_); }
  LoadLedger& ledger() { return chunks().ledger(); }

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
  // The entry gets shortcuts_[shortcut].
  bool PutChunk(uint64_t key, double worth, size_t shortcut) {
    std::unique_ptr<CachedFilter> value =
        std::make_unique<TrackedValue>(next_number_++, &deaths_, worth);
    return Release(chunks().InsertFilter(Key(key), &value, {kCharge},
                                         &shortcuts_[shortcut]));
  }
  bool PutChunk(uint64_t key, double worth) {
    return PutChunk(key, worth, key);
  }
  // Returns false for nullptr.
  bool Release(Handle* handle) {
    if (handle != nullptr) cache_->Release(handle);
    return handle != nullptr;
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
  Room room() { return chunks().RoomFor(Key(0)); }

  Deaths deaths_{1000};  // It outlives the cache.
  size_t next_number_ = 0;
  std::array<Shortcut, 210> shortcuts_;  // They outlive the cache, too.
  std::unique_ptr<FilterCache> cache_;
};

TEST_F(LruTest, UsageIncludesWhatReadersReport) {
  MakeCache(4 * kEntry);
  EXPECT_EQ(usage().index_bytes_outside, 0);
  // Readers may take half of the cache.
  const int first = 0, second = 0, third = 0;
  chunks().ChargeReader(&first, kEntry);
  EXPECT_EQ(usage().rejections, 0);
  chunks().ChargeReader(&second, kEntry);
  chunks().ChargeReader(&third, kEntry + 1);
  EXPECT_EQ(usage().index_bytes_outside, kEntry + 1);
  EXPECT_EQ(usage().usage_bytes, 2 * kEntry);
  EXPECT_EQ(usage().pinned_bytes, 2 * kEntry);
  EXPECT_EQ(usage().rejections, 1);
  chunks().DropReader(&first, kEntry);
  EXPECT_EQ(usage().index_bytes_outside, 1);
  chunks().DropReader(&second, kEntry);
  chunks().DropReader(&third, kEntry + 1);
  EXPECT_EQ(usage().index_bytes_outside, 0);
  EXPECT_EQ(usage().usage_bytes, 0);
  EXPECT_EQ(usage().pinned_bytes, 0);

  // These lookups are samples.
  ledger().CountLookups(16, FilterAnswer::kNo, 1);
  ledger().CountLookups(32, FilterAnswer::kMaybe, 1);
  ledger().CountLookups(64, FilterAnswer::kNotInMemory, 1);
  ASSERT_TRUE(Put(0));
  EXPECT_EQ(Get(0), 0);
  EXPECT_EQ(Get(1), -1);
  EXPECT_EQ(usage().hits, 16 + 32 + 1);
  EXPECT_EQ(usage().misses, 64 + 1);
}

TEST_F(LruTest, ReadersThatFoundNoRoomGetItAtTheNextInsert) {
  MakeCache(4 * kEntry);
  std::vector<Handle*> held;
  for (uint64_t key = 0; key < 4; ++key) {
    ASSERT_TRUE(Put(key));
    held.push_back(cache_->Lookup(Key(key)));
  }
  const int reader = 0;
  chunks().ChargeReader(&reader, kEntry);
  EXPECT_EQ(usage().index_bytes_outside, kEntry);
  for (Handle* handle : held) Release(handle);
  ASSERT_TRUE(Put(4));
  EXPECT_EQ(usage().index_bytes_outside, 0);
  EXPECT_EQ(usage().pinned_bytes, kEntry);
  EXPECT_LE(usage().usage_bytes, 4 * kEntry);
  chunks().DropReader(&reader, kEntry);
}

TEST_F(LruTest, ReadersKeepHalfOfWhateverTheCapacityIs) {
  constexpr size_t kReader = kEntry;
  MakeCache(20 * kEntry);
  std::array<int, 8> readers;
  for (const int& reader : readers) chunks().ChargeReader(&reader, kReader);
  EXPECT_EQ(usage().index_bytes_outside, 0);
  for (uint64_t key = 0; key < 12; ++key) EXPECT_TRUE(Put(key));
  cache_->SetCapacity(4 * kEntry);
  EXPECT_EQ(usage().usage_bytes, 4 * kEntry);
  EXPECT_EQ(usage().pinned_bytes, 2 * kReader);
  EXPECT_EQ(usage().index_bytes_outside, 6 * kReader);
  EXPECT_TRUE(Put(20));  // Chunks have room.
  cache_->SetCapacity(20 * kEntry);
  EXPECT_EQ(usage().pinned_bytes, 8 * kReader);
  EXPECT_EQ(usage().index_bytes_outside, 0);
  for (const int& reader : readers) chunks().DropReader(&reader, kReader);
  EXPECT_EQ(usage().pinned_bytes, 0);
}

TEST_F(LruTest, FillsItsShardToTheLastByte) {
  MakeCache(4001, 2);
  EXPECT_EQ(room().max_charge_bytes, 1000 - kOverhead);
  EXPECT_FALSE(Put(0, {1001 - kOverhead}));
  EXPECT_TRUE(Put(0, {1000 - kOverhead}));
  EXPECT_EQ(usage().usage_bytes, 1000);
  EXPECT_EQ(usage().rejections, 1);
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
    EXPECT_EQ(room().max_charge_bytes + kOverhead, share) << capacity;
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

TEST_F(LruTest, EraseFileForgetsItsEntriesInAllShardsAndNoOthers) {
  MakeCache(1 << 20, 2);
  // Each file has four keys.
  for (uint64_t key = 0; key < 40; ++key) ASSERT_TRUE(Put(key));
  cache_->EraseFile(2);
  for (uint64_t key = 0; key < 40; ++key) {
    EXPECT_EQ(Get(key), key / 4 == 2 ? -1 : static_cast<int>(key));
  }
}

TEST_F(LruTest, ChunkOfLeastWorthAmongTheThirtyTwoOldestGoes) {
  MakeCache(33 * kEntry);
  for (uint64_t key = 0; key < 32; ++key) {
    ASSERT_TRUE(PutChunk(key, key == 5 ? 1 : 2));
  }
  ASSERT_TRUE(PutChunk(32, 0.5));  // The 33rd entry is not considered yet.
  ASSERT_TRUE(Put(1000));
  EXPECT_EQ(deaths_.Of(5), 1);
  EXPECT_EQ(usage().evictions, 1);
  EXPECT_EQ(room().price, 1);
  // Entries that were worth more count as just inserted.
  ASSERT_TRUE(PutChunk(40, 3));
  EXPECT_EQ(deaths_.Of(32), 1);
}

TEST_F(LruTest, PriceIsTheWorthOfWhatWentAndFadesWithLookups) {
  MakeCache(20 * kEntry);
  EXPECT_EQ(room().price, 0);
  for (uint64_t key = 0; key < 40; ++key) ASSERT_TRUE(PutChunk(key, 7));
  EXPECT_EQ(room().price, 7);
  for (uint64_t key = 100; key < 130; ++key) ASSERT_TRUE(PutChunk(key, 4));
  EXPECT_EQ(room().price, 7);
  ledger().CountLookups(ledger().HalfLifeLookups(), FilterAnswer::kMaybe, 1);
  EXPECT_EQ(room().price, 3.5);
  ASSERT_TRUE(PutChunk(200, 4));
  EXPECT_EQ(room().price, 4);
  cache_->Erase(Key(200));
  EXPECT_EQ(room().free_bytes, kCharge);
}

TEST_F(LruTest, EntryHasOneShortcutAtMost) {
  MakeCache(2 * kEntry);
  Shortcut& first = shortcuts_[0];
  Shortcut& second = shortcuts_[1];
  ASSERT_TRUE(PutChunk(0, 1, 0));
  chunks().DropShortcut(Key(0), &second);  // The entry has another shortcut.
  EXPECT_EQ(NumberOf(first.filter.load()), 0);
  ASSERT_TRUE(PutChunk(0, 1, 1));
  EXPECT_EQ(first.filter, nullptr);
  EXPECT_EQ(NumberOf(second.filter.load()), 1);
  chunks().DropShortcut(Key(0), &first);
  EXPECT_EQ(NumberOf(second.filter.load()), 1);
  chunks().DropShortcut(Key(0), &second);
  EXPECT_EQ(second.filter, nullptr);
  EXPECT_EQ(Get(0), 1);  // The entry stays.
  EXPECT_EQ(second.filter, nullptr);
  cache_->Erase(Key(0));
  chunks().DropShortcut(Key(0), &second);  // There is no entry.
}

using LruDeathTest = LruTest;

TEST_F(LruDeathTest, DestroyingTheCacheUnderAHandleIsChecked) {
  MakeCache(2 * kEntry);
  Handle* held = Insert(0);
  EXPECT_DEATH(cache_.reset(), "before a handle of it is released");
  cache_->Erase(Key(0));
  EXPECT_DEATH(cache_.reset(), "before a handle of it is released");
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
  EXPECT_DEATH(cache_->Release(held), "has been released before");
}

TEST_F(LruTest, OneShardThatWasAskedForTakesAnEntryOfAllItsCapacity) {
  constexpr size_t kCapacity = 64 << 20;
  MakeCache(kCapacity, 0);
  EXPECT_TRUE(Put(1, {kCapacity - kOverhead}));
  MakeCache(kCapacity, -1);
  EXPECT_FALSE(Put(1, {kCapacity - kOverhead}));
}

TEST_F(LruDeathTest, MistakesNameTheCall) {
  MakeCache(2 * kEntry);
  std::unique_ptr<FilterCache::Value> value;
  EXPECT_DEATH(cache_->Insert({1, 0}, nullptr, {}), "Insert.*no value");
  EXPECT_DEATH(cache_->Insert({1, 0}, &value, {}), "Insert.*no value");
  value = std::make_unique<FilterCache::Value>();
  FilterCache::EntryOptions options;
  options.role = FilterCacheRole::kCount;
  EXPECT_DEATH(cache_->Insert({1, 0}, &value, options), "no such role");
  EXPECT_DEATH(cache_->Release(nullptr), "Release.*the handle is null");
  EXPECT_DEATH(cache_->ValueOf(nullptr), "ValueOf.*the handle is null");
}

TEST_F(LruDeathTest, ShardBitsOutOfRangeAreChecked) {
  EXPECT_DEATH(NewShardedLruCache({1000, -2}), "shard_bits must be");
  EXPECT_DEATH(NewShardedLruCache({1000, 17}), "shard_bits must be");
}

}  // namespace
}  // namespace rowbloom::internal::cache
