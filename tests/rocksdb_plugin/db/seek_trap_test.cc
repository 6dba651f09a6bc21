// SPDX-License-Identifier: Apache-2.0
//
// Tests set-ups in which RocksDB itself skips present keys: a control shows the
// loss, and our code answers right in the same set-up.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "policy/row_prefix_extractor.h"
#include "rocksdb/comparator.h"
#include "rocksdb/memtablerep.h"
#include "rocksdb_plugin/test_db.h"
#if ROCKSDB_MAJOR >= 11
#include "rocksdb/multi_scan.h"
#endif

namespace rowbloom::testing {
namespace {

using rdb::Slice;

constexpr Scan kAllScans[] = {Scan::kPlain, Scan::kAutoPrefixMode,
                              Scan::kPrefixSameAsStart, Scan::kTotalOrder};

// Maps each key with a whole column to that column, even stored keys, which the
// extractor must not do.
class StoredKeysToColumns : public rdb::SliceTransform {
 public:
  const char* Name() const override { return "test.StoredKeysToColumns"; }
  Slice Transform(const Slice& key) const override {
    size_t row_size = 0;
    const size_t column_size = KeyCodec::Ordered().SecondPrefixSize(
        std::string_view(key.data(), key.size()), &row_size);
    return Slice(key.data(), column_size > 0 ? column_size : row_size);
  }
  bool InDomain(const Slice& key) const override {
    return !Transform(key).empty();
  }
};

// A way to fill a database so that RocksDB seeks anew within a row.
struct Trap {
  const char* name;
  void (*fill)(TestDb* db);
  int rows;           // Each of them has living cells.
  size_t cells_each;  // The living cells of a row, one of them in this column.
  const char* living_qualifier;
};

// RocksDB seeks anew, to the key it stands on, once it has met more than
// eight versions of it.
void FillWithManyVersions(TestDb* db) {
  for (int version = 0; version < 20; ++version) {
    db->Put(db->Key(Row(0), "a"), std::to_string(version));
    db->Flush();
  }
  ASSERT_TRUE((*db)->Delete({}, db->Key(Row(0), "a")).ok());
  db->Flush();
  db->Put(db->Key(Row(0), "b"), "the row's only living cell");
  db->Flush();
}

// It also seeks anew to the end of each range tombstone.
void FillWithRangeTombstone(TestDb* db) {
  db->Put(db->Key(Row(0), "a"), "deleted");
  db->Put(db->Key(Row(0), "m"), "the end of the tombstone, elsewhere");
  db->Flush();
  db->Put(db->Key(Row(0), "b"), "deleted");
  db->Put(db->Key(Row(0), "z"), "living");
  db->Flush();
  db->DeleteRange(db->Key(Row(0), "a"), db->Key(Row(0), "m"));
  db->Flush();
}

// A tombstone over the end of a file stretches that file's range up to the
// first key of the next. RocksDB then looks for a row first in the file that
// lacks it, and goes on to the next only if that begins with the same prefix.
void FillWithTombstoneOverAFileEnd(TestDb* db) {
  for (int row = 0; row < 200; ++row) {
    db->Put(db->Key(Row(row), "q"), std::string(200, 'v'));
  }
  const rdb::Snapshot* before = (*db)->GetSnapshot();
  db->DeleteRange(db->Key("row1", ""), db->Key("row2", ""));
  db->Fill(200);
  db->Compact();
  ASSERT_GT(db->Properties().size(), 3);
  (*db)->ReleaseSnapshot(before);
}

const Trap kTraps[] = {
    {"ManyVersions", FillWithManyVersions, 1, 1, "b"},
    {"RangeTombstone", FillWithRangeTombstone, 1, 2, "z"},
    {"TombstoneOverAFileEnd", FillWithTombstoneOverAFileEnd, 200, 1, "q"},
};

// Returns how many cells of all rows the scans find.
size_t CellsFound(const TestDb& db, const Trap& trap, Scan scan) {
  size_t found = 0;
  for (int row = 0; row < trap.rows; ++row) {
    found += ScanRow(db, scan, Row(row)).size();
  }
  return found;
}

class DbSeekTraps : public ::testing::TestWithParam<Trap> {
 protected:
  DbSeekTraps() { db_.set_up.target_file_size_bytes = 4 << 10; }

