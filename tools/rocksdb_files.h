// SPDX-License-Identifier: Apache-2.0
//
// A RocksDB database: lists its live SSTs and the filters that its OPTIONS file
// asks for. Nothing is written to its directory.
//
// RocksDB's messages name file and offset. Corruption becomes DataLoss,
// NotSupported becomes Unimplemented.

#ifndef ROWBLOOM_TOOLS_ROCKSDB_FILES_H_
#define ROWBLOOM_TOOLS_ROCKSDB_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "filter_file.h"
#include "paths.h"
#include "rowbloom/rocksdb_verify.h"

namespace rowbloom::tools {

// Ordered by column family, level and file number.
absl::StatusOr<std::vector<TargetFile>> ListLiveSsts(
    const std::string& directory);

// Adds the measurements of a file's filter.
void DescribeFilter(const RocksDbFilterFile& file, Json* entry);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_ROCKSDB_FILES_H_
