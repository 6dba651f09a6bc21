// SPDX-License-Identifier: Apache-2.0
//
// Whole filters in RocksDB's block cache. An unpartitioned filter is one block.
// If the cache cannot hold it, each lookup that asks it reads it again.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_WHOLE_FILTERS_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_WHOLE_FILTERS_H_

#include <cstdint>
#include <string>

#include "rdb.h"

namespace ROCKSDB_NAMESPACE {
class Cache;
struct BlockBasedTableOptions;
struct ColumnFamilyOptions;
}  // namespace ROCKSDB_NAMESPACE

namespace rowbloom::plugin {

struct BlockCacheSize {
  uint64_t capacity_bytes = 0;
  // A block that is larger leaves the cache when its last reader does.
  uint64_t shard_bytes = 0;
};
BlockCacheSize SizeOf(const rdb::Cache& block_cache);

// True if the block cache holds unpartitioned filters and may evict them:
// SSTs keep theirs after partition_filters is set.
bool EvictsWholeFilters(const rdb::BlockBasedTableOptions& table_options);

// The options that keep the block cache from evicting whole filters.
std::string WholeFilterRemedy();

// A warning if the filter of one SST can outgrow a shard of the block cache,
// else empty. `bits_per_key` are those of a filter key.
std::string WarnOfWholeFilters(const rdb::ColumnFamilyOptions& options,
                               const rdb::BlockBasedTableOptions& table_options,
                               double bits_per_key);

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_WHOLE_FILTERS_H_
