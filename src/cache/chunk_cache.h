// SPDX-License-Identifier: Apache-2.0
//
// Every FilterCache is a ChunkCache: beside the functions that users see it
// knows filters, which lookups find without a lock, and the ledger of loads.

#ifndef ROWBLOOM_CACHE_CHUNK_CACHE_H_
#define ROWBLOOM_CACHE_CHUNK_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::cache {

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

class ChunkCache : public FilterCache {
 public:
  explicit ChunkCache(const LoadRules& rules)
      : ledger_(std::make_shared<LoadLedger>(rules)) {}
  // Checks that no file is left.
  ~ChunkCache() override;
  static ChunkCache& Of(FilterCache& cache) {
    return static_cast<ChunkCache&>(cache);
  }

  // Inserts as Insert() does. The cache keeps the shortcut, if there is one,
  // pointed at the filter until the entry leaves it or DropShortcut() returns.
  virtual Handle* InsertFilter(const FilterCacheKey& key,
                               std::unique_ptr<CachedFilter>* filter,
                               const EntryOptions& options,
                               Shortcut* shortcut) = 0;
  // Looks up as Lookup() does, but counts nothing: readers count by samples.
  virtual Handle* LookupFilter(const FilterCacheKey& key) = 0;
  // If a held filter has no shortcut, calls take(it) under the cache's lock and
  // gives it this one.
  virtual void AdoptFilter(Handle* handle,
                           const std::function<void(CachedFilter*)>& take,
                           Shortcut* shortcut) = 0;
  // Takes this shortcut from the entry under this key, if the entry has it.
  virtual void DropShortcut(const FilterCacheKey& key, Shortcut* shortcut) = 0;
  virtual Room RoomFor(const FilterCacheKey& key) const = 0;

  // Counts files that have shortcuts.
  virtual void AddFile(int delta) { file_count_.fetch_add(delta); }
  // Counts memory of readers for which the cache had no room.
  void AddIndexBytesOutside(int64_t delta) {
    index_bytes_outside_.fetch_add(delta, std::memory_order_relaxed);
  }
  LoadLedger& ledger() const { return *ledger_; }
  // Shared, because values may outlive an engine's cache.
  const std::shared_ptr<LoadLedger>& shared_ledger() const { return ledger_; }

 protected:
  size_t index_bytes_outside() const {
    return static_cast<size_t>(
        index_bytes_outside_.load(std::memory_order_relaxed));
  }

 private:
  const std::shared_ptr<LoadLedger> ledger_;
  std::atomic<int> file_count_{0};
  std::atomic<int64_t> index_bytes_outside_{0};
};

}  // namespace rowbloom::cache

#endif  // ROWBLOOM_CACHE_CHUNK_CACHE_H_
