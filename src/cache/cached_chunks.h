// SPDX-License-Identifier: Apache-2.0
//
// The chunks of one file in a cache: a shortcut to each, through which lookups
// find its filter without the cache's lock, and a pause before its next load.
//
//   {
//     const util::EpochGuard guard;   // Call no cache under it.
//     if (const CachedFilter* filter = chunks.Find(chunk)) ...
//   }
//   if (FilterCache::Handle* handle = chunks.Lookup(chunk)) ...

#ifndef ROWBLOOM_CACHE_CACHED_CHUNKS_H_
#define ROWBLOOM_CACHE_CACHED_CHUNKS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "cache/load_rules.h"
#include "rowbloom/filter_cache.h"
#include "util/check.h"

namespace rowbloom::internal::cache {

class ChunkBytes;
class ChunkMemory;
class LoadLedger;

// The filter of a chunk as a cache keeps it. It does not change while threads
// read it. It is destroyed when it is neither cached nor held, and no thread
// can see it through a shortcut.
class CachedFilter : public FilterCache::Value {
 public:
  // The bytes of data reads that the filter's least useful part saves, for each
  // of that part's bytes and for each lookup; 0 or more. Among candidates for
  // eviction the cache takes the lowest, and a filter of unknown worth first.
  static constexpr double kUnknownWorth = -1;
  // The internal_kind() of filters of this class.
  template <typename Filter>
  static const void* KindOf() {
    static constexpr char kKind = 0;
    return &kKind;
  }
  virtual double Worth() const { return kUnknownWorth; }
  // Returns the same filter without that part, and sets *freed_bytes to the
  // part's charge, at least one byte: the cache then puts the smaller filter in
  // this one's place. If there is no such part it returns nullptr, and the
  // cache evicts the entry.
  //
  // The cache calls these under its lock, on entries that no handle holds but
  // that threads may be reading: they are short, and call no cache.
  virtual std::unique_ptr<CachedFilter> Shrunk(size_t* /*freed_bytes*/) const {
    return nullptr;
  }
};

// A pointer to a cached filter that lookups read without the cache's lock,
// under an EpochGuard and without calling a cache meanwhile. Its owner lends it
// to one entry at a time, and an entry has one shortcut at most.
struct Shortcut {
  std::atomic<const CachedFilter*> filter{nullptr};
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

// Every FilterCache is a ChunkCache: beside the functions that users see it
// knows filters, which lookups find without a lock, and the ledger of loads.
class ChunkCache : public FilterCache {
 public:
  explicit ChunkCache(std::unique_ptr<ChunkMemory> memory = nullptr);
  // Checks that no file is left.
  ~ChunkCache() override;
  static ChunkCache& Of(FilterCache& cache) {
    return static_cast<ChunkCache&>(cache);
  }

  Handle* Lookup(const FilterCacheKey& key) final {
    return FindEntry(key, /*counts=*/true);
  }
  Handle* Insert(const FilterCacheKey& key, std::unique_ptr<Value>* value,
                 const EntryOptions& options) final {
    RB_CHECK(value != nullptr && *value != nullptr &&
                 options.role < FilterCacheRole::kCount,
             "FilterCache::Insert(): there is no value, or no such role");
    return InsertEntry(key, value, options, nullptr, nullptr);
  }
  // Inserts as Insert() does. The cache keeps the shortcut, if there is one,
  // pointed at the filter until the entry leaves it or DropShortcut() returns.
  Handle* InsertFilter(const FilterCacheKey& key,
                       std::unique_ptr<CachedFilter>* filter,
                       const EntryOptions& options, Shortcut* shortcut) {
    const CachedFilter* const raw = filter->get();
    std::unique_ptr<Value> value = std::move(*filter);
    Handle* const handle = InsertEntry(key, &value, options, raw, shortcut);
    filter->reset(static_cast<CachedFilter*>(value.release()));
    return handle;
  }
  // Inserts a chunk of a file and releases it. The filter is destroyed if there
  // is no room.
  void PutChunk(const FilterCacheKey& key, std::unique_ptr<CachedFilter> filter,
                size_t charge_bytes, FilterCachePriority priority,
                Shortcut* shortcut) {
    Handle* const handle = InsertFilter(
        key, &filter, {charge_bytes, priority, FilterCacheRole::kChunk},
        shortcut);
    if (handle != nullptr) Release(handle);
  }
  // Looks up as Lookup() does, but counts nothing: readers count by samples.
  Handle* LookupFilter(const FilterCacheKey& key) {
    return FindEntry(key, /*counts=*/false);
  }
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
  // Charges the memory that an open reader takes beside its chunks, its index
  // above all. Chunks keep half of the cache: beyond the other half readers
  // count as Usage::index_bytes_outside. `reader` tells it from others until
  // DropReader() of the same bytes.
  virtual void ChargeReader(const void* reader, size_t bytes) = 0;
  virtual void DropReader(const void* reader, size_t bytes) = 0;
  LoadLedger& ledger() const { return *ledger_; }
  // Where chunks lie; nullptr for the heap.
  ChunkMemory* memory() const { return memory_.get(); }
  // Shared, because values may outlive an engine's cache.
  const std::shared_ptr<LoadLedger>& shared_ledger() const { return ledger_; }

