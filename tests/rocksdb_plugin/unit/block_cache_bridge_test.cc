// SPDX-License-Identifier: Apache-2.0

#include "block_cache_bridge.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "block_cache.h"
#include "cache/tracked_value.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "rocksdb/cache.h"
#include "rocksdb/version.h"
#include "testing/counting_source.h"

namespace rowbloom {
namespace {

using internal::cache::Deaths;
using internal::cache::NumberOf;
using internal::cache::TrackedValue;
using testing::CountingSource;
using testing::EvenRows;
using testing::NumberedRow;
using testing::OpenOrDie;
using testing::WriteBlock;

enum class Engine { kLru, kHyperClock, kAutoHyperClock };

constexpr size_t kCharge = 1000;

std::shared_ptr<rocksdb::Cache> NewEngine(Engine engine, size_t capacity,
                                          bool is_strict) {
  if (engine == Engine::kLru) {
    return rocksdb::NewLRUCache(capacity, 0, is_strict);
  }
  // Without charges for metadata, usage is that of the entries.
  return rocksdb::HyperClockCacheOptions(
             capacity, engine == Engine::kHyperClock ? kCharge : 0, 0,
             is_strict, nullptr, rocksdb::kDontChargeCacheMetadata)
      .MakeSharedCache();
}

// Inserts an entry of which the engine frees the value by `kFree`.
template <void (*kFree)(void* value)>
void InsertByEngine(rocksdb::Cache* cache, const std::string& key,
                    void* value) {
#if ROCKSDB_MAJOR >= 8 || ROCKSDB_MINOR >= 10
  static const rocksdb::Cache::CacheItemHelper helper(
      rocksdb::CacheEntryRole::kMisc,
      [](void* freed, rocksdb::MemoryAllocator*) { kFree(freed); });
  ASSERT_TRUE(cache->Insert(key, value, &helper, 1).ok());
#else
  ASSERT_TRUE(
      cache
          ->Insert(key, value, 1,
                   [](const rocksdb::Slice&, void* freed) { kFree(freed); })
          .ok());
#endif
}

void KeepValue(void* /*value*/) {}

class BlockCacheBridge : public ::testing::TestWithParam<Engine> {
 protected:
  using Handle = FilterCache::Handle;

  explicit BlockCacheBridge(bool is_strict = false)
      : engine_(NewEngine(GetParam(), 100 * kCharge, is_strict)),
        cache_(NewBlockCacheBridge(engine_)) {}

  Handle* Insert(const FilterCacheKey& key,
                 FilterCachePriority priority = FilterCachePriority::kNormal,
                 size_t charge_bytes = kCharge) {
    std::unique_ptr<FilterCache::Value> value =
        std::make_unique<TrackedValue>(next_number_++, &deaths_);
    const FilterCache::Value* raw = value.get();
    FilterCache::EntryOptions options;
    options.charge_bytes = charge_bytes;
    options.priority = priority;
    options.role = FilterCacheRole::kOther;
    Handle* handle = cache_->Insert(key, &value, options);
    EXPECT_EQ(value.get(), handle == nullptr ? raw : nullptr);
    return handle;
  }
  void Put(const FilterCacheKey& key,
           FilterCachePriority priority = FilterCachePriority::kNormal) {
    Handle* handle = Insert(key, priority);
    ASSERT_NE(handle, nullptr);
    cache_->Release(handle);
  }
  int Get(const FilterCacheKey& key) {
    Handle* handle = cache_->Lookup(key);
    if (handle == nullptr) return -1;
    const int number = static_cast<int>(NumberOf(*cache_, handle));
    cache_->Release(handle);
    return number;
  }

  // Returns the engine's keys and values.
  std::map<std::string, void*> EngineEntries() {
    std::map<std::string, void*> entries;
    engine_->ApplyToAllEntries(
        [&entries](const rocksdb::Slice& key, void* value, size_t /*charge*/,
                   const auto& /*deleter*/) {
          entries[key.ToString()] = value;
        },
        {});
    return entries;
  }

