// SPDX-License-Identifier: Apache-2.0

#include "verify/whole_filters.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "block_cache.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace rowbloom::plugin {

namespace {

// Smaller average entries are too rare to warn of.
constexpr double kSmallEntryBytes = 32;

// RocksDB limits SSTs to this size (MutableCFOptions::RefreshDerivedOptions())
// at the last level that has filters. With dynamic level sizes they may be
// smaller there.
double LargestFileBytes(const rdb::ColumnFamilyOptions& options) {
  const int levels =
      options.num_levels - (options.optimize_filters_for_hits ? 1 : 0);
  return static_cast<double>(options.target_file_size_base) *
         std::pow(options.target_file_size_multiplier, std::max(levels - 2, 0));
}

std::string Whole(double value) {
  return absl::StrCat(static_cast<uint64_t>(std::min(value, 1e18)));
}

}  // namespace

BlockCacheSize SizeOf(const rdb::Cache& block_cache) {
  BlockCacheSize size;
  size.capacity_bytes = size.shard_bytes = block_cache.GetCapacity();
  // This text is the only place where RocksDB reports the number of shards.
  const std::string text = block_cache.GetPrintableOptions();
  const std::string name = "num_shard_bits : ";
  const size_t at = text.find(name);
  if (at == std::string::npos) return size;
  const int bits = std::atoi(text.c_str() + at + name.size());
  if (bits > 0 && bits < 32) size.shard_bytes >>= bits;
  return size;
}

bool EvictsWholeFilters(const rdb::BlockBasedTableOptions& table_options) {
  return table_options.filter_policy != nullptr &&
         table_options.cache_index_and_filter_blocks &&
         !table_options.no_block_cache &&
         table_options.metadata_cache_options.unpartitioned_pinning !=
             rdb::PinningTier::kAll;
}

std::string WholeFilterRemedy() {
  return "set partition_filters=true with index_type=kTwoLevelIndexSearch, "
         "metadata_cache_options.unpartitioned_pinning=kAll, or "
         "cache_index_and_filter_blocks=false";
}

std::string WarnOfWholeFilters(const rdb::ColumnFamilyOptions& options,
                               const rdb::BlockBasedTableOptions& table_options,
                               double bits_per_key) {
  // No option limits the size of an SST in other compaction styles.
  const bool is_limited =
      options.compaction_style == rdb::kCompactionStyleLevel ||
      (options.compaction_style == rdb::kCompactionStyleUniversal &&
       options.num_levels > 1);
  if (!is_limited || !EvictsWholeFilters(table_options) ||
      table_options.partition_filters || table_options.block_cache == nullptr) {
    return "";
  }
  const BlockCacheSize cache = SizeOf(*table_options.block_cache);
  const double file_bytes = LargestFileBytes(options);
  const double entry_bytes =
      file_bytes * bits_per_key /
      (8 * std::max(static_cast<double>(cache.shard_bytes), 1.0));
  if (entry_bytes < kSmallEntryBytes) return "";
  return absl::StrCat(
      "cache_index_and_filter_blocks=true with filters that are neither "
      "partitioned nor pinned: an SST may have ",
      Whole(file_bytes), " bytes (target_file_size_base ",
      options.target_file_size_base, ", target_file_size_multiplier ",
      options.target_file_size_multiplier, ", num_levels ", options.num_levels,
      "), and if its entries take less than ", Whole(entry_bytes),
      " bytes each, its filter of ", absl::StrFormat("%.3g", bits_per_key),
      " bits per key is larger than a shard of the block cache (",
      cache.shard_bytes, " bytes, of a capacity of ", cache.capacity_bytes,
      "): each lookup then reads the whole filter from its file; ",
      WholeFilterRemedy());
}

}  // namespace rowbloom::plugin
