// SPDX-License-Identifier: Apache-2.0
//
// A stranger's program: a RocksDB in memory whose SST has a row filter.

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/slice_transform.h>
#include <rocksdb/table.h>

#include <cstdio>
#include <memory>
#include <string>

#include "rowbloom/rocksdb.h"

int main() {
  rowbloom::RocksDbOptions filters;
  filters.key_codec = rowbloom::KeyCodec::Ordered();
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = rowbloom::NewRocksDbFilterPolicy(filters);
  if (table.filter_policy == nullptr) return 1;

  const std::unique_ptr<rocksdb::Env> env(
      rocksdb::NewMemEnv(rocksdb::Env::Default()));
  rocksdb::Options options;
  options.env = env.get();
  options.create_if_missing = true;
  options.prefix_extractor = rowbloom::NewRowPrefixExtractor(filters);
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));

  std::unique_ptr<rocksdb::DB> db;
#if ROCKSDB_MAJOR >= 10
  const rocksdb::Status status = rocksdb::DB::Open(options, "/db", &db);
#else  // Before 9.11 DB::Open() takes a raw pointer.
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, "/db", &opened);
  db.reset(opened);
#endif
  if (!status.ok()) return 2;
  std::string key;
  if (!filters.key_codec.Encode("row1", "email", &key).ok()) return 3;
  if (!db->Put({}, key, "a@b").ok() || !db->Flush({}).ok()) return 4;
  std::string value;
  if (!db->Get({}, key, &value).ok() || value != "a@b") return 5;

  rocksdb::TablePropertiesCollection properties;
  if (!db->GetPropertiesOfAllTables(&properties).ok()) return 6;
  for (const auto& [name, table_properties] : properties) {
    if (table_properties->filter_size == 0) return 7;
    std::printf("%s: %s\n", name.c_str(),
                table_properties->filter_policy_name.c_str());
  }
  return properties.empty() ? 8 : 0;
}
