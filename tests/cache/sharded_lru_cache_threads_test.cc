// SPDX-License-Identifier: Apache-2.0
//
// Many threads use a cache that is much too small for them: through handles,
// and through shortcuts as the library's readers do. The values themselves and
// the sanitizers detect a value that is destroyed too early.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "cache/lru_cache.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"
#include "testing/threads.h"
#include "util/epoch.h"

namespace rowbloom::internal::cache {
namespace {

constexpr uint64_t kSharedFiles = 4;
constexpr uint64_t kSharedKeys = 24;
constexpr size_t kPartCharge = 50;
constexpr size_t kParts = 3;
constexpr size_t kSharedCharge = 100 + kParts * kPartCharge;
constexpr size_t kSharedEntry = kSharedCharge + kEntryOverheadBytes;
constexpr int kThreads = 16;
constexpr int kRounds = 4000;

std::atomic<int64_t> live_values{0};

class Part {
 public:
  explicit Part(uint64_t key) : key_(key) { ++live_values; }
  ~Part() {
    key_ = ~uint64_t{0};
    --live_values;
  }
  uint64_t key() const { return key_; }

 private:
  uint64_t key_;
};

// A filter with parts that it gives up while threads may be reading them.
class Whole final : public CachedFilter {
 public:
  explicit Whole(uint64_t key) : core_(key) {
    for (size_t i = 0; i < kParts; ++i) {
      parts_.push_back(std::make_shared<const Part>(key));
    }
  }
  Whole(uint64_t key, std::vector<std::shared_ptr<const Part>> parts)
      : core_(key), parts_(std::move(parts)) {}
  double Worth() const override { return static_cast<double>(core_.key() % 4); }
  std::unique_ptr<CachedFilter> Shrunk(size_t* freed_bytes) const override {
    if (parts_.empty()) return nullptr;
    *freed_bytes = kPartCharge;
    return std::make_unique<Whole>(core_.key(),
                                   std::vector<std::shared_ptr<const Part>>(
                                       parts_.begin(), parts_.end() - 1));
  }
  bool AllAreOf(uint64_t key) const {
    for (const auto& part : parts_) {
      if (part->key() != key) return false;
    }
    return core_.key() == key;
  }

 private:
  const Part core_;
  std::vector<std::shared_ptr<const Part>> parts_;
};

struct Setting {
  int shard_bits = 0;
  size_t entries = 0;  // For which the cache has room.
  size_t max_handles = 0;
  bool resizes = false;
};

class CacheThreads : public ::testing::TestWithParam<Setting> {
 protected:
  struct Held {
    FilterCache::Handle* handle;
    uint64_t key;
  };

  static FilterCacheKey KeyOf(uint64_t key) {
    return {key % kSharedFiles, key / kSharedFiles};
  }
  ChunkCache& chunks() { return ChunkCache::Of(*cache_); }

  FilterCache::Handle* LookUp(uint64_t key) {
    FilterCache::Handle* handle = cache_->Lookup(KeyOf(key));
    ++(handle != nullptr ? hits_ : misses_);
    return handle;
  }
  FilterCache::Handle* Insert(uint64_t key, Shortcut* shortcut) {
    std::unique_ptr<CachedFilter> value = std::make_unique<Whole>(key);
    FilterCache::Handle* handle =
        chunks().InsertFilter(KeyOf(key), &value, {kSharedCharge}, shortcut);
    EXPECT_EQ(handle == nullptr, value != nullptr);
    ++(handle != nullptr ? inserts_ : rejections_);
    return handle;
  }
  // Reads through the shortcut, else from the cache, else inserts the chunk, as
  // the library's readers do.
  FilterCache::Handle* Read(uint64_t key, Shortcut* shortcut, bool replaces) {
    {
      const util::EpochGuard guard;
      if (const CachedFilter* filter = shortcut->filter.load()) {
        EXPECT_TRUE(static_cast<const Whole*>(filter)->AllAreOf(key));
        shortcut->used.store(true, std::memory_order_relaxed);
        ++seen_;
        return nullptr;
      }
    }
    FilterCache::Handle* handle = LookUp(key);
    if (handle != nullptr && replaces) {
      cache_->Release(handle);
      handle = nullptr;
    }
    return handle != nullptr ? handle : Insert(key, shortcut);
  }

