// SPDX-License-Identifier: Apache-2.0
//
// Tests which filters RocksDbRows asks, and what it refuses. In
// differential_test.cc it answers as a map does, for any options of the
// database and of the read.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/comparator.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb_rows.h"

namespace rowbloom::testing {
namespace {

using rdb::PinnableSlice;
using rdb::ReadOptions;
using rdb::Status;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// --- What filters are asked --------------------------------------------------

constexpr int kPresent = 250;

void FillVersions(TestDb* db) {
  for (const char* version : {"2", "1"}) {
    db->PutRows(kPresent, "q", version);
  }
  db->Flush();
}

TEST(DbRows, TheNewestVersionIsTheFirstInOrder) {
  TestDb db;
  db.Open();
  FillVersions(&db);
  PinnableSlice value;
  std::string version;
  ASSERT_TRUE(db.Rows().GetNewestCell({}, Row(7), "q", &value, &version).ok());
  EXPECT_EQ(version, "1");
  // A cell without a version sorts before all that have one.
  db.Put(db.Key(Row(7), "q"), "no version");
  ASSERT_TRUE(db.Rows().GetNewestCell({}, Row(7), "q", &value, &version).ok());
  EXPECT_EQ(value.ToString(), "no version");
  EXPECT_EQ(version, "");
}

TEST(DbRows, ScansOfAbsentRowsAndColumnsAreTurnedAway) {
  for (bool partitioned : {false, true}) {
    TestDb db;
    db.set_up.partitioned = partitioned;
    db.Open();
    FillVersions(&db);
    const RocksDbRows rows = db.Rows();
    ReadOptions in_total_order;  // Without effect.
    in_total_order.total_order_seek = true;
    bool exists = true;
    std::vector<RocksDbCell> cells;
    PinnableSlice value;
    for (int row = 0; row < kPresent; ++row) {
      const std::string absent = Row(row) + "x";
      ASSERT_TRUE(rows.RowExists(in_total_order, absent, &exists).ok());
      EXPECT_FALSE(exists);
      ASSERT_TRUE(rows.GetRow({}, absent, &cells).ok());
      EXPECT_TRUE(rows.GetNewestCell({}, Row(row), "r", &value).IsNotFound());
      EXPECT_TRUE(rows.GetCell({}, Row(row), "r", &value).IsNotFound());
    }
    EXPECT_EQ(db.PrefixChecks(), 3 * kPresent);
    EXPECT_GT(db.PrefixUseful(), 700);
    EXPECT_GT(db.Ticker(rdb::BLOOM_FILTER_USEFUL), 230);
  }
}

// Expects that RocksDbRows finds all columns; returns how many scans find.
int ExpectColumnsFound(const TestDb& db, const RocksDbRows& rows) {
  int scans_that_find = 0;
  for (int row = 0; row < kPresent; ++row) {
    PinnableSlice value;
    EXPECT_TRUE(rows.GetNewestCell({}, Row(row), "q", &value).ok());
    scans_that_find += ScanFindsColumn(db, Row(row), "q");
  }
  return scans_that_find;
}

// RocksDbRows asks filters for columns only if they hold columns. RocksDB asks
// each file with the extractor that it was written with.
TEST(DbRows, ColumnsAreFoundThoughAnotherPolicyHidesThemFromScans) {
  RegisterRocksDb();
  TestDb db;
  db.set_up.other_policy = StockBloom();
  db.Open();
  FillVersions(&db);
  EXPECT_LT(ExpectColumnsFound(db, db.Rows()), kPresent)
      << "nothing hides columns now";
  db.set_up.extractor_type = BloomType::kRow;
  db.Open();
  EXPECT_LT(ExpectColumnsFound(db, db.Rows()), kPresent)
      << "nothing hides columns now";
}

// --- Other column families, errors -------------------------------------------

TEST(DbRows, ColumnsAreFoundThoughTheExtractorComesLater) {
  RegisterRocksDb();
  TestDb db;
  db.set_up.other_policy = StockBloom();
  db.set_up.extractor = false;
  db.Open();
  const RocksDbRows rows = db.Rows();
  const Status status = db->SetOptions(
      {{"prefix_extractor", "rowbloom.RowPrefix:ROWCOL:ordered"}});
  ASSERT_TRUE(status.ok()) << status.ToString();
  FillVersions(&db);
  EXPECT_LT(ExpectColumnsFound(db, rows), kPresent)
      << "nothing hides columns now";
}

// CheckRocksDbOptions() refuses the pair, but such files may exist.
TEST(DbRows, ColumnsAreFoundInFilesWhoseFilterHasAnotherCodec) {
  RegisterRocksDb();
  for (const KeyCodec& codec :
       {KeyCodec::FixedRow(4), KeyCodec::Delimiter(';')}) {
    TestDb db;
    RocksDbOptions other;
    other.key_codec = codec;
    db.set_up.other_policy = NewRocksDbFilterPolicy(other);
    db.Open();
    FillVersions(&db);
    db.set_up.other_policy.reset();
    db.Open();
    EXPECT_EQ(ExpectColumnsFound(db, db.Rows()), kPresent);
  }
}

TEST(DbRows, EachColumnFamilyIsReadUnderItsOwnOptions) {
  TestDb db;
  db.Open();
  rdb::Options plain = db.MakeOptions();
  plain.prefix_extractor = nullptr;
  rdb::ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db->CreateColumnFamily(plain, "plain", &handle).ok());
  ASSERT_TRUE(db->Put({}, handle, db.Key("row", "q"), "value").ok());
  ASSERT_TRUE(db->Flush({}, handle).ok());
  {
    const RocksDbRows rows(db.get(), handle, KeyCodec::Ordered());
    bool exists = false;
    EXPECT_TRUE(rows.RowExists({}, "row", &exists).ok());
    EXPECT_TRUE(exists);
    EXPECT_TRUE(db.Rows().RowExists({}, "row", &exists).ok());
    EXPECT_FALSE(exists);
  }
  ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
}

TEST(DbRows, RowsThatTheCodecCannotHoldAreAnError) {
  TestDb db;
  db.set_up.filter.key_codec = KeyCodec::FixedRow(4);
  db.Open();
  db.Put(db.Key("row1", "q"), "value");
  const RocksDbRows rows = db.Rows();
  bool exists = false;
  std::vector<RocksDbCell> cells;
  PinnableSlice value;
  for (const Status& status :
       {rows.RowExists({}, "longer", &exists), rows.GetRow({}, "", &cells),
        rows.GetCell({}, "row", "q", &value),
        rows.GetNewestCell({}, "row", "q", &value)}) {
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    EXPECT_THAT(status.ToString(), HasSubstr("fixed:4"));
  }
}

TEST(DbRows, KeysThatTheCodecDidNotWriteAreNamed) {
  TestDb db;
  db.set_up.extractor = false;
  db.Open();
  const std::string foreign("row\0\1q\0", 7);  // The row has no such column.
  db.Put(foreign, "value");
  bool exists = false;
  EXPECT_TRUE(db.Rows().RowExists({}, "row", &exists).ok());
  EXPECT_TRUE(exists);
  std::vector<RocksDbCell> cells;
  PinnableSlice value;
  const Status status = db.Rows().GetRow({}, "row", &cells);
  EXPECT_TRUE(status.IsCorruption());
  EXPECT_THAT(status.ToString(), HasSubstr("726F7700017100"));
  db.Put(db.Key("row", "a"), "value");  // Before the other.
  EXPECT_TRUE(db.Rows().GetRow({}, "row", &cells).IsCorruption());
  EXPECT_TRUE(cells.empty());
  EXPECT_TRUE(db.Rows().GetNewestCell({}, "row", "q", &value).IsNotFound());
  EXPECT_TRUE(cells.empty());
}

TEST(DbRows, AScanOfAColumnReturnsNothingElse) {
  TestDb db;
  db.set_up.extractor_type = BloomType::kRow;
  db.Open();
  const std::string cell = db.Key("row", "q");
  const std::string foreign = cell.substr(0, cell.size() - 1);
  db.Put(cell, "the cell");
  db.Put(foreign, "not a cell");
  db.Put(db.Key("row", "q", "1"), "an older version");
  db.Put(db.Key("row", "r"), "another cell");
  for (const bool in_memtable : {true, false}) {
    if (!in_memtable) db.Flush();
    auto scan = RocksDbScan::OfColumn(db.set_up.filter.key_codec, "row", "q");
    ASSERT_TRUE(scan.ok());
    rdb::ReadOptions read;
    scan->Configure(&read);
    std::vector<std::string> values;
    const auto it = db.NewIterator(read);
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      values.push_back(it->value().ToString());
    }
    EXPECT_THAT(values, ElementsAre("the cell", "an older version"));
  }
}