  Deaths deaths_{4000};
  Deaths thread_deaths_{32 * 20000};
  size_t next_number_ = 0;
  std::shared_ptr<rocksdb::Cache> engine_;
  std::unique_ptr<FilterCache> cache_;
};

const auto kEngines = ::testing::Values(Engine::kLru, Engine::kHyperClock
#if ROCKSDB_MAJOR >= 9  // Before, it has to know the charge of entries.
                                        ,
                                        Engine::kAutoHyperClock
#endif
);
std::string EngineName(const ::testing::TestParamInfo<Engine>& info) {
  return info.param == Engine::kLru          ? "lru"
         : info.param == Engine::kHyperClock ? "hyper_clock"
                                             : "auto_hyper_clock";
}
INSTANTIATE_TEST_SUITE_P(Engines, BlockCacheBridge, kEngines, EngineName);

TEST_P(BlockCacheBridge, FindsWhatWasInsertedAndChargesTheEngine) {
  Put({1, 0});
  Put({1, 1});
  Put({2, 0});
  EXPECT_EQ(Get({1, 1}), 1);
  EXPECT_EQ(Get({2, 0}), 2);
  EXPECT_EQ(Get({2, 1}), -1);
  const FilterCache::Usage usage = cache_->GetUsage();
  EXPECT_GE(usage.usage_bytes, 3 * kCharge);
  EXPECT_LE(usage.usage_bytes, engine_->GetUsage());
  EXPECT_EQ(usage.usage_bytes,
            usage.role_bytes.at(static_cast<size_t>(FilterCacheRole::kOther)));
  EXPECT_EQ(usage.capacity_bytes, engine_->GetCapacity());
  EXPECT_EQ(usage.entry_count, 3);
  EXPECT_EQ(usage.inserts, 3);
  EXPECT_EQ(usage.hits, 2);
  EXPECT_EQ(usage.misses, 1);
}

TEST_P(BlockCacheBridge, HeldValueOutlivesEraseAndReplacement) {
  Handle* first = Insert({1, 0});
  Handle* second = Insert({1, 0});
  EXPECT_EQ(Get({1, 0}), 1);
  cache_->Erase({1, 0});
  EXPECT_EQ(Get({1, 0}), -1);
  EXPECT_EQ(NumberOf(*cache_, first), 0);
  EXPECT_EQ(NumberOf(*cache_, second), 1);
  cache_->Release(first);
  EXPECT_EQ(deaths_.Of(0), 1);
  EXPECT_EQ(deaths_.Of(1), 0);
  cache_->Release(second);
  EXPECT_EQ(deaths_.Of(1), 1);
  EXPECT_EQ(cache_->GetUsage().usage_bytes, 0);
  EXPECT_EQ(engine_->GetUsage(), 0);
}

TEST_P(BlockCacheBridge, EraseFileForgetsItsEntriesAndNoOthers) {
  for (uint64_t chunk = 0; chunk < 20; ++chunk) Put({chunk % 4, chunk});
  Put({2, 100}, FilterCachePriority::kPinned);
  cache_->EraseFile(2);
  for (uint64_t chunk = 0; chunk < 20; ++chunk) {
    EXPECT_EQ(Get({chunk % 4, chunk}),
              chunk % 4 == 2 ? -1 : static_cast<int>(chunk));
  }
  EXPECT_EQ(Get({2, 100}), -1);
  EXPECT_EQ(cache_->GetUsage().entry_count, 15);
  EXPECT_EQ(cache_->GetUsage().pinned_bytes, 0);
}

TEST_P(BlockCacheBridge, EvictsAsTheEngineDoesAndCountsWhatIsLeft) {
  for (uint64_t chunk = 0; chunk < 1000; ++chunk) Put({1, chunk});
  EXPECT_LE(engine_->GetUsage(), engine_->GetCapacity());
  const FilterCache::Usage usage = cache_->GetUsage();
  EXPECT_LE(usage.usage_bytes, engine_->GetUsage());
  EXPECT_LT(usage.entry_count, 100);
  EXPECT_GT(usage.entry_count, 50);
  engine_->SetCapacity(10 * kCharge);
  // HyperClockCache evicts only when it inserts.
  for (uint64_t chunk = 0; chunk < 1000; ++chunk) Put({2, chunk});
  EXPECT_LE(engine_->GetUsage(), 10 * kCharge);
  EXPECT_EQ(cache_->GetUsage().capacity_bytes, 10 * kCharge);
}

TEST_P(BlockCacheBridge, PinnedStaysUntilItIsErasedOrReplaced) {
  Put({1, 0}, FilterCachePriority::kPinned);
  Put({1, 1}, FilterCachePriority::kPinned);
  EXPECT_GE(cache_->GetUsage().pinned_bytes, 2 * kCharge);
  for (uint64_t chunk = 0; chunk < 1000; ++chunk) Put({2, chunk});
  EXPECT_EQ(Get({1, 0}), 0);
  EXPECT_EQ(Get({1, 1}), 1);
  cache_->Erase({1, 0});
  EXPECT_EQ(deaths_.Of(0), 1);
  Put({1, 1});
  EXPECT_EQ(deaths_.Of(1), 1);
  EXPECT_EQ(cache_->GetUsage().pinned_bytes, 0);
}

TEST_P(BlockCacheBridge, BridgesOverOneCacheAreApart) {
  const std::unique_ptr<FilterCache> other = NewBlockCacheBridge(engine_);
  Put({1, 0});
  EXPECT_EQ(other->Lookup({1, 0}), nullptr);
  other->EraseFile(1);
  EXPECT_EQ(Get({1, 0}), 0);
  EXPECT_EQ(other->GetUsage().entry_count, 0);
}

// RocksDB's own 16-byte keys begin with a file's word, which is not 0, or are 0
// and an id that counts up from 1 or down from 2^64-1.
TEST_P(BlockCacheBridge, KeysAreNeverThoseOfRocksDb) {
  for (uint64_t file = 0; file < 10; ++file) Put({file, ~file});
  const auto entries = EngineEntries();
  EXPECT_EQ(entries.size(), 10);
  for (const auto& [key, value] : entries) {
    ASSERT_EQ(key.size(), 16);
    uint64_t words[2];
    std::memcpy(words, key.data(), sizeof(words));
    EXPECT_EQ(words[0], 0);
    EXPECT_EQ(words[1] >> 62, 2);
  }
}

// Keys in the engine are hashes of 62 bits.
TEST_P(BlockCacheBridge, AnEntryUnderTheHashOfAnotherChunkIsNotFoundThere) {
  Put({1, 1});
  ASSERT_EQ(EngineEntries().size(), 1);
  const std::string key = EngineEntries().begin()->first;
  cache_->Erase({1, 1});
  Put({1, 2});
  const auto [other_key, other_value] = *EngineEntries().begin();
  ASSERT_NE(key, other_key);
  InsertByEngine<KeepValue>(engine_.get(), key, other_value);
  EXPECT_EQ(cache_->Lookup({1, 1}), nullptr);
  EXPECT_EQ(Get({1, 2}), 1);
  Put({1, 1});  // It replaces the foreign entry.
  EXPECT_EQ(Get({1, 1}), 2);
  EXPECT_EQ(Get({1, 2}), 1);
}

TEST_P(BlockCacheBridge, GivesItsMemoryBackWhenItGoes) {
  for (uint64_t chunk = 0; chunk < 20; ++chunk) {
    Put({1, chunk}, chunk == 7 ? FilterCachePriority::kPinned
                               : FilterCachePriority::kNormal);
  }
  cache_.reset();
  EXPECT_EQ(engine_->GetUsage(), 0);
  for (size_t number = 0; number < 20; ++number) {
    EXPECT_EQ(deaths_.Of(number), 1) << number;
  }
}

class StrictBlockCacheBridge : public BlockCacheBridge {
 protected:
  StrictBlockCacheBridge() : BlockCacheBridge(true) {}
};
INSTANTIATE_TEST_SUITE_P(Engines, StrictBlockCacheBridge, kEngines, EngineName);

TEST_P(StrictBlockCacheBridge, RefusedValueStaysWithTheCaller) {
  std::vector<Handle*> held;
  for (uint64_t chunk = 0;; ++chunk) {
    ASSERT_LT(chunk, 1000);
    Handle* handle = Insert({1, chunk});
    if (handle == nullptr) break;
    held.push_back(handle);
  }
  EXPECT_EQ(cache_->GetUsage().rejections, 1);
  EXPECT_EQ(cache_->GetUsage().entry_count, held.size());
  for (Handle* handle : held) cache_->Release(handle);
  Put({2, 0});
  EXPECT_EQ(Insert({2, 1}, FilterCachePriority::kNormal,
                   std::numeric_limits<size_t>::max()),
            nullptr);
}

TEST_P(BlockCacheBridge, ReaderAnswersThroughItAndSurvivesEviction) {
  FilterOptions options;
  options.bloom_type = BloomType::kRow;
  options.chunk_size_bytes = 1000;
  const std::string block = WriteBlock(options, EvenRows(20000));
  const auto memory = NewMemorySource(block);
  CountingSource counting(memory.get());
  FilterReaderOptions reader_options;
  reader_options.cache = cache_.get();
  const auto reader = OpenOrDie(&counting, reader_options);
  EXPECT_TRUE(reader->MayContain(NumberedRow(0)));
  EXPECT_GT(cache_->GetUsage().usage_bytes, 900);
  EXPECT_GE(engine_->GetUsage(), cache_->GetUsage().usage_bytes);
  const uint64_t reads = counting.read_count();
  EXPECT_TRUE(reader->MayContain(NumberedRow(0)));
  EXPECT_EQ(counting.read_count(), reads);

  // The engine's own blocks push chunks out, again and again.
  size_t denied = 0;
  for (uint64_t i = 0; i < 20000; ++i) {
    ASSERT_TRUE(reader->MayContain(NumberedRow(2 * i)));
    denied += reader->MayContain(NumberedRow(2 * i + 1)) ? 0 : 1;
    if (i % 1000 == 0) engine_->EraseUnRefEntries();
  }
  EXPECT_GT(denied, 19000);
  EXPECT_GT(counting.read_count(), reads + 19);
  cache_->EraseFile(reader->file_id());
  const FilterCache::Usage left = cache_->GetUsage();
  EXPECT_EQ(left.role_bytes[static_cast<size_t>(FilterCacheRole::kChunk)], 0);
  EXPECT_EQ(left.entry_count, 1);  // The reader's index.
  EXPECT_TRUE(reader->MayContain(NumberedRow(0)));
}

// An entry of the engine whose deletion begins, then waits.
struct SlowEntry {
  std::atomic<bool> dying{false};
  std::atomic<bool> may_die{false};

