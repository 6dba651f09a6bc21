// SPDX-License-Identifier: Apache-2.0
//
// Tests filters that are damaged on disk, under
// ReadOptions::verify_checksums=false. Since 8.0, RocksDB then reads filters
// without verifying their checksum; earlier releases drop them.

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb/version.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb_composed.h"
#include "rowbloom/rocksdb_rows.h"
#include "rowbloom/rocksdb_verify.h"

namespace rowbloom::testing {
namespace {

constexpr int kReadRows = 500;

rdb::ReadOptions Unverified() {
  rdb::ReadOptions read;
  read.verify_checksums = false;
  return read;
}

// Opens a database of one SST below level 0; gets read its filters, which have
// lost the first half of their bits.
void OpenDamaged(TestDb* db) {
  db->set_up.cache_filter_blocks = true;
  db->Open();
  db->Fill(kReadRows);
  db->Compact();
  const std::string path = db->PathOfOnlySst();
  db->Close();
  const auto sst = ReadRocksDbSst(path, db->MakeOptions());
  ASSERT_TRUE(sst.ok()) << sst.status();
  ASSERT_FALSE(sst->filters.empty());
  std::string bytes = db->ReadSst(path);
  for (const std::string& filter : sst->filters) {
    const size_t at = bytes.find(filter);
    ASSERT_NE(at, std::string::npos);
    std::memset(&bytes[at], 0, filter.size() / 2);
  }
  db->WriteSst(path, bytes);
  db->Open();
}

int RowsThatGetFinds(const TestDb& db) {
  int found = 0;
  for (int row = 0; row < kReadRows; ++row) {
    std::string value;
    found += db->Get(Unverified(), db.Key(Row(row), "q"), &value).ok();
  }
  return found;
}

// Expects that no call of RocksDbRows reports a row as absent.
void ExpectRowsLoseNothing(const TestDb& db) {
  const RocksDbRows rows = db.Rows();
  for (int row = 0; row < kReadRows; ++row) {
    bool exists = false;
    EXPECT_TRUE(rows.RowExists(Unverified(), Row(row), &exists).ok());
    EXPECT_TRUE(exists);
    std::vector<RocksDbCell> cells;
    EXPECT_TRUE(rows.GetRow(Unverified(), Row(row), &cells).ok());
    EXPECT_EQ(cells.size(), 1);
    rdb::PinnableSlice value;
    EXPECT_TRUE(rows.GetCell(Unverified(), Row(row), "q", &value).ok());
    EXPECT_TRUE(rows.GetNewestCell(Unverified(), Row(row), "q", &value).ok());
  }
}

TEST(DbUnverifiedReads, DamagedFiltersOfOursLoseNothing) {
  for (const FilterSpec& policy : SpecsOfEachFamily()) {
    for (const bool partitioned : {false, true}) {
      TestDb db;
      db.set_up.filter.filter_spec = policy;
      db.set_up.partitioned = partitioned;
      OpenDamaged(&db);
      EXPECT_EQ(RowsThatGetFinds(db), kReadRows) << SetUpName(db.set_up);
      ExpectRowsLoseNothing(db);
    }
  }
}

TEST(DbUnverifiedReads, DamagedFiltersOfRocksDbLoseNothingToRocksDbRows) {
  for (const bool partitioned : {false, true}) {
    TestDb db;
    db.set_up.extractor_type = BloomType::kRow;
    db.set_up.other_policy = NewRocksDbComposedPolicy({});
    db.set_up.partitioned = partitioned;
    OpenDamaged(&db);
    ExpectRowsLoseNothing(db);
  }
}

// RocksDbRows avoids this trap; without it, the two tests above would show
// nothing.
TEST(DbUnverifiedReads, DamagedFiltersOfRocksDbLoseRowsToGetFromVersion8On) {
  TestDb db;
  db.set_up.extractor_type = BloomType::kRow;
  db.set_up.other_policy = NewRocksDbComposedPolicy({});
  OpenDamaged(&db);
  if (ROCKSDB_MAJOR >= 8) {
    EXPECT_LT(RowsThatGetFinds(db), kReadRows);
  } else {
    EXPECT_EQ(RowsThatGetFinds(db), kReadRows);
  }
}

}  // namespace
}  // namespace rowbloom::testing
