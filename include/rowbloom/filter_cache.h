// SPDX-License-Identifier: Apache-2.0
//
// The cache of loaded filter chunks that many readers share, and the
// interface by which an engine can put its own block cache in its place.
//
//   std::unique_ptr<FilterCache> cache = NewShardedLruCache({64 << 20});
//   FilterReaderOptions options;
//   options.cache = cache.get();  // Must outlive every reader that uses it.
//
// Implementations may not throw: the library is built without exceptions.
//
// Handles: Lookup() and Insert() return a handle that keeps its value alive
// until Release(), also after the entry was erased or replaced. Entries that
// are held are never evicted. The cache must outlive all handles; destroying
// it before is the caller's mistake (checked by NewShardedLruCache's).
//
// All methods may be called on any number of threads. A lookup that hits
// allocates nothing and does no I/O. Errors: none but a refused Insert().

#ifndef ROWBLOOM_FILTER_CACHE_H_
#define ROWBLOOM_FILTER_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rowbloom {

// Names one chunk: the file's id (unique among the users of a cache; a reader
// takes one from NewFileId() unless the engine gives it) and its number.
struct FilterCacheKey {
  uint64_t file_id = 0;
  uint64_t chunk = 0;
};

inline bool operator==(const FilterCacheKey& a, const FilterCacheKey& b) {
  return a.file_id == b.file_id && a.chunk == b.chunk;
}

class FilterCache {
 public:
  // What an entry holds. Destroyed when it is neither cached nor held.
  class Value {
   public:
    virtual ~Value() = default;
  };
  struct Handle;  // Opaque; each cache defines its own.

  struct Usage {
    size_t capacity_bytes = 0;
    size_t usage_bytes = 0;    // All entries alive, held ones included.
    size_t pinned_bytes = 0;   // Entries held by a handle.
    uint64_t entry_count = 0;  // All entries alive, as in usage_bytes.
    uint64_t hits = 0;
    uint64_t misses = 0;
    uint64_t inserts = 0;     // Accepted ones.
    uint64_t evictions = 0;   // For want of room; not erased or replaced ones.
    uint64_t rejections = 0;  // Inserts refused for want of room.
  };

  virtual ~FilterCache() = default;

  // nullptr if absent.
  virtual Handle* Lookup(const FilterCacheKey& key) = 0;
  // Takes *value and returns a handle to it, evicting what is not held until
  // `charge_bytes`, and what the cache itself spends on an entry, fits. If it
  // cannot fit, returns nullptr, leaves *value with the caller and evicts
  // nothing. An entry under the same key is replaced.
  virtual Handle* Insert(const FilterCacheKey& key,
                         std::unique_ptr<Value>* value,
                         size_t charge_bytes) = 0;
  virtual Value* ValueOf(Handle* handle) const = 0;
  virtual void Release(Handle* handle) = 0;
  // Forgets the entry; those who hold it keep it.
  virtual void Erase(const FilterCacheKey& key) = 0;

  virtual Usage GetUsage() const = 0;

  // A process-wide unique file id, of 2^63 or more.
  static uint64_t NewFileId();
};

struct ShardedLruCacheOptions {
  static constexpr int kMaxShardBits = 16;

  // Never exceeded: usage counts held entries too, and an insert that would
  // exceed it is refused. Each shard owns an equal share, so an entry larger
  // than that is always refused. 0 refuses all.
  size_t capacity_bytes = 32 << 20;
  // 2^shard_bits shards, up to kMaxShardBits. -1: chosen so that a shard has
  // at least 8 MiB, at most 64 shards. An entry larger than a shard's share is
  // always refused.
  int shard_bits = -1;
};

// Least recently used by charge, split into independently locked shards. Use
// is counted from Release(): the entry whose last handle was released longest
// ago goes first. An entry counts for its charge and for its own overhead, its
// node and its slot in a hash table: about 80 bytes.
std::unique_ptr<FilterCache> NewShardedLruCache(
    const ShardedLruCacheOptions& options);

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_CACHE_H_
