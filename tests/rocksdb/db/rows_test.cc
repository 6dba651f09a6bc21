// SPDX-License-Identifier: Apache-2.0
//
// Tests that RocksDbRows answers as std::map does, for any options of the
// database and of the read; which filters it asks; what it refuses.

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/test_db.h"
#include "rocksdb/test_seed.h"
#include "rowbloom/rocksdb_rows.h"

namespace rowbloom::testing {
namespace {

using rdb::PinnableSlice;
using rdb::ReadOptions;
using rdb::Status;
using ::testing::HasSubstr;

// --- Against a map ----------------------------------------------------------

class Differential {
 public:
  explicit Differential(uint32_t seed) : random_(seed) {
    DbSetUp& set_up = db_.set_up;
    const KeyCodec codecs[] = {KeyCodec::Ordered(), KeyCodec::FixedRow(6),
                               KeyCodec::Delimiter('|')};
    // At least half of the set-ups use the codec that has versions.
    set_up.filter.key_codec = Chance(50) ? codecs[0] : codecs[random_() % 3];
    set_up.filter.bloom_type = RandomType();
    set_up.extractor_type = RandomType();
    set_up.whole_key_filtering = Chance(70);
    set_up.partitioned = Chance(50);
    set_up.cache_filter_blocks = Chance(50);
    set_up.shorten_separators = Chance(50);
    set_up.target_file_size_bytes = 8 << 10;
    const std::vector<FilterSpec> policies = SpecsOfEachFamily();
    set_up.filter.filter_spec = policies[random_() % policies.size()];
    if (Chance(25)) {
      set_up.other_policy = Chance(50) ? StockBloom() : StockRibbon();
    }
    name_ = SetUpName(set_up) + (set_up.other_policy ? " stock" : "");

    rdb::Options options = db_.MakeOptions();
    rdb::BlockBasedTableOptions table = db_.TableOptions();
    switch (random_() % 8) {
      case 0:
        options.prefix_extractor = nullptr;
        break;
      case 1:
        options.prefix_extractor.reset(rdb::NewFixedPrefixTransform(4));
        break;
      case 2:
        options.prefix_extractor.reset(rdb::NewCappedPrefixTransform(7));
        break;
      default:
        break;  // Ours.
    }
    has_timestamps_ = Chance(30);
    if (options.prefix_extractor != nullptr) {
      name_ += std::string(" ") + options.prefix_extractor->Name();
      if (Chance(30)) options.memtable_prefix_bloom_size_ratio = 0.1;
      // A hash index of RocksDB 7.8 takes timestamps for a part of the prefix,
      // and loses keys with any filter and with none.
      if (!set_up.partitioned && !has_timestamps_ && Chance(30)) {
        table.index_type = rdb::BlockBasedTableOptions::kHashSearch;
        name_ += " hash index";
      }
    }
    if (Chance(10)) table.filter_policy = nullptr;
    options.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
    if (has_timestamps_) {
      EXPECT_TRUE(
          rdb::Comparator::CreateFromString(
              {}, "leveldb.BytewiseComparator.u64ts", &options.comparator)
              .ok());
      name_ += " timestamps";
    }
    db_.Open(options);
    // For "fixed" rows, the keys of one row end where those of another begin;
    // for the other codecs, rows hold bytes that the codec escapes.
    for (int n = 0; n < kRows; ++n) {
      std::string row = "row" + std::to_string(n / 3);
      row.resize(6, static_cast<char>("\0\xffz"[n % 3]));
      all_rows_.push_back(row);
    }
    for (const char* qualifier : {"", "q", "qq"}) {
      all_qualifiers_.emplace_back(qualifier);
    }
    all_qualifiers_.emplace_back("q\0", 2);
  }

  const std::string& name() const { return name_; }
  uint64_t answers() const { return answers_; }

  void Run() {
    for (int file = 0; file < 4; ++file) {
      Write(120);
      db_.Flush();
    }
    const rdb::Snapshot* snapshot = db_->GetSnapshot();
    const Model before = model_;
    const uint64_t time_before = time_;
    Write(120);
    db_.Flush();
    db_.Compact();
    Write(100);
    db_.Flush();
    Write(60);  // These stay in the memtable.

    time_of_read_ = time_;
    Check(ReadOptions(), model_);
    ReadOptions read;
    read.snapshot = snapshot;
    time_of_read_ = time_before;
    Check(read, before);
    if (has_timestamps_) Check(ReadOptions(), before);
    db_->ReleaseSnapshot(snapshot);
  }

