// SPDX-License-Identifier: Apache-2.0
//
// Readers find chunks through slots, as the library's readers do, while other
// threads insert, erase, replace and resize. The values themselves and the
// sanitizers detect a value that is destroyed too early.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "cache/chunk_cache.h"
#include "cache/lru_shard.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"
#include "threads/epoch.h"

namespace rowbloom::cache {
namespace {

constexpr uint64_t kKeys = 24;
constexpr size_t kPartCharge = 50;
constexpr size_t kParts = 3;
constexpr size_t kCharge = 100 + kParts * kPartCharge;
constexpr size_t kCapacity = 10 * (kCharge + kEntryOverheadBytes);

std::atomic<int64_t> live_values{0};

class Part final : public FilterCache::Value {
 public:
  explicit Part(uint64_t key) : key_(key) { ++live_values; }
  ~Part() override {
    key_ = ~uint64_t{0};
    --live_values;
  }
  uint64_t key() const { return key_; }

 private:
  uint64_t key_;
};

// A value with parts that it gives up while threads may be reading them.
class Whole final : public ChunkValue {
 public:
  explicit Whole(uint64_t key) : core_(key) {
    for (std::atomic<Part*>& part : parts_) part = new Part(key);
  }
  ~Whole() override {
    for (std::atomic<Part*>& part : parts_) delete part.load();
  }
  double Worth() const override { return static_cast<double>(core_.key() % 4); }
  std::unique_ptr<Value> Shrink(size_t* freed_bytes) override {
    *freed_bytes = kPartCharge;
    for (std::atomic<Part*>& part : parts_) {
      Part* given_up = part.exchange(nullptr);
      if (given_up != nullptr) return std::unique_ptr<Value>(given_up);
    }
    return nullptr;
  }
  bool AllAreOf(uint64_t key) const {
    for (const std::atomic<Part*>& part : parts_) {
      const Part* seen = part.load();
      if (seen != nullptr && seen->key() != key) return false;
    }
    return core_.key() == key;
  }

 private:
  const Part core_;
  std::atomic<Part*> parts_[kParts];
};

class SlotThreads : public ::testing::TestWithParam<int> {
 protected:
  static FilterCacheKey KeyOf(uint64_t key) { return {key % 4, key / 4}; }
  ChunkCache& chunks() { return *Access::ChunkCacheOf(cache_.get()); }

  void Insert(uint64_t key, Slot* slot) {
    std::unique_ptr<ChunkValue> value = std::make_unique<Whole>(key);
    FilterCache::Handle* handle =
        chunks().InsertChunk(KeyOf(key), &value, {kCharge}, slot);
    if (handle != nullptr) cache_->Release(handle);
  }

  // Returns true if the cache has the chunk, no matter which thread inserted
  // it.
  bool LookUp(uint64_t key) {
    FilterCache::Handle* handle = cache_->Lookup(KeyOf(key));
    if (handle == nullptr) return false;
    EXPECT_TRUE(
        static_cast<const Whole*>(cache_->ValueOf(handle))->AllAreOf(key));
    cache_->Release(handle);
    return true;
  }

  // Reads as the library's reader does: through the slot, else from the cache,
  // else it inserts the chunk.
  void Read(uint32_t seed) {
    std::mt19937 random(seed);
    while (!done_) {
      const uint64_t key = random() % kKeys;
      Slot& slot = slots_[key];
      bool found = false;
      {
        threads::EpochGuard guard;
        const ChunkValue* value = slot.value.load();
        if (value != nullptr) {
          found = true;
          EXPECT_TRUE(static_cast<const Whole*>(value)->AllAreOf(key));
          if (!slot.used.load(std::memory_order_relaxed)) {
            slot.used.store(true, std::memory_order_relaxed);
          }
        }
      }
      ++(found ? seen_ : unseen_);
      if (found) continue;
      // It replaces some of the chunks that have no slot.
      if (!LookUp(key) || random() % 4 == 0) Insert(key, &slot);
    }
  }

  // Reads as another reader of the same files does, whose slots come and go.
  void ReadBriefly(uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kRounds; ++i) {
      const uint64_t key = random() % kKeys;
      Slot slot;
      if (!LookUp(key)) Insert(key, &slot);
      chunks().DropSlot(KeyOf(key), &slot);
      EXPECT_EQ(slot.value, nullptr);
    }
  }

  void Erase(uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kRounds; ++i) {
      if (i % 50 == 0) {
        cache_->EraseFile(random() % 4);
      } else {
        cache_->Erase(KeyOf(random() % kKeys));
      }
      std::this_thread::yield();
    }
  }

  void Resize(uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kRounds; ++i) {
      cache_->SetCapacity(i % 10 == 0 ? 0 : kCapacity / (1 + random() % 4));
      std::this_thread::yield();
    }
    cache_->SetCapacity(kCapacity);
  }

  static constexpr int kRounds = 1000;

  Slot slots_[kKeys];
  std::atomic<bool> done_{false};
  std::atomic<uint64_t> seen_{0};
  std::atomic<uint64_t> unseen_{0};
  std::unique_ptr<FilterCache> cache_;
};

TEST_P(SlotThreads, SeeOnlyLiveValues) {
  cache_ = NewShardedLruCache({kCapacity, GetParam()});
  std::vector<std::thread> readers;
  for (uint32_t t = 0; t < 3; ++t) readers.emplace_back([&, t] { Read(t); });
  std::vector<std::thread> others;
  others.emplace_back([&] { ReadBriefly(10); });
  others.emplace_back([&] { Erase(20); });
  others.emplace_back([&] { Resize(30); });
  for (std::thread& thread : others) thread.join();
  // The cache runs at its full capacity.
  while (seen_ < 1000 || unseen_ < 1000) {
    EXPECT_LE(cache_->GetUsage().usage_bytes, kCapacity);
    std::this_thread::yield();
  }
  done_ = true;
  for (std::thread& thread : readers) thread.join();

  const FilterCache::Usage usage = cache_->GetUsage();
  EXPECT_EQ(usage.pinned_bytes, 0);
  EXPECT_GT(usage.evictions, 0);
  EXPECT_GT(usage.shrinks, 0);
  cache_->SetCapacity(0);  // No thread reads now: everything is freed at once.
  EXPECT_EQ(cache_->GetUsage().usage_bytes, 0);
  EXPECT_EQ(live_values, 0);
}

INSTANTIATE_TEST_SUITE_P(ShardBits, SlotThreads, ::testing::Values(0, 1));

}  // namespace
}  // namespace rowbloom::cache
