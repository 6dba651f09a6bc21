// SPDX-License-Identifier: Apache-2.0
//
// An engine's own block cache in the place of the library's: one budget for
// data blocks and filter chunks.
//
//   class BlockCacheBridge final : public HostCache { ... };
//   std::unique_ptr<FilterCache> cache =
//       NewHostedCache(std::make_unique<BlockCacheBridge>(&block_cache));
//   options.cache = cache.get();  // As any other FilterCache.
//
// examples/block_cache_bridge does it for RocksDB's. Through such a cache every
// lookup calls Lookup() and Release(), and chunks are loaded and evicted whole.
//
// An exception that leaves a function of it ends the process (std::terminate).
// Any number of threads call all functions at once.

#ifndef ROWBLOOM_HOST_CACHE_H_
#define ROWBLOOM_HOST_CACHE_H_

#include <cstdint>
#include <memory>

#include "rowbloom/export.h"
#include "rowbloom/filter_cache.h"

namespace ROWBLOOM_EXPORT rowbloom {

class HostCache {
 public:
  using Value = FilterCache::Value;
  // Opaque. Each cache casts its own type to it and back.
  using Handle = FilterCache::Handle;
  using EntryOptions = FilterCache::EntryOptions;

  HostCache() = default;
  // All handles have been released.
  virtual ~HostCache() = default;
  HostCache(const HostCache&) = delete;
  HostCache& operator=(const HostCache&) = delete;

  // These promise what FilterCache says of them. Values may be destroyed later
  // than the cache. The engine chooses what an Insert() evicts, and whether it
  // refuses one that does not fit.
  virtual Handle* Lookup(const FilterCacheKey& key) = 0;
  virtual Handle* Insert(const FilterCacheKey& key,
                         std::unique_ptr<Value>* value,
                         const EntryOptions& options) = 0;
  virtual Value* ValueOf(Handle* handle) const = 0;
  virtual void Release(Handle* handle) = 0;
  virtual void Erase(const FilterCacheKey& key) = 0;
  virtual void EraseFile(uint64_t file_id) = 0;
  // The engine reports what it knows. Readers use the capacity: loads of so
  // many bytes are free.
  virtual FilterCache::Usage GetUsage() const = 0;
};

// `host` must not be null (checked). The engine sets the capacity:
// SetCapacity() of this cache does nothing.
std::unique_ptr<FilterCache> NewHostedCache(std::unique_ptr<HostCache> host);

}  // namespace rowbloom

#endif  // ROWBLOOM_HOST_CACHE_H_
