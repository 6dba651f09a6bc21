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
// it before is the caller's mistake (checked by NewShardedLruCache's). It must
// also outlive every use of a hint.
//
// An entry that a thread may still see through a hint is freed later. A thread
// that is stopped during a lookup (SIGSTOP, a debugger) delays the freeing of
// every entry that leaves any cache of the process, and inserts for which there
// is no room are refused meanwhile. The same happens for good if a seccomp
// filter that is set after the library was loaded denies membarrier(2): allow
// it, or set the filter before. Usage::retired_bytes then stays above 0.
//
// A child of fork() may go on with caches and readers, unless another thread
// held one of their locks at that moment: it stays locked in the child. Lookups
// of chunks in memory and loads that wait for I/O hold none.
//
// All methods may be called on any number of threads. A lookup that hits
// allocates nothing and does no I/O. Errors: none but a refused Insert().

#ifndef ROWBLOOM_FILTER_CACHE_H_
#define ROWBLOOM_FILTER_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "rowbloom/export.h"
#include "rowbloom/filter_ledger.h"

namespace ROWBLOOM_EXPORT rowbloom {

// Names one chunk: the file's id (unique among the users of a cache; a reader
// takes one from NewFileId() unless the engine gives it) and its number.
struct FilterCacheKey {
  uint64_t file_id = 0;
  uint64_t chunk = 0;
};

inline bool operator==(const FilterCacheKey& a, const FilterCacheKey& b) {
  return a.file_id == b.file_id && a.chunk == b.chunk;
}

// What an entry is, for the accounts.
enum class FilterCacheRole : uint8_t {
  kChunk,  // Filter chunks.
  kIndex,  // Readers' chunk indexes, which stay as long as the reader.
  kMemo,   // Remembered false positives.
  kOther,  // The engine's own.
  kCount,
};
// As in `chunk`.
std::string_view FilterCacheRoleName(FilterCacheRole role);

enum class FilterCachePriority : uint8_t {
  kLow,     // Evicted first.
  kHigh,    // Evicted when no entry of low priority is left to evict.
  kPinned,  // Never evicted; stays until it is erased or replaced.
};

class FilterCache {
 public:
  // What an entry holds. Destroyed when it is neither cached nor held, and no
  // thread can see it through a hint.
  class Value {
   public:
    virtual ~Value() = default;

    // For values that know how much they are used. What their least useful
    // part is worth per byte, in a unit that all values of a cache share; 0 or
    // more. Those worth least go first, whenever they were used; before them
    // go values that do not know, by age.
    static constexpr double kUnknownWorth = -1;
    virtual double Worth() const { return kUnknownWorth; }
    // Gives up that part, at least one byte of charge: returns it, to be
    // destroyed when no thread can see it through a hint, and its charge. null
    // if there is no part to give up: the entry is then evicted.
    //
    // Both are called under the cache's lock, on entries that no handle holds
    // but that threads may be reading through a hint: short, and without calls
    // into the cache.
    virtual std::unique_ptr<Value> Shrink(size_t* freed_bytes) {
      *freed_bytes = 0;
      return nullptr;
    }
  };
  struct Handle;  // Opaque; each cache defines its own.

  // A way to the value without the cache's lock, owned by the caller and kept
  // by at most one entry, which keeps at most one. Only the library's readers
  // can use it (their loads are guarded by an epoch, and they call no cache
  // meanwhile); a cache of an engine ignores it.
  struct Hint {
    std::atomic<Value*> value{nullptr};
    // Set by lookups that find it false, cleared by the cache.
    std::atomic<bool> used{false};
  };

  struct EntryOptions {
    size_t charge_bytes = 0;
    FilterCachePriority priority = FilterCachePriority::kLow;
    FilterCacheRole role = FilterCacheRole::kOther;
    // Points to the value as long as it is cached. Must outlive the entry, or
    // be taken back by DropHint().
    Hint* hint = nullptr;
  };

  struct Usage {
    size_t capacity_bytes = 0;
    // All that is alive: held ones, and until no thread can see them through a
    // hint, evicted ones and parts given up, included.
    size_t usage_bytes = 0;
    size_t pinned_bytes = 0;  // Entries held by a handle or of priority pinned.
    // Evicted, erased or given up, and not freed because a thread may still
    // see it through a hint. If it stays above 0, rejections grow: see above.
    size_t retired_bytes = 0;
    uint64_t entry_count = 0;  // As in usage_bytes; such a part counts as one.
    std::array<size_t, static_cast<size_t>(FilterCacheRole::kCount)>
        role_bytes{};   // Of usage_bytes.
    uint64_t hits = 0;  // Of Lookup(); hints are not counted.
    uint64_t misses = 0;
    uint64_t inserts = 0;     // Accepted ones.
    uint64_t evictions = 0;   // For want of room; not erased or replaced ones.
    uint64_t shrinks = 0;     // Parts given up for want of room.
    uint64_t rejections = 0;  // Inserts refused for want of room.