 private:
  using Model = std::map<std::string, std::string>;
  static constexpr int kRows = 90;

  bool Chance(uint32_t percent) { return random_() % 100 < percent; }
  BloomType RandomType() {
    return Chance(50) ? BloomType::kRowCol : BloomType::kRow;
  }
  bool has_versions() const {
    return db_.set_up.filter.key_codec.kind() == KeyCodec::Kind::kOrdered;
  }
  std::string RandomKey() {
    // Half of the rows are written; the others are only asked for.
    const std::string& row = all_rows_[random_() % (kRows / 2) * 2];
    const std::string& qualifier =
        all_qualifiers_[random_() % all_qualifiers_.size()];
    const char* version =
        has_versions() && Chance(60) ? (Chance(50) ? "1" : "22") : "";
    return db_.Key(row, qualifier, version);
  }
  void Write(int count) {
    for (int i = 0; i < count; ++i) WriteOne();
  }
  void WriteOne() {
    const std::string key = RandomKey();
    const bool is_put = Chance(75);
    const std::string value = std::to_string(random_());
    std::string time;
    Status status;
    if (has_timestamps_) {
      ++time_;
      time = Time(time_);
      status =
          is_put ? db_->Put({}, key, time, value) : db_->Delete({}, key, time);
    } else {
      status = is_put ? db_->Put({}, key, value) : db_->Delete({}, key);
    }
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (is_put) {
      model_[key] = value;
    } else {
      model_.erase(key);
    }
  }
  // Encodes a timestamp as RocksDB's U64Ts comparators require.
  static std::string Time(uint64_t time) {
    std::string bytes(sizeof(time), '\0');
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>(time >> (8 * i) & 0xff);
    }
    return bytes;
  }

  void Check(ReadOptions read, const Model& model) {
    // A caller may have set any of these options.
    const rdb::Slice junk("row1z");
    if (Chance(30)) read.iterate_upper_bound = &junk;
    if (Chance(30)) read.iterate_lower_bound = &junk;
    read.prefix_same_as_start = Chance(30);
    read.total_order_seek = Chance(30);
    read.auto_prefix_mode = Chance(30);
    read.tailing = Chance(30);
    const std::string time = Time(time_of_read_);
    const rdb::Slice time_slice(time);
    const std::string first_time = Time(0);
    const rdb::Slice first_time_slice(first_time);
    if (has_timestamps_) {
      read.timestamp = &time_slice;
      if (Chance(30)) read.iter_start_ts = &first_time_slice;
    }

    const RocksDbRows rows = db_.Rows();
    for (const std::string& row : all_rows_) {
      CheckRow(rows, read, model, row);
      if (::testing::Test::HasFailure()) return;
    }
    CheckMultiGet(rows, read, model);
  }

  void CheckRow(const RocksDbRows& rows, const ReadOptions& read,
                const Model& model, const std::string& row) {
    const KeyCodec& codec = db_.set_up.filter.key_codec;
    std::vector<std::string> expected;
    for (const auto& [key, value] : model) {
      std::string decoded, qualifier, version;
      ASSERT_TRUE(codec.Decode(key, &decoded, &qualifier, &version).ok());
      if (decoded != row) continue;
      expected.push_back(qualifier + "/" + version + "/" + value);
    }
    bool exists = expected.empty();
    Status status = rows.RowExists(read, row, &exists);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(exists, !expected.empty()) << row;

    std::vector<RocksDbCell> cells(1);
    status = rows.GetRow(read, row, &cells);
    ASSERT_TRUE(status.ok()) << status.ToString();
    std::vector<std::string> found;
    for (const RocksDbCell& cell : cells) {
      found.push_back(cell.qualifier + "/" + cell.version + "/" + cell.value);
    }
    ASSERT_EQ(found, expected) << row;
    answers_ += 2;

    for (const std::string& qualifier : all_qualifiers_) {
      CheckCell(rows, read, model, row, qualifier);
      CheckNewest(rows, read, model, row, qualifier);
    }
  }

  void CheckCell(const RocksDbRows& rows, const ReadOptions& read,
                 const Model& model, const std::string& row,
                 const std::string& qualifier) {
    const auto expected = model.find(db_.Key(row, qualifier));
    PinnableSlice value;
    const Status status = rows.GetCell(read, row, qualifier, &value);
    ++answers_;
    if (expected == model.end()) {
      ASSERT_TRUE(status.IsNotFound()) << status.ToString();
    } else {
      ASSERT_TRUE(status.ok()) << status.ToString() << " " << row;
      ASSERT_EQ(value.ToString(), expected->second);
    }
  }