  const size_t cells_ = GetParam().rows * GetParam().cells_each;
  TestDb db_;
};
INSTANTIATE_TEST_SUITE_P(, DbSeekTraps, ::testing::ValuesIn(kTraps),
                         [](const auto& trap) {
                           return std::string(trap.param.name);
                         });

TEST_P(DbSeekTraps, ControlLosesCells) {
  rdb::Options options = db_.MakeOptions();
  options.prefix_extractor = std::make_shared<StoredKeysToColumns>();
  db_.Open(options);
  GetParam().fill(&db_);
  EXPECT_LT(CellsFound(db_, GetParam(), Scan::kPlain), cells_);
  EXPECT_EQ(CellsFound(db_, GetParam(), Scan::kTotalOrder), cells_);
}

TEST_P(DbSeekTraps, AllCellsAreFound) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    db_.set_up.filter.bloom_type = db_.set_up.extractor_type = type;
    TestDb db;
    db.set_up = db_.set_up;
    db.Open();
    GetParam().fill(&db);
    for (Scan scan : kAllScans) {
      EXPECT_EQ(CellsFound(db, GetParam(), scan), cells_);
    }
    for (int row = 0; row < GetParam().rows; ++row) {
      EXPECT_TRUE(ScanFindsColumn(db, Row(row), GetParam().living_qualifier));
    }
  }
}

// Returns the bound that a RocksDbScan sets.
std::string ColumnBound(const TestDb& db, const std::string& row,
                        const std::string& qualifier) {
  std::string bound = db.Key(row, qualifier);
  bound.pop_back();
  return bound;
}

// Writes older cells around a newer tombstone, which may begin and end at
// bounds of columns that the older SST does not have.
void FillAroundATombstone(TestDb* db, const std::string& begin,
                          const std::string& end) {
  for (const char* qualifier : {"a", "d", "n", "z"}) {
    db->Put(db->Key("row", qualifier), "v");
  }
  for (const char* other : {"other", "sow"}) {
    db->Put(db->Key(other, "q"), "v");
  }
  db->Flush();
  db->DeleteRange(begin, end);
  db->Flush();
}

size_t CellsBackwards(const TestDb& db) {
  const auto it = db.NewIterator();
  size_t count = 0;
  for (it->SeekForPrev(db.Key("row", "m"));
       it->Valid() && it->key().starts_with("row"); it->Prev()) {
    ++count;
  }
  return count;
}

TEST(DbSeekTrap, TombstonesAtBoundsOfColumnsHideCellsFromPlainSeeks) {
  TestDb db;
  db.Open();
  EXPECT_TRUE(CheckRocksDbOptions(db.MakeOptions()).ok());
  FillAroundATombstone(&db, ColumnBound(db, "row", "c"),
                       ColumnBound(db, "row", "m"));
  EXPECT_EQ(ScanRow(db, Scan::kPlain, "row").size(), 1);
  EXPECT_EQ(ScanRow(db, Scan::kPrefixSameAsStart, "row").size(), 1);
  EXPECT_EQ(ScanRow(db, Scan::kAutoPrefixMode, "row").size(), 3);
  EXPECT_EQ(ScanRow(db, Scan::kTotalOrder, "row").size(), 3);
  EXPECT_EQ(CellsBackwards(db), 0);
}

TEST(DbSeekTrap, CellsAroundDeletionsAndTombstonesAtKeysAreFound) {
  for (const bool by_key : {true, false}) {
    TestDb db;
    db.Open();
    const auto range =
        RocksDbDeletion::OfColumn(db.set_up.filter.key_codec, "row", "d");
    ASSERT_TRUE(range.ok());
    FillAroundATombstone(&db, by_key ? db.Key("row", "c") : range->begin,
                         by_key ? db.Key("row", "m") : range->end);
    for (Scan scan : kAllScans) EXPECT_EQ(ScanRow(db, scan, "row").size(), 3);
    EXPECT_EQ(CellsBackwards(db), 1);
  }
}

