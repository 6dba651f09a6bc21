// SPDX-License-Identifier: Apache-2.0
//
// release.cc, compiled for a minor release that RocksDB never had.

#include "rocksdb/version.h"

#undef ROCKSDB_MINOR
#define ROCKSDB_MINOR 99

#include "release.cc"
