// SPDX-License-Identifier: Apache-2.0
//
// Readers that see values through hints only, as the library's do, while
// others insert, erase, replace and resize. A value that is destroyed too
// early is for its own checks and for the sanitizers to see.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/epoch.h"
#include "cache/lru_shard.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::cache {
namespace {

constexpr uint64_t kKeys = 24;
constexpr size_t kPartCharge = 50;
constexpr size_t kParts = 3;
constexpr size_t kCharge = 100 + kParts * kPartCharge;
constexpr size_t kCapacity = 10 * (kCharge + kEntryOverheadBytes);

std::atomic<int64_t> live_values{0};

// Has parts that it gives up while threads may be reading them.
class Part : public FilterCache::Value {
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

class Whole final : public Part {
 public:
  explicit Whole(uint64_t key) : Part(key) {
    for (std::atomic<Part*>& part : parts_) part = new Part(key);
  }
  ~Whole() override {
    for (std::atomic<Part*>& part : parts_) delete part.load();
  }
  double Worth() const override { return static_cast<double>(key() % 4); }
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
    return this->key() == key;
  }

 private:
  std::atomic<Part*> parts_[kParts];
};

class HintThreads : public ::testing::TestWithParam<int> {
 protected:
  static FilterCacheKey KeyOf(uint64_t key) { return {key % 4, key / 4}; }

  void Insert(uint64_t key, FilterCache::Hint* hint) {
    std::unique_ptr<FilterCache::Value> value = std::make_unique<Whole>(key);
    FilterCache::EntryOptions options;
    options.charge_bytes = kCharge;
    options.priority =
        key % 5 == 0 ? FilterCachePriority::kHigh : FilterCachePriority::kLow;
    options.hint = hint;
    FilterCache::Handle* handle = cache_->Insert(KeyOf(key), &value, options);
    if (handle != nullptr) cache_->Release(handle);
  }

  // As a reader of the library: through the hint, or the cache, or inserting.
  void Read(uint32_t seed) {
    std::mt19937 random(seed);
    while (!done_) {
      const uint64_t key = random() % kKeys;
      FilterCache::Hint& hint = hints_[key];
      bool found = false;
      {
        base::EpochGuard guard;
        const FilterCache::Value* value = hint.value.load();
        if (value != nullptr) {
          found = true;
          EXPECT_TRUE(static_cast<const Whole*>(value)->AllAreOf(key));
          if (!hint.used.load(std::memory_order_relaxed)) {
            hint.used.store(true, std::memory_order_relaxed);
          }
        }
      }
      ++(found ? seen_ : unseen_);
      if (found) continue;
      FilterCache::Handle* handle = cache_->Lookup(KeyOf(key), &hint);
      if (handle == nullptr) {
        Insert(key, &hint);
        continue;
      }
      const auto* value = static_cast<const Part*>(cache_->ValueOf(handle));
      EXPECT_EQ(value->key(), key);
      cache_->Release(handle);
    }
  }

  // Another reader under the same ids, whose hints come and go.
  void ReadBriefly(uint32_t seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kRounds; ++i) {
      const uint64_t key = random() % kKeys;
      FilterCache::Hint hint;
      FilterCache::Handle* handle = cache_->Lookup(KeyOf(key), &hint);
      if (handle != nullptr) {
        cache_->Release(handle);
      } else {
        Insert(key, &hint);
      }
      cache_->DropHint(KeyOf(key), &hint);
      EXPECT_EQ(hint.value, nullptr);
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

  static constexpr int kRounds = 300;

  FilterCache::Hint hints_[kKeys];
  std::atomic<bool> done_{false};
  std::atomic<uint64_t> seen_{0};
  std::atomic<uint64_t> unseen_{0};
  std::unique_ptr<FilterCache> cache_;
};

TEST_P(HintThreads, SeeOnlyLiveValues) {
  cache_ = NewShardedLruCache({kCapacity, GetParam()});
  std::vector<std::thread> readers;
  for (uint32_t t = 0; t < 3; ++t) readers.emplace_back([&, t] { Read(t); });
  std::vector<std::thread> others;
  others.emplace_back([&] { ReadBriefly(10); });
  others.emplace_back([&] { Erase(20); });
  others.emplace_back([&] { Resize(30); });
  for (std::thread& thread : others) thread.join();
  // At the full capacity.
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
  cache_->SetCapacity(0);  // Nobody reads: all is freed at once.
  EXPECT_EQ(cache_->GetUsage().usage_bytes, 0);
  EXPECT_EQ(live_values, 0);
}

INSTANTIATE_TEST_SUITE_P(ShardBits, HintThreads, ::testing::Values(0, 1));

}  // namespace
}  // namespace rowbloom::cache