// RocksDB cuts a tombstone where subcompactions meet: at separators of blocks.
// The separator between columns q and q\0... is q's prefix and a byte.
TEST(DbSeekTrap, CellsBehindATombstoneCutAtASeparatorAreFound) {
  TestDb db;
  db.set_up.target_file_size_bytes = 1 << 10;
  rdb::BlockBasedTableOptions table = db.TableOptions();
  table.block_size = 64;
  rdb::Options options = db.MakeOptions(table);
  options.max_subcompactions = 8;
  EXPECT_TRUE(CheckRocksDbOptions(options).ok());
  db.Open(options);
  for (const char* qualifier : {"A", "b", "l", "z", "zz"}) {
    db.Put(db.Key("row", qualifier), "b and l are deleted later");
  }
  db.Flush();
  db.CompactTo(3, 1 << 10);
  for (int i = 100; i < 160; ++i) {
    const std::string qualifier = "c" + std::to_string(i);
    db.Put(db.Key("row", qualifier), std::string(60, 'v'));
    db.Put(db.Key("row", qualifier + std::string("\0x", 2)),
           std::string(60, 'v'));
  }
  db.Flush();
  const rdb::Snapshot* before = db->GetSnapshot();
  db.DeleteRange(db.Key("row", "a"), db.Key("row", "m"));
  db.Flush();
  db.CompactTo(1, 1 << 10);
  ASSERT_GT(db.Properties().size(), 3);
  for (Scan scan : kAllScans) EXPECT_EQ(ScanRow(db, scan, "row").size(), 3);
  EXPECT_EQ(CellsBackwards(db), 1);
  db->ReleaseSnapshot(before);
}

// RocksDB's tailing iterator forgets a file that a filter ruled out.
TEST(DbSeekTrap, TailingIteratorsLoseRowsToPlainSeeks) {
  TestDb db;
  db.Open();
  db.Put(db.Key("row5", "q"), "value");
  db.Flush();
  const auto finds = [&db](bool auto_prefix_mode) {
    rdb::ReadOptions read;
    read.tailing = true;
    read.auto_prefix_mode = auto_prefix_mode;
    const auto it = db.NewIterator(read);
    it->Seek(db.Key("row1", "q"));
    it->Seek(db.Key("row5", "q"));
    return it->Valid();
  };
  EXPECT_FALSE(finds(/*auto_prefix_mode=*/false)) << "it loses none any more";
  EXPECT_TRUE(finds(/*auto_prefix_mode=*/true));
}

TEST(DbSeekTrap, TailingScansOfAColumnFindAllVersions) {
  TestDb db;
  db.Open();
  for (const char* version : {"1", "2", "3"}) {
    db.Put(db.Key("row", "q", version), "value");
  }
  db.Flush();
  auto scan = RocksDbScan::OfColumn(db.set_up.filter.key_codec, "row", "q");
  ASSERT_TRUE(scan.ok());
  rdb::ReadOptions read;
  read.tailing = true;
  scan->Configure(&read);
  const auto it = db.NewIterator(read);
  for (int turn = 0; turn < 2; ++turn) {
    it->SeekToFirst();
    for (const char* version : {"1", "2", "3"}) {
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(it->key(), Slice(db.Key("row", "q", version)));
      it->Next();
    }
    EXPECT_FALSE(it->Valid());
  }
}

// There are ten ranges of 15 rows; each range begins at an absent row.
constexpr int kRowsInRanges = 150;

void FillEveryOtherRow(TestDb* db) {
  for (int row = 0; row < 400; row += 2) {
    db->Put(db->Key(Row(row), "q"), "value");
  }
  db->Flush();
}

std::vector<std::pair<std::string, std::string>> RangesOfManyRows(
    const TestDb& db) {
  std::vector<std::pair<std::string, std::string>> ranges(10);
  int row = 1;
  for (auto& [lower, upper] : ranges) {
    const KeyCodec& codec = db.set_up.filter.key_codec;
    EXPECT_TRUE(codec.LowerBound({Row(row)}, &lower).ok());
    EXPECT_TRUE(codec.LowerBound({Row(row + 30)}, &upper).ok());
    row += 40;
  }
  return ranges;
}

