// SPDX-License-Identifier: Apache-2.0
//
// The first lines in RocksDB: filters whose bits follow the gets where they are
// cached partitions, and numbers that show them at work. README.md and
// docs/rocksdb.md quote the parts between lines of dashes and the output; the
// test `readme` keeps them equal.
//
//   rocksdb_auto DIRECTORY

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_verify.h"

namespace {

rocksdb::Status Run(const std::string& path) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::BlockBasedTableOptions table_options;
  // --------------------------------------------------------------------------
  rowbloom::RocksDbOptions filters;
  filters.auto_bits = true;
  rocksdb::Status status;
  table_options.filter_policy =
      rowbloom::NewRocksDbFilterPolicy(filters, &status);
  options.table_factory.reset(
      rocksdb::NewBlockBasedTableFactory(table_options));
  options.listeners.push_back(rowbloom::NewRocksDbBudgetListener());
  options.statistics = rocksdb::CreateDBStatistics();
  if (status.ok()) status = rowbloom::CheckRocksDbOptions(options);
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

  // Every second key exists.
  const auto key = [](int i) { return "user" + std::to_string(1000000 + i); };
  for (int i = 0; i < 100000; i += 2) {
    status = db->Put(rocksdb::WriteOptions(), key(i), "a value");
    if (!status.ok()) return status;
  }
  status = db->Flush(rocksdb::FlushOptions());
  if (!status.ok()) return status;
  rocksdb::PinnableSlice value;
  for (int i = 0; i < 100000; ++i) {
    status = db->Get(rocksdb::ReadOptions(), db->DefaultColumnFamily(), key(i),
                     &value);
    if (!status.ok() && !status.IsNotFound()) return status;
    value.Reset();
  }

  // --------------------------------------------------------------------------
  const auto count = [&options](rocksdb::Tickers ticker) {
    return static_cast<long long>(options.statistics->getTickerCount(ticker));
  };
  std::printf("SSTs that gets did not read: %lld; wasted reads: %lld\n",
              count(rocksdb::BLOOM_FILTER_USEFUL),
              count(rocksdb::BLOOM_FILTER_FULL_POSITIVE) -
                  count(rocksdb::BLOOM_FILTER_FULL_TRUE_POSITIVE));

  const absl::StatusOr<rowbloom::RocksDbFilterReport> report =
      rowbloom::VerifyRocksDbFilters(db.get(), db->DefaultColumnFamily());
  if (report.ok()) {
    for (const rowbloom::RocksDbFilterFile& file : report->files) {
      std::printf(
          "level %d: %s, %.1f bits per key, %.2f%% of neighbours pass\n",
          file.level, file.family.c_str(), file.bits_per_key(),
          100 * file.observed_fpr().value_or(1));
    }
    for (const std::string& warning : report->warnings()) {
      std::printf("warning: %s\n", warning.c_str());
    }
  }
  // --------------------------------------------------------------------------
  return rocksdb::Status::OK();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: rocksdb_auto DIRECTORY\n");
    return 2;
  }
  const rocksdb::Status status = Run(argv[1]);
  if (!status.ok()) {
    std::fprintf(stderr, "rocksdb_auto: %s\n", status.ToString().c_str());
  }
  return status.ok() ? 0 : 1;
}
