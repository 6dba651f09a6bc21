// SPDX-License-Identifier: Apache-2.0
//
// One shard of the filter cache: a table of entries, least recently used
// first out, behind one mutex. It owns no threads and does no I/O.
//
// Values are destroyed outside the mutex, so that their destructors may take
// long, or use the cache.

#ifndef ROWBLOOM_CACHE_LRU_SHARD_H_
#define ROWBLOOM_CACHE_LRU_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
// Not absl::Mutex: ThreadSanitizer sees its locks only if Abseil itself was
// built for it, which a distribution's is not.
#include <mutex>

#include "absl/container/flat_hash_set.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::cache {

// A key with its hash, computed once for the choice of shard and the table.
struct HashedKey {
  FilterCacheKey key;
  uint64_t hash;
};

// The link of a circular list whose head is a Link alone.
struct Link {
  Link* next = nullptr;
  Link* prev = nullptr;
};

// What a handle points to.
//
//                  in table   in lru list   handles
//   idle              yes         yes          0
//   held              yes         no          > 0
//   detached          no          no          > 0
//
// Insert() makes a held one; the last Release() makes it idle; eviction takes
// idle ones only. Erase() and replacement detach what is held. An entry in
// none of these states is destroyed.
struct Entry : Link {
  HashedKey key{};
  std::unique_ptr<FilterCache::Value> value;
  size_t charge_bytes = 0;  // kEntryOverheadBytes included.
  uint32_t handle_count = 0;
  bool in_table = false;
};

// The entry and its slot in the table: a pointer and a control byte, twice,
// since a table that has just grown is half empty.
inline constexpr size_t kEntryOverheadBytes =
    sizeof(Entry) + 2 * (sizeof(void*) + 1);

// Aligned so that neighbours' mutexes are not on one cache line.
class alignas(64) LruShard {
 public:
  LruShard();
  // Holding a handle beyond it is the caller's mistake (checked).
  ~LruShard();
  LruShard(const LruShard&) = delete;
  LruShard& operator=(const LruShard&) = delete;

  // Before any other call.
  void SetCapacity(size_t capacity_bytes) { capacity_bytes_ = capacity_bytes; }

  // As FilterCache's.
  Entry* Lookup(const HashedKey& key);
  Entry* Insert(const HashedKey& key,
                std::unique_ptr<FilterCache::Value>* value,
                size_t charge_bytes);
  void Release(Entry* entry);
  void Erase(const HashedKey& key);

  // Adds everything but the capacity to *usage.
  void AddUsage(FilterCache::Usage* usage) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(const HashedKey& k) const { return k.hash; }
    size_t operator()(const Entry* e) const { return e->key.hash; }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Entry* a, const Entry* b) const { return a == b; }
    bool operator()(const Entry* e, const HashedKey& k) const {
      return e->key.key == k.key;
    }
    bool operator()(const HashedKey& k, const Entry* e) const {
      return e->key.key == k.key;
    }
  };

  // These need mutex_. An entry that dies is pushed on *dead, through `next`,
  // and is deleted by DeleteAll() after the mutex was released.
  void Hold(Entry* entry);
  void TakeFromTable(Entry* entry, Link** dead);
  void Bury(Entry* entry, Link** dead);
  static void DeleteAll(Link* dead);

  size_t capacity_bytes_ = 0;

  mutable std::mutex mutex_;  // Guards all below.
  absl::flat_hash_set<Entry*, Hash, Equal> table_;
  Link lru_;  // lru_.next was released longest ago.
  // Over entries in any of the three states; only `capacity_bytes`, which is
  // the whole cache's, is not used.
  FilterCache::Usage usage_;
};

}  // namespace rowbloom::cache

#endif  // ROWBLOOM_CACHE_LRU_SHARD_H_
