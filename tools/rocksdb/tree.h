// SPDX-License-Identifier: Apache-2.0
//
// The runs of a column family of a RocksDB database, and what gets of it read.
// Nothing is written to the database.

#ifndef ROWBLOOM_TOOLS_ROCKSDB_TREE_H_
#define ROWBLOOM_TOOLS_ROCKSDB_TREE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/get_cost.h"
#include "tools/formats/paths.h"
#include "tools/rocksdb/read_counts.h"

namespace rowbloom::tools {

// An SST of level 0, or a level. Sums over its SSTs, by table properties.
struct RocksDbRun {
  int level = 0;
  uint64_t file_count = 0;
  uint64_t entry_count = 0;
  uint64_t key_count = 0;  // Filter keys; entries if there is no filter.
  uint64_t data_bytes = 0;
  uint64_t raw_key_bytes = 0;  // With 8 bytes of sequence number for each.
  uint64_t raw_value_bytes = 0;
  uint64_t data_block_count = 0;
  uint64_t index_bytes = 0;
  uint64_t filter_bytes = 0;   // Without filters that the policy cannot read.
  double false_positives = 0;  // Expected, if a get asks for each key once.
  // Keys of the SSTs whose filters the policy reads, and their expected false
  // positives.
  uint64_t filter_key_count = 0;
  double filter_false_positives = 0;
  bool is_partitioned = false;
  std::string filter_policy;  // The last SST's; empty if it has no filter.
  // Both are from the filters of the newest SST that rowbloom's own policy
  // wrote; empty if there is none, or if its filters cannot be read.
  std::string key_codec;
  std::string bloom_type;  // Empty, too, for all key levels of the codec.
  // Why that SST's filter passes keys that it should stop
  // (RocksDbFilterFile::warning()), and which share; or empty. The sums are
  // then those of such filters.
  std::string misfit;
  double observed_fpr = 0;

  double bits_per_key() const;
  double fpr() const;
};

struct RocksDbTree {
  std::vector<RocksDbRun> runs;  // The newest first.
  uint64_t data_block_bytes = 0;
  uint64_t metadata_block_bytes = 0;
  PartitionCuts partition_cuts = PartitionCuts::kCoupled;
  bool partitions_filters = false;   // partition_filters, with an index over it
  bool none_at_bottom = false;       // optimize_filters_for_hits
  uint64_t column_family_count = 0;  // The database has as many.
  // nullopt for whole filters in the block cache.
  std::optional<FilterPlace> place;
};

// FailedPrecondition if there is no such column family, if its tables are not
// block based, or if SSTs are elsewhere; other errors as of filter_file.h.
absl::StatusOr<RocksDbTree> ReadRocksDbTree(const DatabasePlace& place,
                                            const std::string& column_family);

// Gets all keys, through an LRUCache of this size that is empty at first, and
// counts the reads of the second half.
absl::StatusOr<ReadCounts> CountGets(const DatabasePlace& place,
                                     const std::string& column_family,
                                     uint64_t cache_bytes,
                                     absl::Span<const std::string> keys);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_ROCKSDB_TREE_H_
