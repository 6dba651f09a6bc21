// SPDX-License-Identifier: Apache-2.0
//
// rdb is RocksDB's namespace, whose name a build of RocksDB may choose. Public
// headers do not include this file, so the short name stays among our sources.
// It is in rowbloom, not in rowbloom::plugin, for the sources that define
// public functions.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_RDB_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_RDB_H_

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {}
namespace rowbloom {
namespace rdb = ROCKSDB_NAMESPACE;
}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_RDB_H_
