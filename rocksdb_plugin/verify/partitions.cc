// SPDX-License-Identifier: Apache-2.0

#include "verify/partitions.h"

#include "absl/strings/str_cat.h"
#include "block_cache.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"

namespace rowbloom::plugin {

namespace {

constexpr char kPin[] = "set metadata_cache_options.partition_pinning=kAll";

bool PinsTopLevelIndex(const rdb::BlockBasedTableOptions& table) {
  switch (table.metadata_cache_options.top_level_index_pinning) {
    case rdb::PinningTier::kAll:
      return true;
    case rdb::PinningTier::kFallback:
      return table.pin_top_level_index_and_filter;
    default:
      return false;
  }
}

}  // namespace

std::vector<std::string> WarnOfPartitions(
    const rdb::ColumnFamilyOptions& options,
    const rdb::BlockBasedTableOptions& table, int release) {
  std::vector<std::string> warnings;
  // RocksDB turns partition_filters off without a two-level index.
  if (!table.partition_filters || table.filter_policy == nullptr) return {};
  const bool are_pinned =
      table.metadata_cache_options.partition_pinning == rdb::PinningTier::kAll;
  const bool has_empty_cache =
      table.block_cache != nullptr && table.block_cache->GetCapacity() == 0;
  if (table.no_block_cache || (has_empty_cache && !are_pinned)) {
    warnings.push_back(absl::StrCat(
        "partition_filters with ",
        table.no_block_cache ? "no_block_cache" : "a block_cache of 0 bytes",
        ": each lookup reads its filter partition from the file, which costs "
        "as much as the data block that it may save; set a block_cache, or "
        "partition_filters=false"));
    return warnings;
  }
  if (table.cache_index_and_filter_blocks && !PinsTopLevelIndex(table)) {
    warnings.push_back(
        "partition_filters with a top-level index that is not pinned: each "
        "lookup asks the block cache for it, and reads it where data evicted "
        "it; set metadata_cache_options.top_level_index_pinning=kAll, which "
        "takes some 30 bytes for each partition");
  }
  if (options.prefix_extractor == nullptr || are_pinned) return warnings;
  // The ReadOptions of a scan are those of the filters that it reads.
  constexpr int kFilterReadsHaveOptions = 800;
  if (release >= kFilterReadsHaveOptions) {
    warnings.push_back(absl::StrCat(
        "partition_filters with a prefix_extractor: a scan with "
        "ReadOptions::fill_cache=false reads each filter partition that no get "
        "has loaded from its file, at every call; ",
        kPin,
        ", or before the scan get a column that is absent, or leave "
        "fill_cache on"));
  }
  // RocksDB ends a partition where its number of keys and prefixes equals the
  // one that it may have, and misses that number where it adds two at once.
  constexpr int kCutsInTime = 906;
  if (release < kCutsInTime && table.whole_key_filtering) {
    warnings.push_back(absl::StrCat(
        "partition_filters with a prefix_extractor and whole_key_filtering: "
        "RocksDB before 9.6 ends a filter partition only with its index "
        "partition where it adds a key and a prefix at once, so that it takes "
        "78 to 94 KB where metadata_block_size is 4096 (measured in 9.3.1; "
        "metadata_block_size is ",
        table.metadata_block_size,
        " here), and the block cache reads all of it; ", kPin,
        ", or use RocksDB 9.6"));
  }
  return warnings;
}

}  // namespace rowbloom::plugin
