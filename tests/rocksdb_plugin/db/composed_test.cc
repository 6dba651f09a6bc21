// SPDX-License-Identifier: Apache-2.0
//
// Tests composed mode inside RocksDB: which policy reads which filters, and the
// size of the filters of a tree of several levels.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb_composed.h"

namespace rowbloom::testing {
namespace {

using Policy = std::shared_ptr<const rdb::FilterPolicy>;

Policy Composed(RocksDbFilter filter = RocksDbFilter::kRibbon) {
  RocksDbComposedOptions options;
  options.filter = filter;
  return NewRocksDbComposedPolicy(options);
}
std::string KeyOf(int number) {
  return "key" + std::to_string(1000000 + number);
}

// Puts the even keys of [begin, end).
void PutKeys(TestDb* db, int begin, int end) {
  for (int i = begin; i < end; i += 2) db->Put(KeyOf(i), "value");
}

// Asks for all of [begin, end) and returns how many reads a filter spared.
uint64_t AskForKeys(const TestDb& db, int begin, int end) {
  const uint64_t before = db.Ticker(rdb::BLOOM_FILTER_USEFUL);
  for (int i = begin; i < end; ++i) EXPECT_EQ(db.Has(KeyOf(i)), i % 2 == 0);
  return db.Ticker(rdb::BLOOM_FILTER_USEFUL) - before;
}

double BitsPerKey(const TestDb& db) {
  return 8 * static_cast<double>(db.FilterBytes()) /
         static_cast<double>(db.FilterEntries());
}

void WriteThenReadWith(const Policy& writer, const Policy& reader,
                       bool partitioned) {
  TestDb db;
  db.set_up.extractor = false;
  db.set_up.partitioned = partitioned;
  db.set_up.other_policy = writer;
  db.Open();
  PutKeys(&db, 0, 2000);
  db.Flush();
  PutKeys(&db, 2000, 4000);
  db.Compact();
  PutKeys(&db, 4000, 6000);
  db.Flush();
  db.set_up.other_policy = reader;
  db.Open();
  EXPECT_GT(AskForKeys(db, 0, 6000), 2800);
  db.Compact();
  EXPECT_GT(AskForKeys(db, 0, 6000), 2800);
}

TEST(DbComposed, StockRocksDbReadsItsFilters) {
  for (const bool partitioned : {false, true}) {
    WriteThenReadWith(Composed(RocksDbFilter::kBloom), StockBloom(),
                      partitioned);
    WriteThenReadWith(Composed(RocksDbFilter::kRibbon), StockBloom(),
                      partitioned);
  }
}

TEST(DbComposed, ReadsTheFiltersOfStockRocksDb) {
  for (const bool partitioned : {false, true}) {
    WriteThenReadWith(StockBloom(), Composed(), partitioned);
    WriteThenReadWith(StockRibbon(), Composed(), partitioned);
  }
}

// The tree has three runs, each ten times as large as the next.
TEST(DbComposed, ATreeOfSeveralLevelsKeepsTheBudget) {
  for (const RocksDbFilter filter :
       {RocksDbFilter::kBloom, RocksDbFilter::kRibbon}) {
    RocksDbComposedOptions options;
    options.filter = filter;
    TestDb db;
    db.set_up.extractor = false;
    db.set_up.other_policy = NewRocksDbComposedPolicy(options);
    db.Open();
    const std::vector<std::pair<int, int>> keys_and_level = {
        {200000, 6}, {20000, 5}, {2000, 0}};
    for (const auto& [key_count, level] : keys_and_level) {
      PutKeys(&db, 0, key_count);
      db.Flush();
      if (level > 0) db.CompactTo(level);
    }
    EXPECT_NEAR(BitsPerKey(db), 10, 0.5);
  }
}

TEST(DbComposed, OptionsFileRoundTrips) {
  RegisterRocksDb();
  RocksDbComposedOptions composed;
  composed.bits_per_key = 6.5;
  composed.budget = BudgetMode::kFixed;
  TestDb db;
  db.set_up.extractor = false;
  db.set_up.other_policy = NewRocksDbComposedPolicy(composed);
  db.Open();
  db.Close();
  db.Open(db.LoadOptions());
  PutKeys(&db, 0, 20000);
  db.Flush();
  EXPECT_NEAR(BitsPerKey(db), 6.5, 0.1);
}

TEST(DbComposed, IngestedSstsAreOfTheOldestRun) {
  TestDb db;
  db.set_up.extractor = false;
  db.set_up.other_policy = Composed();
  db.Open();
  std::vector<std::string> keys;
  for (int i = 0; i < 20000; i += 2) keys.push_back(KeyOf(i));
  db.Ingest(keys);
  EXPECT_GT(AskForKeys(db, 0, 20000), 9500);
  EXPECT_NEAR(BitsPerKey(db), 9, 0.99);
}

}  // namespace
}  // namespace rowbloom::testing
