// SPDX-License-Identifier: Apache-2.0

#include "block_cache_bridge.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "rocksdb/version.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/host_cache.h"
// Deleters moved into helpers in 7.10, the class into a header of its own
// in 8.0.
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

namespace rowbloom {
namespace {

using rocksdb::Cache;
using rocksdb::Slice;

// The bridge's id in this cache, the file's id, and the chunk's number.
using BridgeKey = std::array<uint64_t, 3>;

// The key in RocksDB's cache: 16 bytes, since HyperClockCache accepts no other
// size. RocksDB's own keys (its cache_key.h) begin with a word that is not 0,
// or with 0 and an id that counts up from 1 or down from 2^64-1. The bridge
// takes ids from 2^63 to 2^63 + 2^62. They hold a hash, so two bridge keys may
// share one; entries hold the bridge key too, and lookups compare it.
class EngineKey {
 public:
  explicit EngineKey(const BridgeKey& key)
      : words_{0,
               kFirst | DigestBytes({reinterpret_cast<const char*>(key.data()),
                                     sizeof(key)})
                                .value >>
                            2} {}
  Slice slice() const {
    return {reinterpret_cast<const char*>(words_.data()), sizeof(words_)};
  }
  static bool IsOne(const Slice& slice) {
    std::array<uint64_t, 2> words;
    if (slice.size() != sizeof(words)) return false;
    std::memcpy(words.data(), slice.data(), sizeof(words));
    return words[0] == 0 && words[1] >> 62 == kFirst >> 62;
  }

 private:
  static constexpr uint64_t kFirst = uint64_t{1} << 63;
  std::array<uint64_t, 2> words_;
};

constexpr size_t kRoleCount = static_cast<size_t>(FilterCacheRole::kCount);

// Shared with the entries, which may outlive the bridge.
struct Totals {
  std::array<std::atomic<size_t>, kRoleCount> role_bytes{};
  std::atomic<uint64_t> entry_count{0};
  std::atomic<uint64_t> hits{0};
  std::atomic<uint64_t> misses{0};
  std::atomic<uint64_t> inserts{0};
  std::atomic<uint64_t> rejections{0};
};

// The object in RocksDB's cache.
struct Entry {
  BridgeKey key{};
  std::unique_ptr<FilterCache::Value> value;
  size_t charge_bytes = 0;
  FilterCacheRole role = FilterCacheRole::kOther;
  std::shared_ptr<Totals> totals;
};

void Delete(void* object) {
  const std::unique_ptr<Entry> entry(static_cast<Entry*>(object));
  entry->totals->role_bytes[static_cast<size_t>(entry->role)] -=
      entry->charge_bytes;
  --entry->totals->entry_count;
}

bool InsertInto(Cache* cache, const Slice& key, Entry* entry,
                Cache::Handle** handle) {
#if ROCKSDB_MAJOR > 7 || (ROCKSDB_MAJOR == 7 && ROCKSDB_MINOR >= 10)
  static const Cache::CacheItemHelper deleter(
      rocksdb::CacheEntryRole::kMisc,
      [](void* object, rocksdb::MemoryAllocator*) { Delete(object); });
  return cache
      ->Insert(key, entry, &deleter, entry->charge_bytes, handle,
               Cache::Priority::HIGH)
      .ok();
#else
  const auto deleter = [](const Slice&, void* object) { Delete(object); };
  return cache
      ->Insert(key, entry, entry->charge_bytes, deleter, handle,
               Cache::Priority::HIGH)
      .ok();
#endif
}

class BlockCacheBridge final : public HostCache {
 public:
  explicit BlockCacheBridge(std::shared_ptr<Cache> cache)
      : cache_(std::move(cache)), id_(cache_->NewId()) {}
  ~BlockCacheBridge() override {
    EraseIf([](const BridgeKey&) { return true; });
  }

  Handle* Lookup(const FilterCacheKey& key) override {
    Cache::Handle* handle = cache_->Lookup(EngineKey(KeyOf(key)).slice());
    if (handle != nullptr && EntryOf(handle).key != KeyOf(key)) {
      cache_->Release(handle);
      handle = nullptr;
    }
    ++(handle != nullptr ? totals_->hits : totals_->misses);
    return HandleOf(handle);
  }