    // One `name value` line for each.
    std::string ToString() const;
  };

  virtual ~FilterCache() = default;

  // nullptr if absent. `hint`, if given, becomes the entry's if it has none:
  // not for those who have to look at the value first to know it for theirs.
  virtual Handle* Lookup(const FilterCacheKey& key, Hint* hint = nullptr) = 0;
  // Takes *value and returns a handle to it, evicting what is not held until
  // the charge, and what the cache itself spends on an entry, fits. An entry
  // under the same key is replaced.
  //
  // Refused, with nullptr and *value left with the caller, if what is held or
  // pinned leaves no room for it: nothing is evicted then. Also refused if
  // threads may still see, through hints, what was evicted for it: it never
  // waits for them.
  virtual Handle* Insert(const FilterCacheKey& key,
                         std::unique_ptr<Value>* value,
                         const EntryOptions& options) = 0;
  virtual Value* ValueOf(Handle* handle) const = 0;
  virtual void Release(Handle* handle) = 0;
  // Forgets the entry; those who hold it keep it.
  virtual void Erase(const FilterCacheKey& key) = 0;
  // Forgets all entries of a file, in time that may grow with the number of all
  // entries of the cache. For a file whose chunks are known, Erase() each.
  virtual void EraseFile(uint64_t file_id) = 0;
  // The entry under this key, if it has this hint, has none from now on. When
  // this returns, the cache no longer touches the hint.
  virtual void DropHint(const FilterCacheKey& key, Hint* hint) = 0;

  // Shrinking evicts at once what it can. What is held or pinned beyond it
  // stays, and until it is gone inserts are refused.
  virtual void SetCapacity(size_t capacity_bytes) = 0;

  virtual Usage GetUsage() const = 0;
  // What room for this entry costs, for each byte: 0 if it is free, else the
  // Worth() of what had to go of late for others, of which half is forgotten in
  // each era of lookups.
  virtual double Price(const FilterCacheKey& key, size_t charge_bytes) const {
    (void)key, (void)charge_bytes;
    return 0;
  }
  // The largest charge that this entry can have, as much as may be pinned now.
  virtual size_t MaxChargeBytes(const FilterCacheKey& key) const {
    (void)key;
    return SIZE_MAX;
  }
  // Whether Insert() sets hints.
  virtual bool KeepsHints() const { return false; }

  // The account of the chunks that readers keep in this cache.
  FilterLedger& ledger() { return *ledger_; }
  // For values that may outlive the cache.
  const std::shared_ptr<FilterLedger>& shared_ledger() const { return ledger_; }

  // A process-wide unique file id, of 2^63 or more: for entries of one's own.
  // Readers take those of engines, which are below, or make one.
  static uint64_t NewFileId();

 private:
  const std::shared_ptr<FilterLedger> ledger_ =
      std::make_shared<FilterLedger>();
};

struct ShardedLruCacheOptions {
  static constexpr int kMaxShardBits = 16;

  // Never exceeded: usage counts held entries too, and an insert that would
  // exceed it is refused. Each shard owns an equal share, so an entry larger
  // than that is always refused. 0 refuses all.
  size_t capacity_bytes = 32 << 20;
  // 2^shard_bits shards, up to kMaxShardBits. -1: chosen so that a shard has
  // at least 8 MiB, at most 64 shards. SetCapacity() does not change it.
  int shard_bits = -1;
  // How a shard chooses what to evict. Either way entries of low priority go
  // before those of high.
  enum class Policy : uint8_t {
    // Segmented LRU: an entry enters on probation; one that is used again is
    // protected, and what is protected beyond 80% of the shard is on probation
    // again, the least recently used first. Entries on probation go first. One
    // sweep over cold files thus passes through a fifth of the cache, and does
    // not empty it.
    kScanResistant,
    kPlainLru,  // The entry that was used longest ago goes first.
  };
  Policy policy = Policy::kScanResistant;
};

// Split into independently locked shards. An entry is used by its last
// Release() and by what sets its hint's `used`, which the cache looks at when
// the entry's turn to go has come. Of the up to 32 entries whose turn it is
// the one with the least Worth(), then the oldest, gives up a part or goes;
// those that are worth more count as just entered. An entry counts for its
// charge and for its own overhead, its node and its slot in a hash table: about
// 120 bytes.
std::unique_ptr<FilterCache> NewShardedLruCache(
    const ShardedLruCacheOptions& options);

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_CACHE_H_