  void Work(uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<Held> held;
    for (int i = 0; i < kRounds; ++i) {
      const uint64_t key = random() % kSharedKeys;
      const uint32_t operation = random() % 1000;
      FilterCache::Handle* handle = nullptr;
      if (operation < 700) {
        handle = Read(key, &shortcuts_[key], operation % 4 == 0);
      } else if (operation < 850) {
        handle = LookUp(key);
      } else if (operation < 940) {
        Shortcut brief;  // That of a reader that closes soon.
        handle = Read(key, &brief, operation % 2 == 0);
        chunks().DropShortcut(KeyOf(key), &brief);
        EXPECT_EQ(brief.filter, nullptr);
      } else if (operation < 990) {
        cache_->Erase(KeyOf(key));
      } else if (operation < 992) {
        cache_->EraseFile(key % kSharedFiles);
      } else if (GetParam().resizes) {
        cache_->SetCapacity(operation == 992 ? 0
                                             : capacity_ / (1 + random() % 4));
      }
      if (handle != nullptr) held.push_back({handle, key});
      for (const Held& h : held) {
        EXPECT_TRUE(static_cast<const Whole*>(cache_->ValueOf(h.handle))
                        ->AllAreOf(h.key));
      }
      while (held.size() > GetParam().max_handles) {
        const size_t victim = random() % held.size();
        cache_->Release(held[victim].handle);
        held[victim] = held.back();
        held.pop_back();
      }
    }
    for (const Held& h : held) cache_->Release(h.handle);
  }

  const size_t capacity_ = GetParam().entries * kSharedEntry;
  Shortcut shortcuts_[kSharedKeys];
  std::atomic<uint64_t> seen_{0};
  std::atomic<uint64_t> hits_{0}, misses_{0}, inserts_{0}, rejections_{0};
  const std::unique_ptr<FilterCache> cache_ =
      NewShardedLruCache({capacity_, GetParam().shard_bits});
};

TEST_P(CacheThreads, SeeOnlyLiveValuesWithinTheCapacityAndLoseNoCount) {
  testing::RunThreads(
      kThreads, [&](int t) { Work(static_cast<uint32_t>(t)); },
      [&] {
        const FilterCache::Usage usage = cache_->GetUsage();
        EXPECT_LE(usage.usage_bytes, capacity_);
        EXPECT_LE(usage.pinned_bytes, usage.usage_bytes);
        std::this_thread::yield();
      });
  FilterCache::Usage usage = cache_->GetUsage();
  EXPECT_GT(seen_, 0);
  EXPECT_EQ(usage.hits, hits_);
  EXPECT_EQ(usage.misses, misses_);
  EXPECT_EQ(usage.inserts, inserts_);
  EXPECT_EQ(usage.rejections, rejections_);
  EXPECT_GT(usage.evictions, 0);
  EXPECT_GT(usage.shrinks, 0);
  EXPECT_EQ(usage.pinned_bytes, 0);
  cache_->SetCapacity(0);  // No thread reads now: everything is freed at once.
  usage = cache_->GetUsage();
  EXPECT_EQ(usage.usage_bytes, 0);
  EXPECT_EQ(usage.entry_count, 0);
  EXPECT_EQ(live_values, 0);
}

// In the second and the last setting the threads hold more handles than the
// cache has room for.
INSTANTIATE_TEST_SUITE_P(Settings, CacheThreads,
                         ::testing::Values(Setting{0, 4, 1}, Setting{1, 12, 3},
                                           Setting{2, 8, 1},
                                           Setting{0, 10, 0, true},
                                           Setting{1, 10, 2, true}));

}  // namespace
}  // namespace rowbloom::internal::cache
