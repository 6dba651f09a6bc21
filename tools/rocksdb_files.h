// SPDX-License-Identifier: Apache-2.0
//
// What the tool asks of RocksDB, by its public API only: the filters in an
// SST, the checksums of one, and which SSTs of a database are live. Nothing
// is written to the database's directory.
//
// RocksDB's messages name file and offset. Corruption becomes DataLoss,
// NotSupported becomes Unimplemented.

#ifndef ROWBLOOM_TOOLS_ROCKSDB_FILES_H_
#define ROWBLOOM_TOOLS_ROCKSDB_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rowbloom::tools {

struct SstFilters {
  // From the table properties.
  std::string column_family_name;
  std::string filter_policy_name;
  std::string prefix_extractor_name;
  uint64_t entry_count = 0;
  uint64_t filter_size_bytes = 0;  // With the index over partitions, if any.
  // The bytes of rowbloom's own filters, in key order: one if it is a full
  // filter, one for each partition if it is partitioned.
  std::vector<std::string> filters;
};

// DataLoss if the footer, the properties, the index or a filter partition is
// damaged. RocksDB drops a damaged full filter in silence: `filters` is empty
// then, and VerifySstChecksums() says why.
absl::StatusOr<SstFilters> ReadSstFilters(const std::string& path);

// Every checksum in the file but those of filter partitions, which opening it
// has checked.
absl::Status VerifySstChecksums(const std::string& path);

struct LiveSst {
  std::string path;
  int level = 0;
};

// By column family, level and file number.
absl::StatusOr<std::vector<LiveSst>> ListLiveSsts(const std::string& directory);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_ROCKSDB_FILES_H_