using CountRowsInRanges = int (*)(const TestDb& db, rdb::ReadOptions read);

int CountByIterator(const TestDb& db, rdb::ReadOptions read) {
  int found = 0;
  for (const auto& [lower, upper] : RangesOfManyRows(db)) {
    const Slice upper_slice(upper);
    read.iterate_upper_bound = &upper_slice;
    const auto it = db.NewIterator(read);
    for (it->Seek(lower); it->Valid(); it->Next()) ++found;
  }
  return found;
}

#if ROCKSDB_MAJOR >= 11
int CountByMultiScan(const TestDb& db, rdb::ReadOptions read) {
  const auto ranges = RangesOfManyRows(db);
  rdb::MultiScanArgs args(rdb::BytewiseComparator());
  for (const auto& [lower, upper] : ranges) args.insert(lower, upper);
  int found = 0;
  const auto multi_scan =
      db->NewMultiScan(read, db->DefaultColumnFamily(), args);
  for (auto range : *multi_scan) {
    for (auto entry : range) found += !entry.first.empty();
  }
  return found;
}
#endif

const CountRowsInRanges kRangeScans[] = {
    CountByIterator,
#if ROCKSDB_MAJOR >= 11
    CountByMultiScan,
#endif
};

TEST(DbSeekTrap, RangesOfManyRowsLoseRowsToPlainSeeks) {
  for (const bool stock : {false, true}) {
    TestDb db;
    if (stock) db.set_up.other_policy = StockBloom();
    db.Open();
    FillEveryOtherRow(&db);
    for (const CountRowsInRanges count : kRangeScans) {
      rdb::ReadOptions read;
      EXPECT_LT(count(db, read), kRowsInRanges) << "it loses none any more";
      read.auto_prefix_mode = true;
      EXPECT_EQ(count(db, read), kRowsInRanges);
      read.auto_prefix_mode = false;
      read.total_order_seek = true;
      EXPECT_EQ(count(db, read), kRowsInRanges);
    }
  }
}

#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 907
TEST(DbSeekTrap, RangesOfManyRowsAreFoundWherePrefixSeekIsOptIn) {
  for (const bool stock : {false, true}) {
    TestDb db;
    if (stock) db.set_up.other_policy = StockBloom();
    rdb::Options options = db.MakeOptions();
    options.prefix_seek_opt_in_only = true;
    db.Open(options);
    FillEveryOtherRow(&db);
    for (const CountRowsInRanges count : kRangeScans) {
      EXPECT_EQ(count(db, {}), kRowsInRanges);
    }
  }
}

TEST(DbSeekTrap, ScansAskTheFilterWherePrefixSeekIsOptIn) {
  TestDb db;
  rdb::Options options = db.MakeOptions();
  options.prefix_seek_opt_in_only = true;
  db.Open(options);
  FillEveryOtherRow(&db);
  const uint64_t useful_before = db.PrefixUseful();
  for (int row = 0; row < 400; ++row) {
    bool exists = false;
    ASSERT_TRUE(db.Rows().RowExists({}, Row(row), &exists).ok());
    EXPECT_EQ(exists, row % 2 == 0);
  }
  EXPECT_GT(db.PrefixUseful() - useful_before, 180);  // 200 rows are absent.
}
#endif

// Shows why CheckRocksDbOptions() refuses prefix hashes: a plain seek to the
// bound of a column loses columns; a RocksDbScan never does.
constexpr int kColumns = 100;
int PlainSeeksThatFind(const TestDb& db) {
  int found = 0;
  for (int row = 0; row < kColumns; ++row) {
    const auto it = db.NewIterator();
    it->Seek(ColumnBound(db, Row(row), "q"));
    found += it->Valid() && it->key() == Slice(db.Key(Row(row), "q", "v"));
  }
  return found;
}
int ScansThatFind(const TestDb& db) {
  int found = 0;
  for (int row = 0; row < kColumns; ++row) {
    found += ScanFindsColumn(db, Row(row), "q");
  }
  return found;
}

