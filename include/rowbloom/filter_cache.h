// SPDX-License-Identifier: Apache-2.0
//
// The cache of loaded filter chunks that many readers share. Only the library
// makes caches: NewShardedLruCache() one of its own, NewHostedCache() one that
// keeps its entries in an engine's block cache (host_cache.h).
//
//   std::unique_ptr<FilterCache> cache = NewShardedLruCache({64 << 20});
//   FilterReaderOptions options;
//   options.cache = cache.get();  // Must outlive every reader that uses it.
//
// Handles: Lookup() and Insert() return a handle that keeps its value alive
// until Release(), even if the entry is erased or replaced meanwhile. Entries
// with a handle are never evicted. The cache must outlive its handles and its
// readers, which is checked when it is destroyed (handles: by the library's
// own).
//
// Readers find chunks in NewShardedLruCache()'s cache without its lock, so an
// evicted chunk is freed when no lookup can still see it. A thread that is
// stopped during a lookup (SIGSTOP, a debugger) delays the freeing of every
// chunk that leaves any cache of the process, and inserts for which there is no
// room are refused meanwhile. The same happens for good if a seccomp filter
// that is set after the library was loaded denies membarrier(2): allow it, or
// set the filter before. Usage::retired_bytes then stays above 0.
//
// A child of fork() may go on with caches and readers, unless another thread
// held one of their locks at that moment: it stays locked in the child. Lookups
// of chunks in memory and loads that wait for I/O hold none.
//
// All methods may be called on any number of threads. A lookup that hits
// allocates nothing and does no I/O. The only error is a refused Insert().

#ifndef ROWBLOOM_FILTER_CACHE_H_
#define ROWBLOOM_FILTER_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "rowbloom/export.h"

namespace rowbloom::internal::cache {
class CachedChunks;
class ChunkCache;
}  // namespace rowbloom::internal::cache

namespace ROWBLOOM_EXPORT rowbloom {

// Names one chunk: the file's id and the chunk's number. The id is unique among
// all users of the cache, other stores and entries of the engine's own
// included; a reader takes one from NewFileId() unless the engine gives it.
struct FilterCacheKey {
  uint64_t file_id = 0;
  uint64_t chunk = 0;
};

inline bool operator==(const FilterCacheKey& a, const FilterCacheKey& b) {
  return a.file_id == b.file_id && a.chunk == b.chunk;
}

// The kinds of entries that Usage::role_bytes tells apart.
enum class FilterCacheRole : uint8_t {
  kChunk,  // Filter chunks.
  kIndex,  // Open readers, their chunk indexes above all.
  kOther,  // The engine's own.
  kCount,
};

enum class FilterCachePriority : uint8_t {
  kNormal,  // Evicted when room is needed.
  kPinned,  // Never evicted; stays until it is erased or replaced.
};

enum class FilterAnswer : uint8_t {
  kNo,           // The file does not hold the key.
  kMaybe,        // Read the file.
  kNotInMemory,  // A load would answer, or would make a "maybe" more precise.
};

class FilterCache {
 public:
  // The object that an entry holds. Destroyed when it is neither cached nor
  // held by a handle.
  class Value {
   public:
    virtual ~Value() = default;

   private:
    // Tells the values of readers apart; nullptr for all others.
    virtual const void* internal_kind() const { return nullptr; }
    friend class internal::cache::CachedChunks;
  };
  struct Handle;  // Opaque.

  struct EntryOptions {
    size_t charge_bytes = 0;
    FilterCachePriority priority = FilterCachePriority::kNormal;
    FilterCacheRole role = FilterCacheRole::kOther;
  };

