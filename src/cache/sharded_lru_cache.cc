// SPDX-License-Identifier: Apache-2.0

#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "cache/chunk_cache.h"
#include "cache/lru_shard.h"
#include "rowbloom/filter_cache.h"
#include "util/check.h"

namespace rowbloom {
namespace {

using cache::ChunkValue;
using cache::Entry;
using cache::HashedKey;
using cache::LruShard;
using cache::Slot;

constexpr int kMaxChosenShardBits = 6;
// An entry must fit into its shard: 64 chunks of the default size do.
constexpr size_t kMinChosenShardSize = 8 << 20;

// File ids and chunk numbers are sequential: every bit has to be mixed. The
// table uses the low bits first, the choice of shard the high ones.
HashedKey HashKey(const FilterCacheKey& key) {
  static_assert(std::has_unique_object_representations_v<FilterCacheKey>);
  return {key, XXH3_64bits(&key, sizeof(key))};
}

int ShardBits(const ShardedLruCacheOptions& options) {
  RB_CHECK_MSG(
      options.shard_bits >= -1 &&
          options.shard_bits <= ShardedLruCacheOptions::kMaxShardBits,
      "NewShardedLruCache(): shard_bits must be -1 (chosen) or 0 to 16");
  if (options.shard_bits >= 0) return options.shard_bits;
  int bits = 0;
  while (bits < kMaxChosenShardBits &&
         options.capacity_bytes >> (bits + 1) >= kMinChosenShardSize) {
    ++bits;
  }
  return bits;
}

// The handle that callers see for an entry. EntryOf() is the inverse.
FilterCache::Handle* HandleOf(Entry* entry) {
  return reinterpret_cast<FilterCache::Handle*>(entry);
}

Entry* EntryOf(FilterCache::Handle* handle) {
  return reinterpret_cast<Entry*>(handle);
}

class ShardedLruCache final : public FilterCache, public cache::ChunkCache {
 public:
  explicit ShardedLruCache(const ShardedLruCacheOptions& options)
      : shard_bits_(ShardBits(options)), shards_(size_t{1} << shard_bits_) {
    for (LruShard& shard : shards_) shard.Init(&ledger());
    ShardedLruCache::SetCapacity(options.capacity_bytes);
  }
  ~ShardedLruCache() override {
    RB_CHECK_MSG(file_count_.load() == 0,
                 "a FilterCache is destroyed before a FilterReader or an "
                 "HFileReader that uses it; declare the cache first");
  }

  Handle* Lookup(const FilterCacheKey& key) override {
    const HashedKey hashed = HashKey(key);
    return HandleOf(ShardOf(hashed).Lookup(hashed, /*counts=*/true));
  }

  Handle* Insert(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                 const EntryOptions& options) override {
    return InsertChunk(key, value, options, nullptr);
  }

  Handle* InsertChunk(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                      const EntryOptions& options, Slot* slot) override {
    const HashedKey hashed = HashKey(key);
    return HandleOf(ShardOf(hashed).Insert(hashed, value, options, slot));
  }

  Value* ValueOf(Handle* handle) const override {
    return EntryOf(handle)->value.get();
  }

  void Release(Handle* handle) override {
    Entry* entry = EntryOf(handle);
    ShardOf(entry->key).Release(entry);
  }

  void Erase(const FilterCacheKey& key) override {
    const HashedKey hashed = HashKey(key);
    ShardOf(hashed).Erase(hashed);
  }

  void EraseFile(uint64_t file_id) override {
    for (LruShard& shard : shards_) shard.EraseFile(file_id);
  }

  Handle* LookupChunk(const FilterCacheKey& key) override {
    const HashedKey hashed = HashKey(key);
    return HandleOf(ShardOf(hashed).Lookup(hashed, /*counts=*/false));
  }

  void AdoptChunk(Handle* handle, const std::function<void(ChunkValue*)>& take,
                  Slot* slot) override {
    Entry* entry = EntryOf(handle);
    ShardOf(entry->key).Adopt(entry, take, slot);
  }

  void DropSlot(const FilterCacheKey& key, Slot* slot) override {
    const HashedKey hashed = HashKey(key);
    ShardOf(hashed).DropSlot(hashed, slot);
  }

  void SetCapacity(size_t capacity_bytes) override {
    std::lock_guard<std::mutex> lock(resize_mutex_);
    ledger().GrantUpTo(capacity_bytes);
    capacity_bytes_.store(capacity_bytes, std::memory_order_relaxed);
    for (LruShard& shard : shards_) {
      shard.SetCapacity(capacity_bytes >> shard_bits_);
    }
  }

  Usage GetUsage() const override {
    Usage usage;
    usage.capacity_bytes = capacity_bytes_.load(std::memory_order_relaxed);
    usage.index_bytes_outside = static_cast<size_t>(
        index_bytes_outside_.load(std::memory_order_relaxed));
    for (const LruShard& shard : shards_) shard.AddUsage(&usage);
    const uint64_t lookups = ledger().lookups();
    const uint64_t misses = std::min(lookups, ledger().misses());
    usage.hits += lookups - misses;
    usage.misses += misses;
    return usage;
  }

  void AddFile(int delta) override { file_count_.fetch_add(delta); }
  void AddIndexBytesOutside(int64_t delta) override {
    index_bytes_outside_.fetch_add(delta, std::memory_order_relaxed);
  }

  cache::Room RoomFor(const FilterCacheKey& key) const override {
    return ShardOf(HashKey(key)).RoomForEntry();
  }

 private:
  ChunkCache* chunk_cache() override { return this; }
  cache::LoadLedger& ledger() const { return *cache::Access::LedgerOf(*this); }
  const LruShard& ShardOf(const HashedKey& key) const {
    return const_cast<ShardedLruCache*>(this)->ShardOf(key);
  }
  LruShard& ShardOf(const HashedKey& key) {
    // Shifts in two steps, because a shift by 64 is undefined.
    return shards_[key.hash >> 1 >> (63 - shard_bits_)];
  }

  const int shard_bits_;
  std::mutex resize_mutex_;  // Gives all shards the same call's capacity.
  std::atomic<size_t> capacity_bytes_{0};
  std::atomic<int> file_count_{0};
  std::atomic<int64_t> index_bytes_outside_{0};
  std::vector<LruShard> shards_;
};

}  // namespace

std::unique_ptr<FilterCache> NewShardedLruCache(
    const ShardedLruCacheOptions& options) {
  return std::make_unique<ShardedLruCache>(options);
}

}  // namespace rowbloom
