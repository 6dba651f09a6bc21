// SPDX-License-Identifier: Apache-2.0
//
// Tests filters in partitions: their number, their size, and the keys at their
// edges.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "rocksdb/cache.h"
#include "rocksdb_plugin/tampering_policy.h"
#include "rocksdb_plugin/test_db.h"

namespace rowbloom::testing {
namespace {

constexpr int kPartitionedRows = 4000;
constexpr int kFewEnoughRows = 8000;  // Their names are equally long.

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
      EXPECT_GT(db.FilterBytes(), asked * policy->finished() * 49 / 100)
          << SetUpName(db.set_up);
    }
  }
}

// Fills a database with rows of one cell: RocksDB adds a key and a prefix for
// each. Returns the size of a filter partition as a multiple of the size asked.
double PartitionsOfPairs(uint64_t metadata_block_size,
                         bool whole_key_filtering) {
  TestDb db;
  db.set_up = Partitioned(BloomType::kRow, whole_key_filtering);
  db.set_up.other_policy = StockBloom();
  db.set_up.metadata_block_size_bytes = metadata_block_size;
  rdb::BlockBasedTableOptions table = db.TableOptions();
  table.block_size = 4096;
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 906
  // Otherwise, as by default from 10.6 on, the index has other partitions.
  table.decouple_partitioned_filters = false;
#endif
  db.Open(db.MakeOptions(table));
  db.Fill(kFewEnoughRows);
  const auto properties = db.Properties();
  EXPECT_EQ(properties.size(), 1);
  const rdb::TableProperties& sst = *properties.front();
  return static_cast<double>(sst.filter_size) /
         static_cast<double>(sst.index_partitions * metadata_block_size);
}

// CheckRocksDbOptions() warns of it.
TEST(DbPartition, ControlWithStockBloomCutsLateWhereKeysAndPrefixesAreAdded) {
  double largest = 0;
  // RocksDB misses an odd number of keys, and no even one.
  for (uint64_t asked = 500; asked < 508; ++asked) {
    largest = std::max(largest, PartitionsOfPairs(asked, true));
    EXPECT_LT(PartitionsOfPairs(asked, false), 1.5) << asked;
  }
  if (kRocksDbRelease < 906) {
    EXPECT_GT(largest, 4);
  } else {
    EXPECT_LT(largest, 1.5);
  }
}

enum class Gets { kNone, kOfColumnsBefore, kOfAbsentColumnBeforeEach };

// The filter partitions that 100 scans read from the file, which do not fill
// the cache.
uint64_t PartitionsReadByScans(rdb::PinningTier pinning, Gets gets) {
  TestDb db;
  db.set_up = Partitioned(BloomType::kRow, true);
  db.set_up.cache_filter_blocks = true;
  db.set_up.block_cache = rdb::NewLRUCache(1 << 20, 0);
  rdb::BlockBasedTableOptions table = db.TableOptions();
  table.metadata_cache_options.partition_pinning = pinning;
  db.Open(db.MakeOptions(table));
  db.Fill(kFewEnoughRows);
  db.Compact();  // RocksDB treats files at level 0 differently.
  table.block_cache = rdb::NewLRUCache(1 << 20, 0);
  db.Open(db.MakeOptions(table));
  constexpr int kScans = 100;
  if (gets == Gets::kOfColumnsBefore) {
    for (int row = 0; row < kScans; ++row) {
      EXPECT_TRUE(db.Has(db.Key(Row(row), "q")));
    }
  }
  rdb::ReadOptions read;
  read.fill_cache = false;
  const uint64_t before = db.Ticker(rdb::BLOCK_CACHE_FILTER_MISS);
  for (int row = 0; row < kScans; ++row) {
    if (gets == Gets::kOfAbsentColumnBeforeEach) {
      EXPECT_FALSE(db.Has(db.Key(Row(row), "absent")));
    }
    const auto it = db.NewIterator(read);
    it->Seek(db.Key(Row(row), ""));
    EXPECT_TRUE(it->Valid());
  }
  EXPECT_GE(db.PrefixChecks(), kScans);
  return db.Ticker(rdb::BLOCK_CACHE_FILTER_MISS) - before;
}

TEST(DbPartition, ScansThatFillNoCacheReadAPartitionEachTimeUnlessItIsKept) {
  // RocksDB before 8.0 keeps them.
  const uint64_t unpinned =
      PartitionsReadByScans(rdb::PinningTier::kNone, Gets::kNone);
  if (kRocksDbRelease < 800) {
    EXPECT_LT(unpinned, 50);
  } else {
    EXPECT_GE(unpinned, 100);
  }
  EXPECT_EQ(
      PartitionsReadByScans(rdb::PinningTier::kNone, Gets::kOfColumnsBefore),
      0);
  EXPECT_LT(PartitionsReadByScans(rdb::PinningTier::kNone,
                                  Gets::kOfAbsentColumnBeforeEach),
            50);
  EXPECT_EQ(PartitionsReadByScans(rdb::PinningTier::kAll, Gets::kNone), 0);
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
