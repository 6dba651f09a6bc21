// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "absl/strings/str_cat.h"
#include "composed_policy.h"
#include "native_policy.h"
#include "rocksdb/comparator.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "row_prefix_extractor.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom {

using ROCKSDB_NAMESPACE::BlockBasedTableOptions;
using ROCKSDB_NAMESPACE::ColumnFamilyOptions;
using ROCKSDB_NAMESPACE::Status;

namespace {

// Equal keys have equal bytes, timestamps aside, which RocksDB strips before
// it feeds or asks a filter.
bool EqualMeansSameBytes(const ROCKSDB_NAMESPACE::Comparator& comparator) {
  if (!comparator.CanKeysWithDifferentByteContentsBeEqual()) return true;
  const std::string name = comparator.Name();
  return name == "leveldb.BytewiseComparator.u64ts" ||
         name == "rocksdb.ReverseBytewiseComparator.u64ts";
}

// RocksDB 7.8 takes timestamps for a part of the prefix in a hash index.
Status CheckHashIndex(const ColumnFamilyOptions& options,
                      const BlockBasedTableOptions* table_options) {
  if (table_options == nullptr ||
      table_options->index_type != BlockBasedTableOptions::kHashSearch ||
      options.comparator == nullptr ||
      options.comparator->timestamp_size() == 0) {
    return Status::OK();
  }
  return Status::InvalidArgument(absl::StrCat(
      "index_type kHashSearch with the timestamps of comparator ",
      options.comparator->Name(),
      ": SeekForPrev loses keys, with any filter and with none; use "
      "kBinarySearch or kTwoLevelIndexSearch"));
}

// The bounds of a column map to a prefix that no key of the column maps to.
// Our builder adds it; whatever else RocksDB keys by prefix does not.
Status CheckNothingElseUsesPrefixes(
    const ColumnFamilyOptions& options,
    const BlockBasedTableOptions* table_options) {
  const std::string why =
      " loses columns with the extractor rowbloom.RowPrefix:ROWCOL:ordered: ";
  if (options.memtable_prefix_bloom_size_ratio > 0) {
    return Status::InvalidArgument(
        absl::StrCat("memtable_prefix_bloom_size_ratio > 0", why,
                     "set it to 0, or use rowbloom.RowPrefix:ROW"));
  }
  if (options.memtable_factory != nullptr) {
    const std::string memtable = options.memtable_factory->Name();
    if (memtable == "HashSkipListRepFactory" ||
        memtable == "HashLinkListRepFactory") {
      return Status::InvalidArgument(
          absl::StrCat("memtable_factory ", memtable, why,
                       "use SkipListFactory, or rowbloom.RowPrefix:ROW"));
    }
  }
  if (table_options == nullptr) {
    return Status::InvalidArgument(
        absl::StrCat("a table_factory other than BlockBasedTable", why,
                     "use BlockBasedTable, or no prefix_extractor"));
  }
  if (table_options->index_type == BlockBasedTableOptions::kHashSearch) {
    return Status::InvalidArgument(
        absl::StrCat("index_type kHashSearch", why,
                     "use kBinarySearch or kTwoLevelIndexSearch, or "
                     "rowbloom.RowPrefix:ROW"));
  }
  if (table_options->filter_policy != nullptr &&
      table_options->filter_policy->CheckedCast<NativePolicy>() == nullptr) {
    return Status::InvalidArgument(
        absl::StrCat("filter_policy ", table_options->filter_policy->Name(),
                     why, "use rowbloom, or rowbloom.RowPrefix:ROW"));
  }
  return Status::OK();
}

Status CheckPair(const RocksDbOptions& policy,
                 const RowPrefixExtractor& extractor) {
  if (!(policy.key_codec == extractor.key_codec())) {
    return Status::InvalidArgument(absl::StrCat(
        "prefix_extractor has key codec ", extractor.key_codec().ToString(),
        " and filter_policy has ", policy.key_codec.ToString(),
        ": seeks would ask for what was not added; make both the same"));
  }
  // The reverse is sound: seeks ask for rows, Gets for columns.
  if (policy.bloom_type == BloomType::kRow &&
      extractor.bloom_type() == BloomType::kRowCol) {
    return Status::InvalidArgument(
        "prefix_extractor rowbloom.RowPrefix:ROWCOL asks for columns that "
        "filter_policy rowbloom with bloom_type=ROW does not hold: make both "
        "the same");
  }
  return Status::OK();
}

}  // namespace

Status CheckRocksDbOptions(const ColumnFamilyOptions& options) {
  const BlockBasedTableOptions* table_options =
      options.table_factory == nullptr
          ? nullptr
          : options.table_factory->GetOptions<BlockBasedTableOptions>();
  const NativePolicy* policy =
      table_options == nullptr || table_options->filter_policy == nullptr
          ? nullptr
          : table_options->filter_policy->CheckedCast<NativePolicy>();
  const RowPrefixExtractor* extractor =
      options.prefix_extractor == nullptr
          ? nullptr
          : options.prefix_extractor->CheckedCast<RowPrefixExtractor>();

  const bool is_composed =
      policy == nullptr && table_options != nullptr &&
      table_options->filter_policy != nullptr &&
      table_options->filter_policy->CheckedCast<ComposedPolicy>() != nullptr;
  if (extractor == nullptr && policy == nullptr && !is_composed) {
    return Status::OK();
  }

  Status status = CheckHashIndex(options, table_options);
  if (!status.ok()) return status;
  if (extractor != nullptr && extractor->maps_columns()) {
    status = CheckNothingElseUsesPrefixes(options, table_options);
    if (!status.ok()) return status;
  }
  if (policy == nullptr && !is_composed) return Status::OK();
  const std::string name =
      absl::StrCat("filter_policy ", table_options->filter_policy->Name());

  if (table_options->checksum == ROCKSDB_NAMESPACE::kNoChecksum) {
    return Status::InvalidArgument(
        absl::StrCat("checksum kNoChecksum with ", name,
                     ": a damaged filter would lose rows unnoticed; choose any "
                     "other checksum"));
  }
  if (!table_options->whole_key_filtering) {
    if (options.prefix_extractor == nullptr) {
      return Status::InvalidArgument(
          absl::StrCat(name,
                       " is never fed: whole_key_filtering is off and there is "
                       "no prefix_extractor; set either"));
    }
    // Mended in RocksDB 9.5, and by our builder.
    if (is_composed && table_options->partition_filters &&
        ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR < 905) {
      return Status::InvalidArgument(absl::StrCat(
          name,
          " with partition_filters and without whole_key_filtering: "
          "SeekForPrev loses rows in this RocksDB; set "
          "whole_key_filtering, or partition_filters=false"));
    }
    if (!is_composed && policy->options().bloom_type == BloomType::kRowCol) {
      return Status::InvalidArgument(
          "filter_policy rowbloom with bloom_type=ROWCOL is fed no columns: "
          "set whole_key_filtering, or bloom_type=ROW");
    }
  }
  if (options.comparator != nullptr &&
      !EqualMeansSameBytes(*options.comparator)) {
    return Status::InvalidArgument(absl::StrCat(
        "comparator ", options.comparator->Name(),
        " may call keys of different bytes equal, and a filter would lose "
        "them: use a bytewise comparator, let it override "
        "CanKeysWithDifferentByteContentsBeEqual(), or set no filter_policy"));
  }
  if (extractor == nullptr || is_composed) return Status::OK();
  return CheckPair(policy->options(), *extractor);
}

}  // namespace rowbloom
