// SPDX-License-Identifier: Apache-2.0
//
// Declares rdb::Cache, for which RocksDB has a header of its own from 8.0 on.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_BLOCK_CACHE_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_BLOCK_CACHE_H_

#include "rocksdb/version.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#else
#include "rocksdb/cache.h"
#endif

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_BLOCK_CACHE_H_