  static void Die(void* entry) {
    auto* const slow = static_cast<SlowEntry*>(entry);
    slow->dying = true;
    while (!slow->may_die) std::this_thread::yield();
  }
};

// Evicted chunks are freed outside the engine's lock; the bridge, which no
// longer finds them, may be gone by then.
TEST_P(BlockCacheBridge, ChunksThatOutliveItTouchNothingOfIt) {
  SlowEntry slow;
  // LRUCache frees the first one first.
  InsertByEngine<SlowEntry::Die>(engine_.get(), std::string(16, 's'), &slow);
  const std::string block = WriteBlock({}, EvenRows(2000));
  const auto source = NewMemorySource(block);
  FilterReaderOptions options;
  options.cache = cache_.get();
  options.file_id = 7;  // Chunks stay when the reader goes.
  options.loading = FilterLoading::kAlways;
  auto reader = OpenOrDie(source.get(), options);
  EXPECT_TRUE(reader->MayContain(NumberedRow(0)));
  EXPECT_GT(cache_->GetUsage().entry_count, 1u);
  reader.reset();
  std::thread evicts([this] { engine_->EraseUnRefEntries(); });
  while (!slow.dying) std::this_thread::yield();
  cache_.reset();
  slow.may_die = true;
  evicts.join();
}

TEST_P(BlockCacheBridge, ManyThreadsSeeTheirOwnValues) {
  std::atomic<size_t> numbers{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 5000; ++i) {
        const FilterCacheKey key{random() % 4, random() % 8};
        // The value's number encodes its key.
        const uint64_t code = key.file_id * 8 + key.chunk;
        const uint32_t operation = random() % 100;
        if (operation < 60) {
          Handle* handle = cache_->Lookup(key);
          if (handle == nullptr) continue;
          EXPECT_EQ(NumberOf(*cache_, handle) % 32, code);
          cache_->Release(handle);
        } else if (operation < 95) {
          std::unique_ptr<FilterCache::Value> value =
              std::make_unique<TrackedValue>(numbers++ * 32 + code,
                                             &thread_deaths_);
          FilterCache::EntryOptions options;
          options.charge_bytes = 10 * kCharge;
          options.priority = operation < 63 ? FilterCachePriority::kPinned
                                            : FilterCachePriority::kNormal;
          Handle* handle = cache_->Insert(key, &value, options);
          ASSERT_NE(handle, nullptr);
          cache_->Release(handle);
        } else if (operation < 99) {
          cache_->Erase(key);
        } else {
          cache_->EraseFile(key.file_id);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t file = 0; file < 4; ++file) cache_->EraseFile(file);
  EXPECT_EQ(cache_->GetUsage().entry_count, 0);
  EXPECT_EQ(engine_->GetUsage(), 0);
}

}  // namespace
}  // namespace rowbloom
