// SPDX-License-Identifier: Apache-2.0
//
// Makes rowbloom's policies known to a program that knows RocksDB only, when
// this library is loaded into it:
//
//   LD_PRELOAD=librowbloom_rocksdb_preload.so ldb --db=DB --try_load_options
//   get
//
// The program must load RocksDB as a shared library, of the release that this
// one was built for.

#include "rowbloom/rocksdb.h"

namespace {

[[maybe_unused]] const int kFactoriesAdded = rowbloom::RegisterRocksDb();

}  // namespace
