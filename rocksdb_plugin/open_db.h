// SPDX-License-Identifier: Apache-2.0
//
// Opens a database into a unique_ptr with every RocksDB release: before 9.11
// DB::Open() and its variants take a DB**, from 11.0 on a unique_ptr<DB>*.
//
//   std::unique_ptr<DB> db;
//   Status s = OpenDb(
//       [&](auto* opened) { return DB::Open(options, path, opened); }, &db);

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_OPEN_DB_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_OPEN_DB_H_

#include <memory>

#include "rdb.h"
#include "rocksdb/db.h"
#include "rocksdb/status.h"
#include "rocksdb/version.h"

namespace rowbloom::plugin {

template <typename Open>
rdb::Status OpenDb(Open&& open, std::unique_ptr<rdb::DB>* db) {
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 911
  return open(db);
#else
  rdb::DB* opened = nullptr;
  const rdb::Status status = open(&opened);
  db->reset(opened);
  return status;
#endif
}

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_OPEN_DB_H_
