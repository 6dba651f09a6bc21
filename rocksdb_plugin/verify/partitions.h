// SPDX-License-Identifier: Apache-2.0
//
// Warnings of filter partitions that RocksDB reads again and again: those that
// it may evict, and does not keep.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_PARTITIONS_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_PARTITIONS_H_

#include <string>
#include <vector>

#include "rdb.h"
#include "rocksdb/version.h"

namespace ROCKSDB_NAMESPACE {
struct BlockBasedTableOptions;
struct ColumnFamilyOptions;
}  // namespace ROCKSDB_NAMESPACE

namespace rowbloom::plugin {

// A sentence for each trap, with its remedy. `release` is 100 times the major
// release, and the minor one.
std::vector<std::string> WarnOfPartitions(
    const rdb::ColumnFamilyOptions& options,
    const rdb::BlockBasedTableOptions& table_options,
    int release = ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR);

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_VERIFY_PARTITIONS_H_