TEST(DbRows, ScansInAnotherOrderAreRefused) {
  TestDb db;
  rdb::Options options = db.MakeOptions();
  options.comparator = rdb::ReverseBytewiseComparator();
  db.Open(options);
  db.Put(db.Key("row", "q"), "value");
  bool exists = false;
  std::vector<RocksDbCell> cells;
  PinnableSlice value;
  for (const Status& status :
       {db.Rows().RowExists({}, "row", &exists),
        db.Rows().GetRow({}, "row", &cells),
        db.Rows().GetNewestCell({}, "row", "q", &value)}) {
    EXPECT_TRUE(status.IsNotSupported());
    EXPECT_THAT(status.ToString(),
                HasSubstr("rocksdb.ReverseBytewiseComparator"));
  }
  EXPECT_TRUE(db.Rows().GetCell({}, "row", "q", &value).ok());
}

// RocksDB's reader of compacted databases knows no blobs, and is used if all
// files are at one level and none is ever closed. Scans go another way.
TEST(DbRows, GetsOfACompactedReadOnlyDatabaseMissBlobs) {
  for (const bool filters : {false, true}) {
    TestDb db;
    rdb::BlockBasedTableOptions table = db.TableOptions();
    if (!filters) {
      db.set_up.extractor = false;
      table.filter_policy = nullptr;
    }
    rdb::Options options = db.MakeOptions(table);
    options.enable_blob_files = true;
    db.Open(options);
    db.PutRows(kPresent);
    db.Flush();
    db.Compact();
    const auto count_found = [&](int max_open_files) {
      options.max_open_files = max_open_files;
      db.Close();
      db.OpenBy([&](auto* opened) {
        return rdb::DB::OpenForReadOnly(options, TestDb::path(), opened);
      });
      int found = 0;
      for (int row = 0; row < kPresent; ++row) {
        PinnableSlice value;
        bool exists = false;
        EXPECT_TRUE(db.Rows().RowExists({}, Row(row), &exists).ok());
        EXPECT_TRUE(exists);
        EXPECT_TRUE(db.Rows().GetNewestCell({}, Row(row), "q", &value).ok());
        found += db.Rows().GetCell({}, Row(row), "q", &value).ok();
      }
      return found;
    };
    EXPECT_EQ(count_found(100), kPresent);
    EXPECT_EQ(count_found(-1), 0) << "it finds them now: amend the trap";
  }
}

