// SPDX-License-Identifier: Apache-2.0
//
// Describes the filter of an SST of RocksDB, for `inspect` and `verify`.

#ifndef ROWBLOOM_TOOLS_ROCKSDB_LIVE_SSTS_H_
#define ROWBLOOM_TOOLS_ROCKSDB_LIVE_SSTS_H_

#include "rowbloom/rocksdb_verify.h"
#include "tools/formats/filter_file.h"
#include "tools/formats/paths.h"

namespace rowbloom::tools {

// Adds the measurements of a file's filter.
void DescribeFilter(const RocksDbFilterFile& file, Json* entry);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_ROCKSDB_LIVE_SSTS_H_
