// SPDX-License-Identifier: Apache-2.0
//
// RocksDB's own tickers mean the same with our filters as with its own, and
// samples count by level what the tickers count in total.

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb_rows.h"
#include "rowbloom/rocksdb_stats.h"

namespace rowbloom::testing {
namespace {

using rdb::PinnableSlice;
using ::testing::HasSubstr;
using C = FilterCounter;

constexpr int kCountedRows = 400;

// Writes rows 0, 2, 4, ... at `level`, and keys at its edges, so that lookups
// of all rows ask its files.
void FillLevel(TestDb* db, int level, const std::string& qualifier) {
  db->Put(db->Key("a", qualifier), "");
  for (int row = 0; row < kCountedRows; row += 2) {
    db->Put(db->Key(Row(row), qualifier), "value");
  }
  db->Put(db->Key("z", qualifier), "");
  db->Flush();
  if (level > 0) db->CompactTo(level);
}

// Asks for the keys together, with a sample around RocksDB's call.
std::vector<rdb::Status> MultiGet(const TestDb& db,
                                  const std::vector<std::string>& keys,
                                  const RocksDbSampling& sampling) {
  const std::vector<rdb::Slice> slices(keys.begin(), keys.end());
  std::vector<PinnableSlice> values(keys.size());
  std::vector<rdb::Status> statuses(keys.size());
  const RocksDbLookupSample sample(sampling);
  db->MultiGet({}, db->DefaultColumnFamily(), keys.size(), slices.data(),
               values.data(), statuses.data());
  return statuses;
}

// --- RocksDB's tickers ------------------------------------------------------

// Asks for each row by each kind of lookup; rows of odd numbers are absent.
std::map<std::string, uint64_t> TickersOf(TestDb* db) {
  std::map<std::string, uint64_t> result;
  std::map<std::string, uint64_t> before;
  const auto take = [&](const std::string& kind) {
    const std::pair<const char*, uint64_t> tickers[] = {
        {"useful", db->Ticker(rdb::BLOOM_FILTER_USEFUL)},
        {"positive", db->Ticker(rdb::BLOOM_FILTER_FULL_POSITIVE)},
        {"true positive", db->Ticker(rdb::BLOOM_FILTER_FULL_TRUE_POSITIVE)},
        {"prefix checked", db->PrefixChecks()},
        {"prefix useful", db->PrefixUseful()}};
    for (const auto& [name, now] : tickers) {
      result[kind + ": " + name] = now - before[name];
      before[name] = now;
    }
  };
  take("before");
  const RocksDbRows rows = db->Rows();
  std::vector<std::string> keys;
  for (int row = 0; row < kCountedRows; ++row) {
    keys.push_back(db->Key(Row(row), "q"));
    PinnableSlice value;
    EXPECT_EQ(rows.GetCell({}, Row(row), "q", &value).ok(), row % 2 == 0);
  }
  take("get");
  MultiGet(*db, keys, {});
  take("multiget");
  for (int row = 0; row < kCountedRows; ++row) {
    bool exists = false;
    EXPECT_TRUE(rows.RowExists({}, Row(row), &exists).ok());
    EXPECT_EQ(exists, row % 2 == 0);
  }
  take("scan");
  for (int row = 0; row < kCountedRows; ++row) {
    EXPECT_EQ(ScanRow(*db, Scan::kTotalOrder, Row(row)).size(), row % 2 == 0);
  }
  take("total order");
  return result;
}

TEST(DbStats, TickersCountWhatTheyCountWithStockBloom) {
  for (bool partitioned : {false, true}) {
    for (bool whole : {false, true}) {
      std::map<std::string, uint64_t> tickers[2];
      for (bool stock : {false, true}) {
        TestDb db;
        db.set_up.filter.bloom_type = db.set_up.extractor_type =
            whole && !stock ? BloomType::kRowCol : BloomType::kRow;
        db.set_up.partitioned = partitioned;
        db.set_up.whole_key_filtering = whole;
        // With this many bits, no absent row passes here.
        db.set_up.filter.filter_spec = FilterSpec::BitsPerKey("compact", 24);
        if (stock) db.set_up.other_policy = StockBloom(40);
        db.Open();
        FillLevel(&db, 0, "q");
        tickers[stock] = TickersOf(&db);
      }
      EXPECT_EQ(tickers[0], tickers[1]);
      std::map<std::string, uint64_t>& t = tickers[0];
      if (!whole && kRocksDbRelease >= 803) {
        EXPECT_EQ(t["get: useful"], 0);
        EXPECT_EQ(t["get: prefix checked"], kCountedRows);
        EXPECT_EQ(t["get: prefix useful"], kCountedRows / 2);
        EXPECT_EQ(t["multiget: true positive"], 0);
      } else {
        EXPECT_EQ(t["get: useful"], kCountedRows / 2);
        EXPECT_EQ(t["get: positive"], kCountedRows / 2);
        EXPECT_EQ(t["get: true positive"], kCountedRows / 2);
        EXPECT_EQ(t["get: prefix checked"], 0);
        EXPECT_EQ(t["multiget: true positive"], kCountedRows / 2);
      }
      if (whole) {
        EXPECT_EQ(t["multiget: useful"], kCountedRows / 2);
        EXPECT_EQ(t["multiget: positive"], kCountedRows / 2);
        EXPECT_EQ(t["multiget: prefix checked"], 0);
      } else {
        EXPECT_EQ(t["multiget: useful"], 0);
        EXPECT_EQ(t["multiget: prefix checked"], kCountedRows);
        EXPECT_EQ(t["multiget: prefix useful"], kCountedRows / 2);
      }
      EXPECT_EQ(t["scan: prefix checked"], kCountedRows);
      EXPECT_EQ(t["scan: prefix useful"], kCountedRows / 2);
      EXPECT_EQ(t["scan: useful"], 0);
      EXPECT_EQ(t["total order: prefix checked"], 0);
    }
  }
}

// --- Samples ----------------------------------------------------------------

// Writes two files at level 0, and one each at levels 1 and 3; each has one
// column.
void OpenWithThreeLevels(TestDb* db, double bits_per_key) {
  db->set_up.filter.filter_spec =
      FilterSpec::BitsPerKey("compact", bits_per_key);
  db->Open();
  FillLevel(db, 3, "c");
  FillLevel(db, 1, "b");
  FillLevel(db, 0, "a");
  FillLevel(db, 0, "d");
}

// Gets cells, of which half are absent; each get asks for a column.
void GetAll(const RocksDbRows& rows) {
  for (int row = 0; row < kCountedRows; row += 2) {
    for (const char* qualifier : {"a", "b", "c", "absent", "none", "nil"}) {
      PinnableSlice value;
      EXPECT_EQ(rows.GetCell({}, Row(row), qualifier, &value).ok(),
                qualifier[1] == '\0');
    }
  }
}

uint64_t Sum(const FilterStats& stats, FilterCounter counter) {
  return stats.Snapshot()[counter];
}

void ExpectAsTickers(const TestDb& db, const FilterStats& stats) {
  const uint64_t positive = db.Ticker(rdb::BLOOM_FILTER_FULL_POSITIVE);
  const uint64_t true_positive =
      db.Ticker(rdb::BLOOM_FILTER_FULL_TRUE_POSITIVE);
  EXPECT_EQ(Sum(stats, C::kNegatives), db.Ticker(rdb::BLOOM_FILTER_USEFUL));
  EXPECT_EQ(Sum(stats, C::kTruePositives), true_positive);
  EXPECT_EQ(Sum(stats, C::kFalsePositives), positive - true_positive);
  EXPECT_EQ(Sum(stats, C::kLookups),
            db.Ticker(rdb::BLOOM_FILTER_USEFUL) + positive);
}

TEST(DbStats, GetsAreCountedAtTheLevelsThatTheyAsk) {
  TestDb db;
  OpenWithThreeLevels(&db, 24);  // No false positives here.
  FilterStats stats;
  GetAll(db.Rows({&stats, 1}));
  ExpectAsTickers(db, stats);
  const std::map<int, FilterStatsSnapshot> levels = stats.Levels();
  ASSERT_EQ(levels.size(), 3);
  constexpr uint64_t kGets = kCountedRows / 2;  // For each of six columns.
  // All gets ask the files of d and a; all but those of a ask that of b; those
  // of c and of absent columns ask that of c.
  const std::map<int, std::array<uint64_t, 3>> expected = {
      {0, {12 * kGets, 11 * kGets, kGets}},
      {1, {5 * kGets, 4 * kGets, kGets}},
      {3, {4 * kGets, 3 * kGets, kGets}}};
  for (const auto& [level, counts] : expected) {
    const FilterStatsSnapshot& s = levels.at(level);
    EXPECT_EQ(s[C::kLookups], counts[0]) << level;
    EXPECT_EQ(s[C::kNegatives], counts[1]) << level;
    EXPECT_EQ(s[C::kTruePositives], counts[2]) << level;
    EXPECT_EQ(s[C::kFalsePositives], 0) << level;
  }
}

TEST(DbStats, FalsePositivesOfEachLevelAreThoseOfTheTickers) {
  for (bool batched : {false, true}) {
    TestDb db;
    OpenWithThreeLevels(&db, 4);
    FilterStats stats;
    const RocksDbRows rows = db.Rows({&stats, 1});
    if (batched) {
      std::vector<std::string> keys;
      for (int row = 0; row < kCountedRows; ++row) {
        keys.push_back(db.Key(Row(row), "b"));
        keys.push_back(db.Key(Row(row), "absent"));
      }
      MultiGet(db, keys, {&stats, 1});
    } else {
      GetAll(rows);
    }
    ExpectAsTickers(db, stats);
    for (const auto& [level, s] : stats.Levels()) {
      EXPECT_GT(s[C::kFalsePositives], 0) << level;
      EXPECT_EQ(s[C::kLookups], s[C::kNegatives] + s[C::kTruePositives] +
                                    s[C::kFalsePositives]);
    }
    EXPECT_THAT(stats.ToPrometheus(),
                HasSubstr("rowbloom_false_positives_total{level=\"3\"}"));
    EXPECT_THAT(stats.ToString(), HasSubstr("false pos."));
  }
}

// Since 8.3, RocksDB counts it by level.
TEST(DbStats, MultiGetByPrefixIsNotCountedBefore83) {
  TestDb db;
  db.set_up.whole_key_filtering = false;
  db.Open();
  FillLevel(&db, 0, "q");
  FilterStats stats;
  const auto statuses = MultiGet(
      db, {db.Key("row1000", "q"), db.Key("row1001", "q")}, {&stats, 1});
  EXPECT_TRUE(statuses[0].ok());
  EXPECT_EQ(db.PrefixChecks(), 2);
  if (kRocksDbRelease >= 803) {
    EXPECT_EQ(stats.Levels().at(0)[C::kNegatives], 1);
  } else {
    EXPECT_TRUE(stats.Levels().empty());
  }
}

// The number of samples is within five standard deviations (this fails by
// chance once in 1.7 million runs).
TEST(DbStats, OneLookupOfTheIntervalCountsForAll) {
  TestDb db;
  OpenWithThreeLevels(&db, 24);
  FilterStats stats;
  constexpr uint32_t kInterval = 8;
  const RocksDbRows rows = db.Rows({&stats, kInterval});
  constexpr int kGets = 20000;
  for (int i = 0; i < kGets; ++i) {
    PinnableSlice value;
    EXPECT_TRUE(rows.GetCell({}, Row(2), "absent", &value).IsNotFound());
  }
  const uint64_t counted = stats.Levels().at(1)[C::kNegatives];
  EXPECT_EQ(counted % kInterval, 0);
  const double drawn = static_cast<double>(counted) / kInterval;
  const double share = 1.0 / kInterval;
  EXPECT_NEAR(drawn, kGets * share, 5 * std::sqrt(kGets * share * (1 - share)));
}

TEST(DbStats, ScansThatFindNothingAreCountedWithoutALevel) {
  TestDb db;
  OpenWithThreeLevels(&db, 4);
  FilterStats stats;
  const RocksDbRows rows = db.Rows({&stats, 1});
  bool exists = false;
  for (int row = 0; row < kCountedRows; ++row) {
    ASSERT_TRUE(rows.RowExists({}, Row(row), &exists).ok());
    EXPECT_EQ(exists, row % 2 == 0);
  }
  FilterStats of_cells;
  const int64_t useful = db.PrefixUseful();
  for (int row = 1; row < kCountedRows; row += 2) {
    PinnableSlice value;
    EXPECT_TRUE(db.Rows({&of_cells, 1})
                    .GetNewestCell({}, Row(row), "a", &value)
                    .IsNotFound());
  }
  EXPECT_EQ(Sum(of_cells, C::kLookups), kCountedRows / 2 * 4);
  EXPECT_EQ(Sum(of_cells, C::kNegatives), db.PrefixUseful() - useful);
  EXPECT_EQ(Sum(stats, C::kNegatives), useful);
  const std::map<int, FilterStatsSnapshot> levels = stats.Levels();
  ASSERT_EQ(levels.size(), 1);
  const FilterStatsSnapshot& s = levels.at(FilterStats::kUnknownLevel);
  // These are the lookups of absent rows, in four files.
  EXPECT_EQ(s[C::kLookups], kCountedRows / 2 * 4);
  EXPECT_EQ(s[C::kNegatives], useful);
  EXPECT_EQ(s[C::kFalsePositives], s[C::kLookups] - s[C::kNegatives]);
  EXPECT_GT(s[C::kFalsePositives], 0);
}

// Data blocks are not in memory, but filters are, so a "maybe" leads to a
// failure.
TEST(DbStats, LookupsThatFailAreNotCounted) {
  TestDb db;
  OpenWithThreeLevels(&db, 24);
  FilterStats stats;
  const RocksDbRows rows = db.Rows({&stats, 1});
  rdb::ReadOptions memory_only;
  memory_only.read_tier = rdb::kBlockCacheTier;
  bool exists = true;
  std::vector<RocksDbCell> cells;
  PinnableSlice value;
  EXPECT_TRUE(rows.RowExists(memory_only, Row(2), &exists).IsIncomplete());
  EXPECT_TRUE(rows.GetRow(memory_only, Row(2), &cells).IsIncomplete());
  EXPECT_TRUE(
      rows.GetNewestCell(memory_only, Row(2), "b", &value).IsIncomplete());
  EXPECT_TRUE(rows.GetCell(memory_only, Row(2), "b", &value).IsIncomplete());
  EXPECT_GT(db.Ticker(rdb::BLOOM_FILTER_FULL_POSITIVE), 0);
  EXPECT_GT(db.PrefixChecks(), 0);

  EXPECT_TRUE(stats.Levels().empty()) << stats.ToString();

  // A lookup that needs no data block does not fail.
  EXPECT_TRUE(rows.GetCell(memory_only, Row(2), "none", &value).IsNotFound());
  EXPECT_EQ(Sum(stats, C::kNegatives), 4);
}

TEST(DbStats, SamplesAroundTheEnginesOwnCallsCountOnce) {
  TestDb db;
  OpenWithThreeLevels(&db, 24);
  FilterStats stats;
  const RocksDbSampling sampling{&stats, 1};
  {
    const RocksDbLookupSample sample(sampling);
    EXPECT_FALSE(db.Has(db.Key(Row(2), "absent")));
    PinnableSlice value;  // It has its own sample.
    EXPECT_TRUE(
        db.Rows(sampling).GetCell({}, Row(2), "absent", &value).IsNotFound());
  }
  EXPECT_EQ(Sum(stats, C::kNegatives), 8);
  EXPECT_FALSE(db.Has(db.Key(Row(2), "absent")));
  EXPECT_EQ(Sum(stats, C::kNegatives), 8);
  { const RocksDbLookupSample none(RocksDbSampling{}); }
}

TEST(DbStats, TheThreadsPerfLevelIsAsItWas) {
  TestDb db;
  OpenWithThreeLevels(&db, 24);
  FilterStats stats;
  const RocksDbRows rows = db.Rows({&stats, 1});
  rdb::PerfContext* perf = rdb::get_perf_context();
  const rdb::PerfLevel level_before = rdb::GetPerfLevel();
  for (rdb::PerfLevel level :
       {rdb::PerfLevel::kDisable, rdb::PerfLevel::kEnableCount,
        rdb::PerfLevel::kEnableTimeExceptForMutex}) {
    for (bool by_level : {false, true}) {
      rdb::SetPerfLevel(level);
      if (by_level) {
        perf->EnablePerLevelPerfContext();
      } else {
        perf->DisablePerLevelPerfContext();
      }
      const uint64_t before = Sum(stats, C::kNegatives);
      PinnableSlice value;
      EXPECT_TRUE(rows.GetCell({}, Row(2), "absent", &value).IsNotFound());
      EXPECT_EQ(Sum(stats, C::kNegatives) - before, 4);
      EXPECT_EQ(rdb::GetPerfLevel(), level);
      EXPECT_EQ(perf->per_level_perf_context_enabled, by_level);
      perf->Reset();  // An engine may do this for its own purposes.
    }
  }
  {
    const RocksDbLookupSample sample({&stats, 1});
    perf->ClearPerLevelPerfContext();
  }
  rdb::SetPerfLevel(level_before);
  PinnableSlice value;
  EXPECT_TRUE(rows.GetCell({}, Row(2), "absent", &value).IsNotFound());
}

// RocksDB keeps with an open file the level at which it was opened.
TEST(DbStats, AMovedFileCountsAtItsOldLevelUntilItIsOpenedAnew) {
  TestDb db;
  db.Open();
  FillLevel(&db, 0, "q");
  FilterStats stats;
  PinnableSlice value;
  EXPECT_FALSE(db.Rows({&stats, 1}).GetCell({}, Row(2), "x", &value).ok());
  rdb::CompactRangeOptions move;
  move.change_level = true;
  move.target_level = 4;
  move.bottommost_level_compaction = rdb::BottommostLevelCompaction::kSkip;
  ASSERT_TRUE(db->CompactRange(move, nullptr, nullptr).ok());
  ASSERT_EQ(db.Files().size(), 1);
  ASSERT_EQ(db.Files()[0].level, 4);
  EXPECT_FALSE(db.Rows({&stats, 1}).GetCell({}, Row(2), "x", &value).ok());
  EXPECT_EQ(stats.Levels().count(4), 0);
  EXPECT_EQ(stats.Levels().at(0)[C::kLookups], 2);
  db.Open();
  EXPECT_FALSE(db.Rows({&stats, 1}).GetCell({}, Row(2), "x", &value).ok());
  EXPECT_EQ(stats.Levels().at(4)[C::kLookups], 1);
}

TEST(DbStats, ThreadsCountTogether) {
  TestDb db;
  OpenWithThreeLevels(&db, 4);
  FilterStats stats;
  const RocksDbRows rows = db.Rows({&stats, 1});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&rows] { GetAll(rows); });
  for (std::thread& thread : threads) thread.join();
  ExpectAsTickers(db, stats);
}

}  // namespace
}  // namespace rowbloom::testing
