// SPDX-License-Identifier: Apache-2.0
//
// One shard of the filter cache: a table of entries and the lists by which
// they are evicted, behind one mutex. It owns no threads and does no I/O.
//
// Values are destroyed outside the mutex, so that their destructors may take
// long, or use the cache. A filter that a thread may see through a shortcut is
// destroyed when its epoch has passed, by a later call if need be.

#ifndef ROWBLOOM_CACHE_LRU_CACHE_H_
#define ROWBLOOM_CACHE_LRU_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
// Not absl::Mutex: ThreadSanitizer sees its locks only if Abseil itself was
// built for it, which a distribution's is not.
#include <mutex>

#include "absl/container/flat_hash_set.h"
#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::internal::cache {

// A key with its hash, computed once for the choice of shard and the table.
struct HashedKey {
  FilterCacheKey key;
  uint64_t hash;
};

// The link of a circular list whose head is a Link alone.
struct Link {
  Link* next = this;
  Link* prev = this;
};

struct LruList;

// A cache entry; a handle is a pointer to one.
//
//                  in table   in LRU list   handles   in retired list
//   idle              yes       yes (*)        0            no
//   held              yes         no          > 0           no
//   detached          no          no          > 0           no
//   retired           no          no           0            yes
//
// Insert() makes a held entry; the last Release() makes it idle; eviction takes
// idle entries only. Erase() and replacement detach held entries. An entry in
// none of these states is destroyed. (*) Entries of priority kPinned are in no
// LRU list.
//
// A filter that a smaller one has replaced is a retired entry of its own, with
// the charge of what was given up.
struct Entry : Link {
  HashedKey key{};
  std::unique_ptr<FilterCache::Value> value;
  size_t charge_bytes = 0;               // kEntryOverheadBytes included.
  const CachedFilter* filter = nullptr;  // The value, if it is one.
  Shortcut* shortcut = nullptr;
  LruList* list = nullptr;
  uint64_t epoch = 0;  // The epoch that ended when it left the table.
  uint32_t handle_count = 0;
  FilterCachePriority priority = FilterCachePriority::kNormal;
  FilterCacheRole role = FilterCacheRole::kOther;
  bool in_table = false;
  bool had_shortcut = false;
  bool was_found = false;  // Set by a lookup.
};

// The entry and its place in the table: a pointer and a control byte, twice,
// since a table that has just grown is half empty.
inline constexpr size_t kEntryOverheadBytes =
    sizeof(Entry) + 2 * (sizeof(void*) + 1);

// Idle entries in order of use.
struct LruList {
  Link head;  // head.next was used longest ago.
  size_t charge_bytes = 0;
};

// Dead entries, linked by `next`. A list declared before a lock outlives it.
class DeadList {
 public:
  DeadList() = default;
  ~DeadList();
  DeadList(const DeadList&) = delete;
  DeadList& operator=(const DeadList&) = delete;

  void Add(Entry* entry) {
    entry->next = first_;
    first_ = entry;
  }

 private:
  Link* first_ = nullptr;
};

// Aligned so that neighbours' mutexes are not on one cache line.
class alignas(64) LruShard {
 public:
  LruShard() = default;
  // Holding a handle beyond it is the caller's mistake (checked).
  ~LruShard();
  LruShard(const LruShard&) = delete;
  LruShard& operator=(const LruShard&) = delete;

  // Comes before any other call. `ledger` is the cache's.
  void Init(const LoadLedger* ledger) { ledger_ = ledger; }

  // See FilterCache::Lookup(); `counts`: as a hit or a miss.
  Entry* Lookup(const HashedKey& key, bool counts);
  // These are the methods of FilterCache and ChunkCache. `filter` is *value if
  // that is a filter, else nullptr.
  Entry* Insert(const HashedKey& key,
                std::unique_ptr<FilterCache::Value>* value,
                const FilterCache::EntryOptions& options,
                const CachedFilter* filter, Shortcut* shortcut);
  void Release(Entry* entry);
  void Erase(const HashedKey& key);
  void EraseFile(uint64_t file_id);
  void Adopt(Entry* entry, const std::function<void(CachedFilter*)>& take,
             Shortcut* shortcut);
  void DropShortcut(const HashedKey& key, const Shortcut* shortcut);
  void ChargeReader(size_t bytes);
  void DropReader(size_t bytes);
  void SetCapacity(size_t capacity_bytes);

  // Adds everything but the capacity to *usage.
  void AddUsage(FilterCache::Usage* usage) const;
  Room RoomForEntry() const;

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
  enum ListName { kProbation, kProtected, kListCount };

  // These need mutex_.
  // True if the charge fits beside used_bytes. Subtracts, since a sum could
  // overflow.
  bool Fits(size_t charge_bytes, size_t used_bytes) const {
    return used_bytes <= capacity_bytes_ &&
           charge_bytes <= capacity_bytes_ - used_bytes;
  }
  void Account(Entry* entry);
  void SetShortcut(Entry* entry, Shortcut* shortcut);
  void Hold(Entry* entry);
  void TakeFromTable(Entry* entry, DeadList* dead);
  // The last step of an entry: dead at once if it never had a shortcut, else
  // when FreeRetired() finds that no thread can see it.
  void Retire(Entry* entry, DeadList* dead);
  void Free(Entry* entry, DeadList* dead);
  void FreeRetired(DeadList* dead);
  // Links the entry into the list for used entries.
  void LinkUsed(Entry* entry);
  void LimitProtected();
  struct Victim {
    Entry* entry = nullptr;
    double worth = 0;
  };
  Victim ChooseVictim();
  bool EvictOne(DeadList* dead);
  // Evicts until charge_bytes will fit once all retired entries are freed.
  void MakeRoom(size_t charge_bytes, DeadList* dead);
  // The same, and frees them. False if lookups may still see too many.
  bool FreeRoom(size_t charge_bytes, DeadList* dead);
  // Charges readers as far as there is room; chunks keep half of the capacity.
  // Returns false if some are outside.
  bool ChargeReaders(DeadList* dead);
  size_t& RoleBytes(FilterCacheRole role) {
    return usage_.role_bytes[static_cast<size_t>(role)];
  }
  double PriceNow() const;

  const LoadLedger* ledger_ = nullptr;
  mutable std::mutex mutex_;  // Guards all below.
  size_t capacity_bytes_ = 0;
  absl::flat_hash_set<Entry*, Hash, Equal> table_;
  std::array<LruList, kListCount> lists_;  // In the order of eviction.
  Link retired_;                           // retired_.next retired longest ago.
  size_t retired_bytes_ = 0;
  size_t reader_bytes_ = 0;  // All open readers, and the charged part.
  size_t charged_bytes_ = 0;
  // Covers entries in all states; `capacity_bytes`, which is the whole cache's,
  // is not used.
  FilterCache::Usage usage_;
  double price_ = 0;  // At the last eviction.
  LoadLedger::Moment priced_;
};

}  // namespace rowbloom::internal::cache

#endif  // ROWBLOOM_CACHE_LRU_CACHE_H_