  void CheckNewest(const RocksDbRows& rows, const ReadOptions& read,
                   const Model& model, const std::string& row,
                   const std::string& qualifier) {
    const std::string key = db_.Key(row, qualifier);
    auto expected = model.lower_bound(key);
    if (expected != model.end() &&
        (has_versions() ? expected->first.compare(0, key.size(), key) != 0
                        : expected->first != key)) {
      expected = model.end();
    }
    PinnableSlice value;
    std::string version = "before";
    const Status status =
        rows.GetNewestCell(read, row, qualifier, &value, &version);
    ++answers_;
    if (expected == model.end()) {
      ASSERT_TRUE(status.IsNotFound()) << status.ToString();
      ASSERT_EQ(version, "");
    } else {
      ASSERT_TRUE(status.ok()) << status.ToString() << " " << row;
      ASSERT_EQ(value.ToString(), expected->second);
      ASSERT_EQ(version, expected->first.substr(key.size()));
    }
  }

  void CheckMultiGet(const RocksDbRows& rows, const ReadOptions& read,
                     const Model& model) {
    std::vector<RocksDbCellName> names;
    for (const std::string& row : all_rows_) {
      for (const std::string& qualifier : all_qualifiers_) {
        names.push_back({row, qualifier});
      }
    }
    std::shuffle(names.begin(), names.end(), random_);
    std::vector<PinnableSlice> values;
    std::vector<Status> statuses;
    rows.MultiGetCells(read, names, &values, &statuses);
    ASSERT_EQ(values.size(), names.size());
    ASSERT_EQ(statuses.size(), names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      const auto expected =
          model.find(db_.Key(names[i].row, names[i].qualifier));
      ++answers_;
      if (expected == model.end()) {
        ASSERT_TRUE(statuses[i].IsNotFound()) << statuses[i].ToString();
      } else {
        ASSERT_TRUE(statuses[i].ok()) << statuses[i].ToString();
        ASSERT_EQ(values[i].ToString(), expected->second);
      }
    }
  }

  std::mt19937 random_;
  TestDb db_;
  std::string name_;
  bool has_timestamps_ = false;
  uint64_t time_ = 0;
  uint64_t time_of_read_ = 0;
  std::vector<std::string> all_rows_;
  std::vector<std::string> all_qualifiers_;
  Model model_;
  uint64_t answers_ = 0;
};

TEST(DbRows, AnswersAsAMapDoesUnderRandomOptions) {
  const uint32_t seed = TestSeed();
  uint64_t answers = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    Differential differential(seed + round);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + differential.name());
    differential.Run();
    answers += differential.answers();
    if (HasFailure()) return;
  }
  std::cout << answers << " answers" << std::endl;
  EXPECT_GT(answers, 100000);
}

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
    bool exists = true;
    std::vector<RocksDbCell> cells;
    PinnableSlice value;
    for (int row = 0; row < kPresent; ++row) {
      const std::string absent = Row(row) + "x";
      ASSERT_TRUE(rows.RowExists({}, absent, &exists).ok());
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
  std::vector<PinnableSlice> values;
  std::vector<Status> statuses;
  rows.MultiGetCells({}, {{"row1", "q"}, {"longer", "q"}, {"row2", "q"}},
                     &values, &statuses);
  EXPECT_EQ(values[0].ToString(), "value");
  EXPECT_TRUE(statuses[1].IsInvalidArgument());
  EXPECT_TRUE(statuses[2].IsNotFound());
  rows.MultiGetCells({}, {}, &values, &statuses);
  EXPECT_TRUE(values.empty());
  EXPECT_TRUE(statuses.empty());
}

TEST(DbRows, KeysThatTheCodecDidNotWriteAreNamed) {
  TestDb db;
  db.set_up.extractor = false;
  db.Open();
  const std::string foreign("row\0\1q\0", 7);  // Column q begins here.
  db.Put(foreign, "value");
  bool exists = false;
  EXPECT_TRUE(db.Rows().RowExists({}, "row", &exists).ok());
  EXPECT_TRUE(exists);
  std::vector<RocksDbCell> cells;
  PinnableSlice value;
  for (const Status& status :
       {db.Rows().GetRow({}, "row", &cells),
        db.Rows().GetNewestCell({}, "row", "q", &value)}) {
    EXPECT_TRUE(status.IsCorruption());
    EXPECT_THAT(status.ToString(), HasSubstr("726F7700017100"));
  }
  EXPECT_TRUE(cells.empty());
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