TEST(DbSeekTrap, PrefixHashesHideColumnsFromPlainSeeks) {
  for (const bool in_memtable : {true, false}) {
    TestDb db;
    rdb::BlockBasedTableOptions table = db.TableOptions();
    if (!in_memtable) {
      table.index_type = rdb::BlockBasedTableOptions::kHashSearch;
    }
    rdb::Options options = db.MakeOptions(table);
    if (in_memtable) options.memtable_prefix_bloom_size_ratio = 0.1;
    EXPECT_FALSE(CheckRocksDbOptions(options).ok());
    db.Open(options);
    db.PutRows(kColumns, "q", "v");
    if (!in_memtable) db.Flush();
    EXPECT_LT(PlainSeeksThatFind(db), kColumns);
    EXPECT_EQ(ScansThatFind(db), kColumns);
  }
}

// There is no filter: the index loses these keys. A target that is behind the
// last block of its prefix is "not in the index".
TEST(DbSeekTrap, HashIndexLosesKeysBackwards) {
  TestDb db;
  db.set_up.extractor_type = BloomType::kRow;
  db.set_up.shorten_separators = false;
  rdb::BlockBasedTableOptions table = db.TableOptions();
  table.index_type = rdb::BlockBasedTableOptions::kHashSearch;
  table.block_size = 16;  // A row each.
  table.filter_policy = nullptr;
  const rdb::Options options = db.MakeOptions(table);
  EXPECT_FALSE(CheckRocksDbOptions(options).ok());
  db.Open(options);
  constexpr int kRows = 300;
  db.Fill(kRows, "q");
  const auto count_found = [&db](const rdb::ReadOptions& read) {
    int found = 0;
    for (int row = 0; row < kRows; ++row) {
      const auto it = db.NewIterator(read);
      it->SeekForPrev(db.Key(Row(row), "z"));
      found += it->Valid() && it->key() == Slice(db.Key(Row(row), "q"));
    }
    return found;
  };
  EXPECT_LT(count_found({}), kRows) << "it loses none any more";
  rdb::ReadOptions total_order;
  total_order.total_order_seek = true;
  EXPECT_EQ(count_found(total_order), kRows);
}

// This happens without any filter and with any prefix extractor: RocksDB does
// not support it, and reports nothing.
TEST(DbSeekTrap, HashMemtablesLoseKeysBackwards) {
  TestDb db;
  db.set_up.extractor_type = BloomType::kRow;
  rdb::BlockBasedTableOptions table = db.TableOptions();
  table.filter_policy = nullptr;
  rdb::Options options = db.MakeOptions(table);
  options.allow_concurrent_memtable_write = false;
  options.memtable_factory.reset(rdb::NewHashLinkListRepFactory());
  EXPECT_FALSE(CheckRocksDbOptions(options).ok());
  db.Open(options);
  db.Put(db.Key("row", "a"), "value");
  const auto it = db.NewIterator();
  it->SeekForPrev(db.Key("row", "b"));
  EXPECT_FALSE(it->Valid()) << "it loses none any more";
}

TEST(DbSeekTrap, OptionsThatPassTheCheckFindAllColumns) {
  for (bool partitioned : {false, true}) {
    TestDb db;
    db.set_up.partitioned = partitioned;
    EXPECT_TRUE(CheckRocksDbOptions(db.MakeOptions()).ok());
    db.Open();
    db.PutRows(kColumns, "q", "v");
    EXPECT_EQ(PlainSeeksThatFind(db), kColumns);
    db.Flush();
    EXPECT_EQ(PlainSeeksThatFind(db), kColumns);
    EXPECT_EQ(ScansThatFind(db), kColumns);
  }
}

// Without whole keys the filter holds rows only, and says so.
TEST(DbSeekTrap, ColumnsAreFoundThoughOnlyPrefixesWereFed) {
  TestDb db;
  db.set_up.whole_key_filtering = false;
  EXPECT_FALSE(CheckRocksDbOptions(db.MakeOptions()).ok());
  db.OpenAndFill(kColumns, "q", "v");
  EXPECT_EQ(ScansThatFind(db), kColumns);
}

}  // namespace
}  // namespace rowbloom::testing
