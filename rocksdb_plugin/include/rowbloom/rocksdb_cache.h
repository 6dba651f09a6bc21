// SPDX-License-Identifier: Apache-2.0
//
// rowbloom's filter readers over RocksDB's block cache: one budget for data
// blocks and filter chunks, and a model for a bridge to another engine's cache.
//
//   std::shared_ptr<rocksdb::Cache> block_cache = rocksdb::NewLRUCache(...);
//   std::unique_ptr<FilterCache> cache = NewRocksDbCacheBridge(block_cache);
//   if (cache == nullptr) return;  // RocksDB is of another release.
//   FilterReaderOptions options;
//   options.cache = cache.get();
//
// What to evict, when, and whether the capacity is strict is RocksDB's choice.
// High and low priority are its own; what is pinned is held. SetCapacity() sets
// the capacity of its cache. EraseFile() and the bridge's destructor look at
// all of its entries. Hints are ignored and values do not shrink.
//
// Usage is that of the bridge's entries, with RocksDB's capacity; it does not
// say what is pinned by handles, evicted or shrunk.
//
// The bridge keeps the cache alive, and must outlive its handles. Values may
// outlive the bridge, in RocksDB's cache: this library must stay loaded.

#ifndef ROWBLOOM_ROCKSDB_CACHE_H_
#define ROWBLOOM_ROCKSDB_CACHE_H_

#include <memory>

#include "rocksdb/cache.h"
#include "rocksdb/status.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_cache.h"

namespace ROWBLOOM_EXPORT rowbloom {

// Several bridges may share a cache: each sees its own entries only. Keys have
// 16 bytes, as RocksDB's own do, and are never one of those. NewLRUCache()'s
// and HyperClockCache accept them; a cache that refuses them refuses every
// insert.
//
// HyperClockCache evicts at inserts alone, so after SetCapacity() it shrinks
// with the inserts that follow. If it was made with an estimated_entry_charge,
// that should be the average of blocks and filter chunks: it bounds the number
// of entries.
//
// nullptr if the loaded RocksDB is of another release than rowbloom was
// compiled for (rocksdb.h); *error, if given, names both.
std::unique_ptr<FilterCache> NewRocksDbCacheBridge(
    std::shared_ptr<ROCKSDB_NAMESPACE::Cache> cache,
    ROCKSDB_NAMESPACE::Status* error = nullptr);

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_CACHE_H_