  struct Usage {
    size_t capacity_bytes = 0;
    // All entries and parts of entries that are not freed yet, with the cache's
    // own overhead.
    size_t usage_bytes = 0;
    // Entries held by a handle or of priority pinned, and open readers.
    size_t pinned_bytes = 0;
    // Bytes that were evicted, erased or given up, but are not freed because a
    // lookup may still see them. If this stays above 0, rejections grow: see
    // above.
    size_t retired_bytes = 0;
    // Open readers beyond half of the capacity of their shard, with their
    // indexes, or those that an engine's cache refuses. They are in memory
    // beside usage_bytes. If this is above 0, the cache is small for so many
    // readers.
    size_t index_bytes_outside = 0;
    // The memory in which chunks of 1 KiB to 2 MiB lie and are loaded, with
    // free room of at most a sixteenth of the capacity, or 2 MiB, and what is
    // free of pages that chunks share. 0 for NewHostedCache(). Chunks of HFiles
    // lie on the heap.
    size_t resident_bytes = 0;
    // Entries of usage_bytes; a part counts as one, a reader is none.
    uint64_t entry_count = 0;
    std::array<size_t, static_cast<size_t>(FilterCacheRole::kCount)>
        role_bytes{};  // Their sum is usage_bytes.
    // Lookups that found their entry, or did not: those by Lookup(), and those
    // of FilterReaders, of which one in 16 is counted, as 16. Lookups of
    // HFileReaders are not counted.
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t inserts = 0;     // Accepted ones.
    uint64_t evictions = 0;   // To make room; not erased or replaced ones.
    uint64_t shrinks = 0;     // Parts of chunks given up to make room.
    uint64_t rejections = 0;  // Inserts, and readers, without room.

    // One `name value` line for each number.
    std::string ToString() const;
  };

  virtual ~FilterCache() = default;
  FilterCache(const FilterCache&) = delete;
  FilterCache& operator=(const FilterCache&) = delete;

  // nullptr if absent.
  virtual Handle* Lookup(const FilterCacheKey& key) = 0;
  // Takes *value and returns a handle to it, evicting entries without a handle
  // until there is room for the charge and the cache's overhead of an entry. An
  // entry under the same key is replaced.
  //
  // Returns nullptr, and leaves *value with the caller, if held and pinned
  // entries leave no room for it; nothing is evicted then. It also does so if
  // lookups may still see what was evicted for it: Insert() never waits for
  // them.
  virtual Handle* Insert(const FilterCacheKey& key,
                         std::unique_ptr<Value>* value,
                         const EntryOptions& options) = 0;
  virtual Value* ValueOf(Handle* handle) const = 0;
  virtual void Release(Handle* handle) = 0;
  // Removes the entry; handles keep its value alive.
  virtual void Erase(const FilterCacheKey& key) = 0;
  // Removes all entries of a file, in time that may grow with the number of
  // entries in the cache. If the chunks of a file are known, Erase() each.
  virtual void EraseFile(uint64_t file_id) = 0;
  // Shrinking at once evicts what it can. Held and pinned entries beyond the
  // new capacity stay, and inserts are refused until they are gone.
  virtual void SetCapacity(size_t capacity_bytes) = 0;
  virtual Usage GetUsage() const = 0;

  // A process-wide unique file id, of 2^63 or more, for a caller's own entries.
  // Readers use ids of engines, which are below 2^63, or make one.
  static uint64_t NewFileId();

 private:
  friend class internal::cache::ChunkCache;  // The only one that derives from
                                             // it.
  FilterCache() = default;
};

struct ShardedLruCacheOptions {
  static constexpr int kMaxShardBits = 16;

  // No insert makes usage_bytes exceed it, held entries included; after
  // SetCapacity() those may. Each shard owns an equal share, so an entry larger
  // than that share is always refused. 0 refuses all. Not included are
  // Usage::index_bytes_outside, the bytes of loads and prefetches under way,
  // and counters (filter_reader.h).
  size_t capacity_bytes = 32 << 20;
  // 2^shard_bits shards, up to kMaxShardBits (checked). -1 chooses at most 64
  // shards of at least 8 MiB each. SetCapacity() does not change their number.
  int shard_bits = -1;
  // Asks the system for huge pages (madvise) if the capacity is at least 64
  // MiB: lookups in large filters then find addresses faster. Memory is
  // resident by 2 MiB.
  bool huge_pages = true;
};

// Split into independently locked shards, each a segmented LRU: an entry enters
// on probation, one that Lookup() finds again is protected, and protected
// entries beyond 80% of the shard go back on probation. Entries on probation
// are evicted first, so a sweep over cold files does not empty the cache.
// Readers' chunks stay on probation and are evicted by value: of the 32 oldest,
// the one that saves the fewest reads per byte gives up a part or is evicted.
// An entry is charged for its own overhead too, its node and its slot in a hash
// table: about 120 bytes.
std::unique_ptr<FilterCache> NewShardedLruCache(
    const ShardedLruCacheOptions& options);

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_CACHE_H_