 protected:
  // See Lookup(); `counts`: as a hit or a miss.
  virtual Handle* FindEntry(const FilterCacheKey& key, bool counts) = 0;
  // `filter` is *value if that is a filter, else nullptr.
  virtual Handle* InsertEntry(const FilterCacheKey& key,
                              std::unique_ptr<Value>* value,
                              const EntryOptions& options,
                              const CachedFilter* filter,
                              Shortcut* shortcut) = 0;

 private:
  const std::shared_ptr<LoadLedger> ledger_;
  const std::unique_ptr<ChunkMemory> memory_;
  std::atomic<int> file_count_{0};
};

struct CachedChunksOptions {
  FilterCache* cache = nullptr;
  uint64_t file_id = 0;
  // No other reader uses the id: the chunks leave the cache with this object.
  bool owns_file_id = false;
  // Tells the filters of one file apart.
  uint8_t filter_number = 0;
  FilterCachePriority priority = FilterCachePriority::kNormal;
};

// Any number of threads may call it. The cache must outlive it; the cache
// checks this.
class CachedChunks {
 public:
  CachedChunks(const CachedChunksOptions& options, size_t chunk_count)
      : cache_(ChunkCache::Of(*options.cache)),
        file_id_(options.file_id),
        size_(static_cast<uint32_t>(chunk_count)),
        filter_number_(options.filter_number),
        priority_(options.priority),
        owns_file_id_(options.owns_file_id) {
    RB_DCHECK(chunk_count == size_);  // Parsers take a GiB of index.
    if (size_ > 1) chunks_ = new Chunk[size_];
    cache_.AddFile(1);
  }
  ~CachedChunks();
  CachedChunks(const CachedChunks&) = delete;
  CachedChunks& operator=(const CachedChunks&) = delete;

  size_t size() const { return size_; }
  uint64_t file_id() const { return file_id_; }
  ChunkCache& cache() const { return cache_; }
  // The bytes of the heap that it takes.
  size_t memory_bytes() const {
    return size() > 1 ? size() * sizeof(Chunk) : 0;
  }

  // nullptr unless the cache holds the chunk's filter, and this file has put it
  // there or taken it over. The caller is under an EpochGuard.
  const CachedFilter* Find(size_t chunk) {
    Shortcut& shortcut = chunks_[chunk];
    const CachedFilter* filter =
        shortcut.filter.load(std::memory_order_seq_cst);
    // A load first: the cache line then stays shared among cores.
    if (filter != nullptr && !shortcut.used.load(std::memory_order_relaxed)) {
      shortcut.used.store(true, std::memory_order_relaxed);
    }
    return filter;
  }
  // True if Find() would find a filter.
  bool Has(size_t chunk) const {
    return chunks_[chunk].filter.load() != nullptr;
  }
  // The filter under the chunk's key, no matter who put it there; nullptr if
  // the cache has no filter of this class there. Release() the handle.
  template <typename Filter>
  FilterCache::Handle* Lookup(size_t chunk) const {
    FilterCache::Handle* const handle = cache_.LookupFilter(KeyOf(chunk));
    if (handle == nullptr) return nullptr;
    const FilterCache::Value* const value = cache_.ValueOf(handle);
    if (value != nullptr &&
        value->internal_kind() == CachedFilter::KindOf<Filter>()) {
      return handle;
    }
    cache_.Release(handle);
    return nullptr;
  }
  const CachedFilter& FilterOf(FilterCache::Handle* handle) const {
    return static_cast<const CachedFilter&>(*cache_.ValueOf(handle));
  }
  void Release(FilterCache::Handle* handle) const { cache_.Release(handle); }
  // Takes over a filter that the caller holds, unless it has a shortcut
  // already: calls take(filter) under the cache's lock and points the chunk's
  // shortcut at it.
  void Adopt(size_t chunk, FilterCache::Handle* handle,
             const std::function<void(CachedFilter*)>& take) {
    cache_.AdoptFilter(handle, take, &chunks_[chunk]);
  }
  // The filter is destroyed if the cache has no room.
  void Put(size_t chunk, std::unique_ptr<CachedFilter> filter,
           size_t charge_bytes) {
    cache_.PutChunk(KeyOf(chunk), std::move(filter), charge_bytes, priority_,
                    &chunks_[chunk]);
  }
  Room RoomFor(size_t chunk) const { return cache_.RoomFor(KeyOf(chunk)); }