TEST(DbRows, ACellThatIsNotReadLeavesNoValue) {
  TestDb db;
  db.set_up.filter.key_codec = KeyCodec::FixedRow(4);
  db.Open();
  db.Put(db.Key("row1", "q"), "value");
  const RocksDbRows rows = db.Rows();
  PinnableSlice value;
  std::string version = "old";
  for (const char* row : {"row2", "longer"}) {
    ASSERT_TRUE(rows.GetCell({}, "row1", "q", &value).ok());
    EXPECT_EQ(value.ToString(), "value");
    EXPECT_FALSE(rows.GetCell({}, row, "q", &value).ok());
    EXPECT_EQ(value.ToString(), "");
    ASSERT_TRUE(rows.GetCell({}, "row1", "q", &value).ok());
    EXPECT_FALSE(rows.GetNewestCell({}, row, "q", &value, &version).ok());
    EXPECT_EQ(value.ToString(), "");
    EXPECT_EQ(version, "");
  }
}

// The first cell of the row is in memory, and the second is not.
TEST(DbRows, ARowThatIsNotReadToItsEndHasNoCells) {
  TestDb db;
  db.set_up.extractor = false;
  db.Open();
  const std::string large(100000, 'v');
  db.Put(db.Key("row", "a"), large);
  db.Put(db.Key("row", "b"), large);
  db.Flush();
  const RocksDbRows rows = db.Rows();
  PinnableSlice value;
  ASSERT_TRUE(rows.GetCell({}, "row", "a", &value).ok());
  ReadOptions memory_only;
  memory_only.read_tier = rdb::kBlockCacheTier;
  std::vector<RocksDbCell> cells;
  EXPECT_TRUE(rows.GetRow(memory_only, "row", &cells).IsIncomplete());
  EXPECT_TRUE(cells.empty());
  ASSERT_TRUE(rows.GetCell({}, "row", "b", &value).ok());
  EXPECT_TRUE(rows.GetRow(memory_only, "row", &cells).ok());
  EXPECT_EQ(cells.size(), 2);
}

TEST(DbRows, ErrorsOfRocksDbPassThrough) {
  TestDb db;
  db.set_up.extractor = false;
  db.Open();
  db.Put(db.Key("row", "q"), "value");
  db.Flush();
  ReadOptions memory_only;
  memory_only.read_tier = rdb::kBlockCacheTier;
  bool exists = true;
  std::vector<RocksDbCell> cells;
  PinnableSlice value;
  const RocksDbRows rows = db.Rows();
  EXPECT_TRUE(rows.RowExists(memory_only, "row", &exists).IsIncomplete());
  EXPECT_FALSE(exists);
  EXPECT_TRUE(rows.GetRow(memory_only, "row", &cells).IsIncomplete());
  EXPECT_TRUE(
      rows.GetNewestCell(memory_only, "row", "q", &value).IsIncomplete());
}

}  // namespace
}  // namespace rowbloom::testing
