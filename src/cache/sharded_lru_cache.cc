// SPDX-License-Identifier: Apache-2.0

#include <xxhash.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "cache/lru_shard.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom {
namespace {

using cache::Entry;
using cache::HashedKey;
using cache::LruShard;

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
  RB_CHECK(options.shard_bits >= -1 &&
           options.shard_bits <= ShardedLruCacheOptions::kMaxShardBits);
  if (options.shard_bits >= 0) return options.shard_bits;
  int bits = 0;
  while (bits < kMaxChosenShardBits &&
         options.capacity_bytes >> (bits + 1) >= kMinChosenShardSize) {
    ++bits;
  }
  return bits;
}

// Entry* in, the handle that callers see out. The way back is EntryOf().
FilterCache::Handle* HandleOf(Entry* entry) {
  return reinterpret_cast<FilterCache::Handle*>(entry);
}

Entry* EntryOf(FilterCache::Handle* handle) {
  return reinterpret_cast<Entry*>(handle);
}

class ShardedLruCache : public FilterCache {
 public:
  explicit ShardedLruCache(const ShardedLruCacheOptions& options)
      : shard_bits_(ShardBits(options)), shards_(size_t{1} << shard_bits_) {
    for (LruShard& shard : shards_) shard.Init(options.policy, &ledger());
    ShardedLruCache::SetCapacity(options.capacity_bytes);
  }

  Handle* Lookup(const FilterCacheKey& key, Hint* hint) override {
    const HashedKey hashed = HashKey(key);
    return HandleOf(ShardOf(hashed).Lookup(hashed, hint));
  }

  Handle* Insert(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                 const EntryOptions& options) override {
    const HashedKey hashed = HashKey(key);
    return HandleOf(ShardOf(hashed).Insert(hashed, value, options));
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

  void DropHint(const FilterCacheKey& key, Hint* hint) override {
    const HashedKey hashed = HashKey(key);
    ShardOf(hashed).DropHint(hashed, hint);
  }

  void SetCapacity(size_t capacity_bytes) override {
    std::lock_guard<std::mutex> lock(resize_mutex_);
    // Filling it once is what loads need not have paid for in advance.
    if (capacity_bytes > granted_bytes_) {
      ledger().Grant(capacity_bytes - granted_bytes_);
      granted_bytes_ = capacity_bytes;
    }
    capacity_bytes_.store(capacity_bytes, std::memory_order_relaxed);
    for (LruShard& shard : shards_) {
      shard.SetCapacity(capacity_bytes >> shard_bits_);
    }
  }

  Usage GetUsage() const override {
    Usage usage;
    usage.capacity_bytes = capacity_bytes_.load(std::memory_order_relaxed);
    for (const LruShard& shard : shards_) shard.AddUsage(&usage);
    return usage;
  }

  bool KeepsHints() const override { return true; }

  double Price(const FilterCacheKey& key, size_t charge_bytes) const override {
    return ShardOf(HashKey(key)).Price(charge_bytes);
  }

  size_t MaxChargeBytes(const FilterCacheKey& key) const override {
    return ShardOf(HashKey(key)).MaxChargeBytes();
  }

 private:
  const LruShard& ShardOf(const HashedKey& key) const {
    return const_cast<ShardedLruCache*>(this)->ShardOf(key);
  }
  LruShard& ShardOf(const HashedKey& key) {
    // In two steps, for a shift by 64 has no meaning.
    return shards_[key.hash >> 1 >> (63 - shard_bits_)];
  }

  const int shard_bits_;
  std::mutex resize_mutex_;  // So that all shards have one call's capacity.
  std::atomic<size_t> capacity_bytes_{0};
  size_t granted_bytes_ = 0;  // Guarded by resize_mutex_.
  std::vector<LruShard> shards_;
};

}  // namespace

std::unique_ptr<FilterCache> NewShardedLruCache(
    const ShardedLruCacheOptions& options) {
  return std::make_unique<ShardedLruCache>(options);
}

}  // namespace rowbloom
