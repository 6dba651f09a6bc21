// SPDX-License-Identifier: Apache-2.0
//
// Rows and cells in RocksDB under one filter for both. README.md shows the
// part between the lines of dashes; the test `readme` keeps them equal.
//
//   rocksdb_rows DIRECTORY

#include <cstdio>
#include <memory>
#include <string>

#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rowbloom/rocksdb.h"

namespace {

rocksdb::Status Run(const std::string& path) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::BlockBasedTableOptions table_options;
  // --------------------------------------------------------------------------
  rowbloom::RocksDbOptions rows;  // ROWCOL: one filter for rows and for cells.
  table_options.filter_policy = rowbloom::NewRocksDbFilterPolicy(rows);
  options.prefix_extractor = rowbloom::NewRowPrefixExtractor(rows);
  options.table_factory.reset(
      rocksdb::NewBlockBasedTableFactory(table_options));
  rocksdb::Status status = rowbloom::CheckRocksDbOptions(options);
  // --------------------------------------------------------------------------
  if (!status.ok()) return status;
  rocksdb::DB* opened = nullptr;
  status = rocksdb::DB::Open(options, path, &opened);
  if (!status.ok()) return status;
  const std::unique_ptr<rocksdb::DB> db(opened);

  std::string key;
  if (!rows.key_codec.Encode("user17", "email", &key).ok()) {
    return rocksdb::Status::InvalidArgument("row");
  }
  status = db->Put(rocksdb::WriteOptions(), key, "user17@example.org");
  if (status.ok()) status = db->Flush(rocksdb::FlushOptions());
  if (!status.ok()) return status;

  for (const char* row : {"user17", "user18"}) {
    auto scan = rowbloom::RocksDbScan::OfRow(rows.key_codec, row);
    if (!scan.ok()) return rocksdb::Status::InvalidArgument("row");
    rocksdb::ReadOptions read;
    scan->Configure(&read);
    const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(read));
    it->Seek(scan->lower());
    std::printf("%s: %s\n", row, it->Valid() ? "exists" : "does not exist");
    if (!it->status().ok()) return it->status();
  }
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
