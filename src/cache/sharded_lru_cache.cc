// SPDX-License-Identifier: Apache-2.0

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <memory>
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
      : capacity_bytes_(options.capacity_bytes),
        shard_bits_(ShardBits(options)),
        shards_(size_t{1} << shard_bits_) {
    for (LruShard& shard : shards_) {
      shard.SetCapacity(capacity_bytes_ >> shard_bits_);
    }
  }

  Handle* Lookup(const FilterCacheKey& key) override {
    const HashedKey hashed = HashKey(key);
    return HandleOf(ShardOf(hashed).Lookup(hashed));
  }

  Handle* Insert(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                 size_t charge_bytes) override {
    const HashedKey hashed = HashKey(key);
    return HandleOf(ShardOf(hashed).Insert(hashed, value, charge_bytes));
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

  Usage GetUsage() const override {
    Usage usage;
    usage.capacity_bytes = capacity_bytes_;
    for (const LruShard& shard : shards_) shard.AddUsage(&usage);
    return usage;
  }

 private:
  LruShard& ShardOf(const HashedKey& key) {
    // In two steps, for a shift by 64 has no meaning.
    return shards_[key.hash >> 1 >> (63 - shard_bits_)];
  }

  const size_t capacity_bytes_;
  const int shard_bits_;
  std::vector<LruShard> shards_;
};

}  // namespace

std::unique_ptr<FilterCache> NewShardedLruCache(
    const ShardedLruCacheOptions& options) {
  return std::make_unique<ShardedLruCache>(options);
}

}  // namespace rowbloom
