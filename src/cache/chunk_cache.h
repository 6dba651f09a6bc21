// SPDX-License-Identifier: Apache-2.0
//
// The interface between the library's readers and its own cache, beyond
// FilterCache: slots, through which lookups find a chunk without a lock, chunks
// that know their value, and the ledger of loads.

#ifndef ROWBLOOM_CACHE_CHUNK_CACHE_H_
#define ROWBLOOM_CACHE_CHUNK_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "cache/load_ledger.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::cache {

// Lookups find it through a slot: it is a ChunkValue, or a part of one.
class Visible {
 protected:
  ~Visible() = default;
};

// A value that can be found through a slot. It is destroyed when it is neither
// cached nor held, and no thread can see it through a slot.
class ChunkValue : public FilterCache::Value, public Visible {
 public:
  // Only Shrink() changes it.
  virtual const Visible* visible() const { return this; }
  // The bytes of data reads that the value's least useful part saves, for each
  // of that part's bytes and for each lookup; 0 or more. Among candidates for
  // eviction the cache takes the lowest, and a value of unknown worth first.
  static constexpr double kUnknownWorth = -1;
  virtual double Worth() const { return kUnknownWorth; }
  // Gives up that part: returns it with its charge, at least one byte, and with
  // what was visible() before, if that changes. The cache destroys both once no
  // thread can see them. nullptr if there is no part to give up: the cache then
  // evicts the entry.
  //
  // The cache calls these under its lock, on entries that no handle holds but
  // that threads may be reading through a slot: they are short, and call no
  // cache.
  virtual std::unique_ptr<FilterCache::Value> Shrink(size_t* freed_bytes) {
    *freed_bytes = 0;
    return nullptr;
  }
};

// A pointer into a cached value that lookups read without the cache's lock,
// under an EpochGuard and without calling a cache meanwhile. Its owner lends it
// to one entry at a time, and an entry has one slot at most.
struct Slot {
  std::atomic<const Visible*> visible{nullptr};
  // Lookups set it if it is false; the cache clears it.
  std::atomic<bool> used{false};
};

// The room that a cache has for an entry.
struct Room {
  // The largest charge that evicts nothing, and the largest beside the entries
  // that are pinned now.
  size_t free_bytes = 0;
  size_t max_charge_bytes = 0;
  // The price of memory beyond free_bytes, per byte: the Worth() of recently
  // evicted parts, halved with each half-life of the ledger.
  double price = 0;
};

class ChunkCache {
 public:
  // Inserts a ChunkValue as FilterCache::Insert() does. The cache keeps `slot`
  // pointed at it until the entry leaves it or DropSlot() returns.
  virtual FilterCache::Handle* InsertChunk(
      const FilterCacheKey& key, std::unique_ptr<FilterCache::Value>* value,
      const FilterCache::EntryOptions& options, Slot* slot) = 0;
  // Looks up as FilterCache::Lookup() does, but counts nothing: readers count
  // by samples.
  virtual FilterCache::Handle* LookupChunk(const FilterCacheKey& key) = 0;
  // If a held entry has no slot, calls take(its value) under the cache's lock
  // and gives it this one. The value is a ChunkValue, even if it was inserted
  // by Insert().
  virtual void AdoptChunk(FilterCache::Handle* handle,
                          const std::function<void(ChunkValue*)>& take,
                          Slot* slot) = 0;
  // Takes this slot from the entry under this key, if the entry has it.
  virtual void DropSlot(const FilterCacheKey& key, Slot* slot) = 0;

  virtual Room RoomFor(const FilterCacheKey& key) const = 0;

  // Counts files that have slots. The cache's destructor checks that none is
  // left.
  virtual void AddFile(int delta) = 0;
  // Counts memory of readers for which the cache had no room.
  virtual void AddIndexBytesOutside(int64_t delta) = 0;

 protected:
  ~ChunkCache() = default;
};

// The private side of a FilterCache.
class Access {
 public:
  // nullptr for an engine's own cache.
  static ChunkCache* ChunkCacheOf(FilterCache* cache) {
    return cache->chunk_cache();
  }
  // Shared, because values may outlive an engine's cache.
  static const std::shared_ptr<LoadLedger>& LedgerOf(const FilterCache& cache) {
    return cache.ledger_;
  }
};

}  // namespace rowbloom::cache

#endif  // ROWBLOOM_CACHE_CHUNK_CACHE_H_
