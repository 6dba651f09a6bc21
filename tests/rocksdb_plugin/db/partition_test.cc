// SPDX-License-Identifier: Apache-2.0
//
// Tests filters in partitions: their number, their size, and the keys at their
// edges.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "rocksdb_plugin/tampering_policy.h"
#include "rocksdb_plugin/test_db.h"

namespace rowbloom::testing {
namespace {

constexpr int kPartitionedRows = 4000;

DbSetUp Partitioned(BloomType type, bool whole_key_filtering) {
  DbSetUp set_up;
  set_up.filter.bloom_type = set_up.extractor_type = type;
  set_up.whole_key_filtering = whole_key_filtering;
  set_up.partitioned = true;
  return set_up;
}

void FillPartitions(TestDb* db) {
  db->Open();
  for (int row = 0; row < kPartitionedRows; ++row) {
    if (row % 3 == 0) db->Put(Row(row) + '\0', "holds a row only");
    db->Put(db->Key(Row(row), "q", "version"), std::string(20, 'v'));
  }
  db->Flush();
}

// RocksDB cuts where a data block ends and the index agrees: up to a quarter
// too late here, with its own Bloom filters, too.
TEST(DbPartition, PartitionsStayNearTheSizeAsked) {
  for (const FilterSpec& filter_policy : SpecsOfEachFamily()) {
    for (uint64_t asked : {1024, 4096}) {
      TestDb db;
      db.set_up = Partitioned(BloomType::kRowCol, true);
      db.set_up.filter.filter_spec = filter_policy;
      db.set_up.metadata_block_size_bytes = asked;
      uint64_t largest = 0;
      const auto policy = std::make_shared<TamperingPolicy>(
          [&largest](std::string* filter) {
            largest = std::max<uint64_t>(largest, filter->size());
          },
          db.set_up.filter);
      db.set_up.other_policy = policy;
      FillPartitions(&db);
      EXPECT_LE(largest, asked * 14 / 10) << SetUpName(db.set_up);
      EXPECT_GT(db.FilterBytes(), asked * policy->finished() / 2)
          << SetUpName(db.set_up);
    }
  }
}

// Shows why Finish must not return an empty slice.
TEST(DbPartition, ControlWithEmptySlicesDeniesKeysThatAreThere) {
  TestDb db;
  db.set_up = Partitioned(BloomType::kRow, true);
  db.set_up.other_policy = std::make_shared<TamperingPolicy>(
      [](std::string* filter) { filter->clear(); }, db.set_up.filter);
  FillPartitions(&db);
  EXPECT_FALSE(db.Has(db.Key(Row(7), "q", "version")));
}

TEST(DbPartition, EachKeyIsFoundInManyPartitions) {
  for (const FilterSpec& policy : SpecsOfEachFamily()) {
    for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
      for (bool whole : {false, true}) {
        TestDb db;
        db.set_up = Partitioned(type, whole);
        db.set_up.filter.filter_spec = policy;
        int partitions = 0;
        db.set_up.other_policy = std::make_shared<TamperingPolicy>(
            [&](std::string*) { ++partitions; }, db.set_up.filter);
        FillPartitions(&db);
        EXPECT_EQ(db.Properties().size(), 1);
        EXPECT_GT(partitions, 10) << SetUpName(db.set_up);
        int found = 0;
        for (int row = 0; row < kPartitionedRows; ++row) {
          found += db.Has(db.Key(Row(row), "q", "version"));
        }
        EXPECT_EQ(found, kPartitionedRows) << SetUpName(db.set_up);
      }
    }
  }
}

// Seeks from behind each row back to its last cell. RocksDB looks for the
// filter partition by a separator between two keys, so it may ask the partition
// behind the row.
int FoundBackwards(const TestDb& db, bool column) {
  int found = 0;
  for (int row = 0; row < kPartitionedRows; ++row) {
    std::string target;
    EXPECT_TRUE(KeyCodec::Ordered().UpperBound({Row(row)}, &target).ok());
    if (column) {
      target = db.Key(Row(row), "q");
      target.back() = '\2';  // The column's upper bound.
    }
    const auto it = db.NewIterator();
    it->SeekForPrev(target);
    found += it->Valid() &&
             it->key() == rdb::Slice(db.Key(Row(row), "q", "version"));
  }
  return found;
}

// RocksDB 9.5 fixed this.
TEST(DbPartition, ControlWithStockBloomLosesRowsBackwards) {
  TestDb db;
  db.set_up = Partitioned(BloomType::kRow, false);
  db.set_up.shorten_separators = false;
  db.set_up.other_policy = StockBloom();
  FillPartitions(&db);
  if (kRocksDbRelease < 905) {
    EXPECT_LT(FoundBackwards(db, false), kPartitionedRows);
  } else {
    EXPECT_EQ(FoundBackwards(db, false), kPartitionedRows);
  }
}

TEST(DbPartition, RowsAndColumnsAreFoundBackwards) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (bool whole : {false, true}) {
      for (bool shorten : {false, true}) {
        TestDb db;
        db.set_up = Partitioned(type, whole);
        db.set_up.shorten_separators = shorten;
        FillPartitions(&db);
        EXPECT_EQ(FoundBackwards(db, false), kPartitionedRows)
            << SetUpName(db.set_up);
        EXPECT_EQ(FoundBackwards(db, true), kPartitionedRows)
            << SetUpName(db.set_up);
      }
    }
  }
}

TEST(DbPartition, ColumnsAreFoundForwards) {
  TestDb db;
  db.set_up = Partitioned(BloomType::kRowCol, true);
  FillPartitions(&db);
  int found = 0;
  for (int row = 0; row < kPartitionedRows; ++row) {
    found += ScanFindsColumn(db, Row(row), "q");
  }
  EXPECT_EQ(found, kPartitionedRows);
  EXPECT_GT(db.PrefixChecks(), 0);
}

}  // namespace
}  // namespace rowbloom::testing
