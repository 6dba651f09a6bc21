// SPDX-License-Identifier: Apache-2.0
//
// Filter chunks in RocksDB's block cache: one budget for data blocks and filter
// chunks. It is the model for a HostCache over another engine's cache.
//
//   std::shared_ptr<rocksdb::Cache> block_cache = rocksdb::NewLRUCache(...);
//   auto cache = rowbloom::NewBlockCacheBridge(block_cache);
//   rowbloom::FilterReaderOptions options;
//   options.cache = cache.get();
//
// RocksDB chooses what to evict and when, and whether the capacity is strict.
// Chunks have its high priority, as its own filter blocks have by default; the
// bridge holds a handle to each pinned entry. EraseFile() and the destructor
// visit all entries of RocksDB's cache.
//
// GetUsage() reports the bridge's entries and RocksDB's capacity, which
// SetCapacity() of RocksDB's cache changes. It cannot report pinned bytes of
// handles, nor evictions.
//
// The bridge keeps the cache alive and must outlive its handles. Evicted values
// may outlive the bridge.

#ifndef ROWBLOOM_EXAMPLES_BLOCK_CACHE_BRIDGE_BLOCK_CACHE_BRIDGE_H_
#define ROWBLOOM_EXAMPLES_BLOCK_CACHE_BRIDGE_BLOCK_CACHE_BRIDGE_H_

#include <memory>

#include "rocksdb/cache.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom {

// Several bridges may share a cache: each sees only its own entries. Keys have
// 16 bytes and are never those of RocksDB's blocks.
//
// HyperClockCache evicts only at inserts, so after its SetCapacity() it shrinks
// with the next inserts. Its estimated_entry_charge, if set, limits the number
// of entries: give the average of blocks and filter chunks.
std::unique_ptr<FilterCache> NewBlockCacheBridge(
    std::shared_ptr<rocksdb::Cache> cache);

}  // namespace rowbloom

#endif  // ROWBLOOM_EXAMPLES_BLOCK_CACHE_BRIDGE_BLOCK_CACHE_BRIDGE_H_