  // Pauses keep lookups from trying a load that failed or did not pay a moment
  // ago. A pause lasts for a number of lookups of the chunk.
  static constexpr uint32_t kForever = ~uint32_t{0};
  void Pause(size_t chunk, uint32_t lookups) {
    chunks_[chunk].pause.store(lookups, std::memory_order_relaxed);
  }
  // Returns true while a pause lasts, and counts one of its lookups.
  bool IsPausedCountingDown(size_t chunk) {
    std::atomic<uint32_t>& pause = chunks_[chunk].pause;
    uint32_t left = pause.load(std::memory_order_relaxed);
    if (left == 0) return false;
    // A failure means that another lookup counted, or that the pause changed.
    if (left != kForever) {
      pause.compare_exchange_weak(left, left - 1, std::memory_order_relaxed);
    }
    return true;
  }
  bool IsPaused(size_t chunk) const {
    return chunks_[chunk].pause.load(std::memory_order_relaxed) > 0;
  }
  // False if there is a pause already.
  bool PauseUnlessPaused(size_t chunk, uint32_t lookups) {
    uint32_t none = 0;
    return chunks_[chunk].pause.compare_exchange_strong(none, lookups);
  }
  // Makes the calling thread the one that loads the chunk: others find a pause
  // until it calls EndLoad(), PauseAfterFailure() or Pause(). False if there is
  // a pause already.
  bool Claim(size_t chunk) {
    return PauseUnlessPaused(chunk, LoadRules::kLoadingPause);
  }
  void EndLoad(size_t chunk) {
    chunks_[chunk].failures.store(0, std::memory_order_relaxed);
    Pause(chunk, 0);
  }
  // The next lookup after a first failure tries again at once: the fault may
  // have passed.
  void PauseAfterFailure(size_t chunk);

 private:
  // Lookups of a chunk in memory do not write. A base, so that its last bytes
  // are used as well.
  struct Chunk : Shortcut {
    std::atomic<uint8_t> failures{0};  // In a row.
    std::atomic<uint32_t> pause{0};
  };

  FilterCacheKey KeyOf(size_t chunk) const {
    return {file_id_, uint64_t{filter_number_} << 32 | chunk};
  }

  ChunkCache& cache_;
  const uint64_t file_id_;
  const uint32_t size_;
  const uint8_t filter_number_;
  const FilterCachePriority priority_;
  const bool owns_file_id_;
  Chunk only_;
  Chunk* chunks_ = &only_;  // An array on the heap if there are more.
};

inline CachedChunks::~CachedChunks() {
  for (size_t i = 0; i < size(); ++i) {
    if (owns_file_id_) {
      cache_.Erase(KeyOf(i));
    } else {
      cache_.DropShortcut(KeyOf(i), &chunks_[i]);
    }
  }
  if (chunks_ != &only_) delete[] chunks_;
  cache_.AddFile(-1);
}

inline void CachedChunks::PauseAfterFailure(size_t chunk) {
  std::atomic<uint8_t>& failures = chunks_[chunk].failures;
  const uint32_t count =
      std::min(failures.load(std::memory_order_relaxed) + uint32_t{1},
               LoadRules::kMaxFailures);
  failures.store(static_cast<uint8_t>(count), std::memory_order_relaxed);
  Pause(chunk, (1u << count) - 2);
}

}  // namespace rowbloom::internal::cache

#endif  // ROWBLOOM_CACHE_CACHED_CHUNKS_H_
