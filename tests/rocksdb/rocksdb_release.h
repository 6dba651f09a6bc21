// SPDX-License-Identifier: Apache-2.0
//
// For what RocksDB does differently from one release to another.

#ifndef ROWBLOOM_TESTS_ROCKSDB_ROCKSDB_RELEASE_H_
#define ROWBLOOM_TESTS_ROCKSDB_ROCKSDB_RELEASE_H_

#include "rocksdb/version.h"

namespace rowbloom::testing {

// 1002 for RocksDB 10.2, by its headers.
inline constexpr int kRocksDbRelease = ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR;

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_ROCKSDB_RELEASE_H_
