// SPDX-License-Identifier: Apache-2.0
//
// Names the release, for behavior that differs between RocksDB releases.

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_ROCKSDB_RELEASE_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_ROCKSDB_RELEASE_H_

#include "rocksdb/version.h"

namespace rowbloom::testing {

// The release of the headers: 1002 for RocksDB 10.2.
inline constexpr int kRocksDbRelease = ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR;

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_ROCKSDB_RELEASE_H_
