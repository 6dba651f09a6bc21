// SPDX-License-Identifier: Apache-2.0
//
// Random operations on the cache and on a model that is slow and obvious.
// After each one, both must agree on everything that can be seen.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <random>
#include <vector>

#include "cache/lru_shard.h"
#include "cache/tracked_value.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::cache {
namespace {

constexpr size_t kNone = SIZE_MAX;

// Values are known by their numbers.
class Model {
 public:
  explicit Model(size_t capacity_bytes) {
    usage_.capacity_bytes = capacity_bytes;
  }

  size_t Lookup(uint64_t key) {
    for (Item& item : items_) {
      if (item.cached && item.key == key) {
        ++usage_.hits;
        ++item.handle_count;
        return item.number;
      }
    }
    ++usage_.misses;
    return kNone;
  }

  bool Insert(uint64_t key, size_t number, size_t charge_bytes) {
    charge_bytes += kEntryOverheadBytes;
    if (GetUsage().pinned_bytes + charge_bytes > usage_.capacity_bytes) {
      ++usage_.rejections;
      return false;
    }
    Erase(key);
    while (GetUsage().usage_bytes + charge_bytes > usage_.capacity_bytes) {
      items_.erase(std::find_if(items_.begin(), items_.end(),
                                [](auto& i) { return i.handle_count == 0; }));
      ++usage_.evictions;
    }
    ++usage_.inserts;
    items_.push_back({key, number, charge_bytes, 1, true});
    return true;
  }

  void Release(size_t number) {
    const auto it = Find(number);
    if (--it->handle_count > 0) return;
    if (it->cached) {
      items_.splice(items_.end(), items_, it);
    } else {
      items_.erase(it);
    }
  }

  void Erase(uint64_t key) {
    for (auto it = items_.begin(); it != items_.end(); ++it) {
      if (!it->cached || it->key != key) continue;
      it->cached = false;
      if (it->handle_count == 0) items_.erase(it);
      return;
    }
  }

  bool IsAlive(size_t number) { return Find(number) != items_.end(); }

  FilterCache::Usage GetUsage() const {
    FilterCache::Usage usage = usage_;
    for (const Item& item : items_) {
      usage.usage_bytes += item.charge_bytes;
      if (item.handle_count > 0) usage.pinned_bytes += item.charge_bytes;
      ++usage.entry_count;
    }
    return usage;
  }

 private:
  struct Item {
    uint64_t key;
    size_t number;
    size_t charge_bytes;
    int handle_count;
    bool cached;
  };

  std::list<Item>::iterator Find(size_t number) {
    return std::find_if(items_.begin(), items_.end(),
                        [&](auto& item) { return item.number == number; });
  }

  FilterCache::Usage usage_;  // The fixed and the counted parts only.
  // In order of use, longest ago first, as far as they are not held.
  std::list<Item> items_;
};

void ExpectEqual(const FilterCache::Usage& a, const FilterCache::Usage& b) {
  ASSERT_EQ(a.capacity_bytes, b.capacity_bytes);
  ASSERT_EQ(a.usage_bytes, b.usage_bytes);
  ASSERT_EQ(a.pinned_bytes, b.pinned_bytes);
  ASSERT_EQ(a.entry_count, b.entry_count);
  ASSERT_EQ(a.hits, b.hits);
  ASSERT_EQ(a.misses, b.misses);
  ASSERT_EQ(a.inserts, b.inserts);
  ASSERT_EQ(a.evictions, b.evictions);
  ASSERT_EQ(a.rejections, b.rejections);
}

void CompareRandomly(uint32_t seed, size_t capacity_bytes, size_t max_handles) {
  constexpr int kSteps = 4000;
  std::mt19937 random(seed);
  const auto below = [&random](uint64_t n) {
    return std::uniform_int_distribution<uint64_t>(0, n - 1)(random);
  };
  struct Held {
    FilterCache::Handle* handle;
    size_t number;
  };

  Deaths deaths(kSteps);
  Model model(capacity_bytes);
  std::unique_ptr<FilterCache> cache = NewShardedLruCache(
      {capacity_bytes, 0, ShardedLruCacheOptions::Policy::kPlainLru});
  std::vector<Held> held;
  size_t next_number = 0;
  std::vector<size_t> alive;  // Values inserted and not known to be dead.

  const auto release = [&](size_t index) {
    cache->Release(held[index].handle);
    model.Release(held[index].number);
    held.erase(held.begin() + static_cast<ptrdiff_t>(index));
  };
  for (int step = 0; step < kSteps; ++step) {
    const uint64_t n = below(30);
    const FilterCacheKey key{n % 5, n / 5};
    const uint64_t operation = below(100);
    if (operation < 40) {
      FilterCache::Handle* handle = cache->Lookup(key);
      const size_t number = model.Lookup(n);
      ASSERT_EQ(handle == nullptr ? kNone : NumberOf(*cache, handle), number);
      if (handle != nullptr) held.push_back({handle, number});
    } else if (operation < 75) {
      const size_t number = next_number++;
      const size_t charge_bytes = below(20) == 0 ? below(3000) : below(300);
      std::unique_ptr<FilterCache::Value> value =
          std::make_unique<TrackedValue>(number, &deaths);
      FilterCache::Handle* handle = cache->Insert(key, &value, {charge_bytes});
      ASSERT_EQ(handle != nullptr, model.Insert(n, number, charge_bytes));
      ASSERT_EQ(handle == nullptr, value != nullptr);
      if (handle != nullptr) {
        held.push_back({handle, number});
        alive.push_back(number);
      }
    } else if (operation < 85) {
      cache->Erase(key);
      model.Erase(n);
    } else if (!held.empty()) {
      release(below(held.size()));
    }
    while (held.size() > max_handles) release(below(held.size()));

    ExpectEqual(cache->GetUsage(), model.GetUsage());
    ASSERT_LE(cache->GetUsage().usage_bytes, capacity_bytes);
    for (const Held& h : held) ASSERT_EQ(NumberOf(*cache, h.handle), h.number);
    for (size_t i = alive.size(); i-- > 0;) {
      const bool lives = model.IsAlive(alive[i]);
      ASSERT_EQ(deaths.Of(alive[i]), lives ? 0 : 1) << alive[i];
      if (!lives) alive.erase(alive.begin() + static_cast<ptrdiff_t>(i));
    }
    if (::testing::Test::HasFatalFailure()) {
      FAIL() << "seed " << seed << " step " << step;
    }
  }
  while (!held.empty()) release(0);
  cache.reset();
  for (size_t i = 0; i < next_number; ++i) ASSERT_EQ(deaths.Of(i), 1) << i;
}

TEST(ShardedLruCacheModel, AgreesWithFewHandles) {
  for (uint32_t seed = 0; seed < 20; ++seed) CompareRandomly(seed, 3000, 2);
}

TEST(ShardedLruCacheModel, AgreesWithMoreHandlesThanFit) {
  for (uint32_t seed = 100; seed < 120; ++seed) CompareRandomly(seed, 2000, 12);
}

TEST(ShardedLruCacheModel, AgreesWithRoomForAll) {
  for (uint32_t seed = 200; seed < 205; ++seed)
    CompareRandomly(seed, 1 << 20, 20);
}

}  // namespace
}  // namespace rowbloom::cache
