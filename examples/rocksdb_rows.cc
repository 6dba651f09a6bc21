// SPDX-License-Identifier: Apache-2.0
//
// Rows and cells in RocksDB under one filter for both, and what it answered.
// docs/rocksdb.md quotes the parts between lines of dashes and the
// output; the test `readme` keeps them equal.
//
//   rocksdb_rows DIRECTORY

#include "rowbloom/rocksdb_rows.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_stats.h"

namespace {

rocksdb::Status PutEmail(rocksdb::DB* db, const rowbloom::RocksDbOptions& rows,
                         const std::string& row) {
  // --------------------------------------------------------------------------
  std::string key;
  const absl::Status encoded = rows.key_codec.Encode(row, "email", &key);
  if (!encoded.ok()) return rocksdb::Status::InvalidArgument("row", row);
  return db->Put(rocksdb::WriteOptions(), key, row + "@example.org");
  // --------------------------------------------------------------------------
}

rocksdb::Status Run(const std::string& path) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::BlockBasedTableOptions table_options;
  // --------------------------------------------------------------------------
  rowbloom::RocksDbOptions rows;  // One filter for rows and for cells.
  rows.key_codec = rowbloom::KeyCodec::Ordered();
  table_options.filter_policy = rowbloom::NewRocksDbFilterPolicy(rows);
  options.prefix_extractor = rowbloom::NewRowPrefixExtractor(rows);
  options.table_factory.reset(
      rocksdb::NewBlockBasedTableFactory(table_options));
  rocksdb::Status status = rowbloom::CheckRocksDbOptions(options);
  // --------------------------------------------------------------------------
  if (!status.ok()) return status;
  std::unique_ptr<rocksdb::DB> db;
#if ROCKSDB_MAJOR >= 10
  status = rocksdb::DB::Open(options, path, &db);
#else  // Before 9.11 DB::Open() takes a raw pointer.
  rocksdb::DB* opened = nullptr;
  status = rocksdb::DB::Open(options, path, &opened);
  db.reset(opened);
#endif
  if (!status.ok()) return status;

  for (int user = 0; user < 1000; ++user) {
    const std::string row = "user" + std::to_string(user);
    if (row != "user18") status = PutEmail(db.get(), rows, row);
    if (!status.ok()) return status;
  }
  status = db->Flush(rocksdb::FlushOptions());
  if (!status.ok()) return status;

  // --------------------------------------------------------------------------
  const rocksdb::ReadOptions read;
  rowbloom::FilterStats stats;
  const rowbloom::RocksDbRows reader(db.get(), db->DefaultColumnFamily(),
                                     rows.key_codec, {&stats, 1});
  bool exists = false;
  status = reader.RowExists(read, "user18", &exists);

  rocksdb::PinnableSlice email;
  status = reader.GetCell(read, "user17", "email", &email);

  std::vector<rowbloom::RocksDbCell> cells;
  status = reader.GetRow(read, "user17", &cells);
  // --------------------------------------------------------------------------
  if (!status.ok()) return status;
  std::printf("user17: %s; user18 %s\n\n", email.ToString().c_str(),
              exists ? "exists" : "does not exist");

  for (int user = 0; user < 1000; ++user) {
    const std::string row = "user" + std::to_string(user);
    for (const char* qualifier : {"email", "phone"}) {
      status = reader.GetCell(read, row, qualifier, &email);
      if (!status.ok() && !status.IsNotFound()) return status;
    }
  }
  std::printf("%s", stats.ToString().c_str());  // Or ToPrometheus().
  return rocksdb::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: rocksdb_rows DIRECTORY\n");
    return 2;
  }
  const rocksdb::Status status = Run(argv[1]);
  if (!status.ok()) {
    std::fprintf(stderr, "rocksdb_rows: %s\n", status.ToString().c_str());
  }
  return status.ok() ? 0 : 1;
}