  Handle* Insert(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                 const EntryOptions& options) override {
    const EngineKey engine_key(KeyOf(key));
    auto entry = std::make_unique<Entry>();
    entry->key = KeyOf(key);
    entry->value = std::move(*value);
    entry->charge_bytes = options.charge_bytes + sizeof(Entry);
    entry->role = options.role;
    entry->totals = totals_;
    // HyperClockCache keeps an existing entry, where LRUCache replaces it.
    cache_->Erase(engine_key.slice());
    Cache::Handle* handle = nullptr;
    if (options.charge_bytes > SIZE_MAX - sizeof(Entry) ||
        !InsertInto(cache_.get(), engine_key.slice(), entry.get(), &handle)) {
      *value = std::move(entry->value);
      ++totals_->rejections;
      return nullptr;
    }
    ++totals_->inserts;
    ++totals_->entry_count;
    totals_->role_bytes[static_cast<size_t>(entry->role)] +=
        entry->charge_bytes;
    static_cast<void>(entry.release());  // RocksDB's cache owns it.

    const bool is_pinned = options.priority == FilterCachePriority::kPinned;
    if (is_pinned) cache_->Ref(handle);
    Pin(KeyOf(key), is_pinned ? handle : nullptr);
    return HandleOf(handle);
  }

  Value* ValueOf(Handle* handle) const override {
    return EntryOf(HandleOf(handle)).value.get();
  }
  void Release(Handle* handle) override { cache_->Release(HandleOf(handle)); }
  void Erase(const FilterCacheKey& key) override { Erase(KeyOf(key)); }
  void EraseFile(uint64_t file_id) override {
    EraseIf([file_id](const BridgeKey& key) { return key[1] == file_id; });
  }

  FilterCache::Usage GetUsage() const override {
    FilterCache::Usage usage;
    usage.capacity_bytes = cache_->GetCapacity();
    usage.entry_count = totals_->entry_count;
    for (size_t i = 0; i < kRoleCount; ++i) {
      usage.role_bytes[i] = totals_->role_bytes[i];
      usage.usage_bytes += usage.role_bytes[i];
    }
    usage.hits = totals_->hits;
    usage.misses = totals_->misses;
    usage.inserts = totals_->inserts;
    usage.rejections = totals_->rejections;
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [key, handle] : pinned_) {
      usage.pinned_bytes += EntryOf(handle).charge_bytes;
    }
    return usage;
  }

 private:
  static Handle* HandleOf(Cache::Handle* handle) {
    return reinterpret_cast<Handle*>(handle);
  }
  static Cache::Handle* HandleOf(Handle* handle) {
    return reinterpret_cast<Cache::Handle*>(handle);
  }
  BridgeKey KeyOf(const FilterCacheKey& key) const {
    return {id_, key.file_id, key.chunk};
  }
  Entry& EntryOf(Cache::Handle* handle) const {
    return *static_cast<Entry*>(cache_->Value(handle));
  }

  // Holds this handle, or none if it is nullptr, and releases the previous one.
  void Pin(const BridgeKey& key, Cache::Handle* handle) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (handle != nullptr) {
        std::swap(pinned_[key], handle);
      } else if (const auto it = pinned_.find(key); it != pinned_.end()) {
        handle = it->second;
        pinned_.erase(it);
      }
    }
    if (handle != nullptr) cache_->Release(handle);
  }

  void Erase(const BridgeKey& key) {
    Pin(key, nullptr);
    cache_->Erase(EngineKey(key).slice());
  }

  template <typename Condition>
  void EraseIf(const Condition& condition) {
    std::vector<BridgeKey> keys;
    // The last parameter's type depends on RocksDB's release.
    cache_->ApplyToAllEntries(
        [&](const Slice& slice, void* object, size_t /*charge*/,
            const auto& /*deleter*/) {
          if (!EngineKey::IsOne(slice)) return;
          const BridgeKey& key = static_cast<Entry*>(object)->key;
          if (key[0] == id_ && condition(key)) keys.push_back(key);
        },
        {});
    {
      // A thread may have erased an entry before another pinned it.
      std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [key, handle] : pinned_) {
        if (condition(key)) keys.push_back(key);
      }
    }
    for (const BridgeKey& key : keys) Erase(key);
  }

  const std::shared_ptr<Cache> cache_;
  const uint64_t id_;
  const std::shared_ptr<Totals> totals_ = std::make_shared<Totals>();
  mutable std::mutex mutex_;
  std::map<BridgeKey, Cache::Handle*> pinned_;
};

}  // namespace

std::unique_ptr<FilterCache> NewBlockCacheBridge(std::shared_ptr<Cache> cache) {
  return NewHostedCache(std::make_unique<BlockCacheBridge>(std::move(cache)));
}

}  // namespace rowbloom
