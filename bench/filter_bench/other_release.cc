// SPDX-License-Identifier: Apache-2.0
//
// A library that says it is another release of RocksDB, for the test that
// filter_bench refuses one.

#include <string>

#include "rocksdb/version.h"

namespace rocksdb {

std::string GetRocksVersionAsString(bool) { return "6.29.5"; }

}  // namespace rocksdb
