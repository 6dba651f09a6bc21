// SPDX-License-Identifier: Apache-2.0
//
// Registers rowbloom's policies in a program that knows only RocksDB, when this
// library is loaded into it:
//
//   LD_PRELOAD=librowbloom_rocksdb_preload.so ldb --db=DB --try_load_options
//   get
//
// The program must load RocksDB as a shared library, of the release that this
// library was built for. With another release nothing is registered, because
// the registry's own classes may differ, and the program runs without rowbloom.

#include <cstdio>
#include <string>

#include "../release.h"
#include "rowbloom/rocksdb.h"

namespace {

int RegisterOrSayWhyNot() {
  const absl::Status& release = rowbloom::plugin::CheckRocksDbRelease();
  if (release.ok()) return rowbloom::RegisterRocksDb();
  std::fprintf(stderr, "%s; rowbloom is not registered\n",
               std::string(release.message()).c_str());
  return 0;
}

[[maybe_unused]] const int kFactoriesAdded = RegisterOrSayWhyNot();

}  // namespace
