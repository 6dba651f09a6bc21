// SPDX-License-Identifier: Apache-2.0
//
// Tests auto_bits inside RocksDB: filters follow what gets do.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "block_cache.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/statistics.h"
#include "rocksdb_plugin/budget_db.h"
#include "rocksdb_plugin/rocksdb_release.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_composed.h"

namespace rowbloom::testing {
namespace {

constexpr uint64_t kKeys = 40000;

std::shared_ptr<const rdb::FilterPolicy> PolicyOf(const std::string& text) {
  std::shared_ptr<const rdb::FilterPolicy> policy;
  EXPECT_TRUE(ParseRocksDbFilterPolicy(text, &policy).ok());
  return policy;
}

// A database that is written while it is asked.
class AskedDb : public BudgetDb {
 public:
  AskedDb() {
    options.statistics = rdb::CreateDBStatistics();
    rdb::BlockBasedTableOptions& table = table_options;
    table.no_block_cache = false;
    table.cache_index_and_filter_blocks = true;
    table.pin_top_level_index_and_filter = true;
    table.index_type = rdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.metadata_block_size = 4096;
    constexpr int kOneShard = 0;
    table.block_cache = rdb::NewLRUCache(200 << 10, kOneShard);
  }

  // Writes each key with an even number once, in random order.
  void Fill() {
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < kKeys; ++i) numbers.push_back(2 * i);
    std::shuffle(numbers.begin(), numbers.end(), random_);
    WriteSsts(numbers);
  }
  // Overwrites twice as many keys as there are, between gets of which this
  // share is of absent keys. They ask for the lowest keys.
  void Live(double missing_share, uint64_t asked_keys = kKeys) {
    constexpr int kRounds = 20;
    for (int round = 0; round < kRounds; ++round) {
      Ask(2000, missing_share, asked_keys);
      std::vector<uint64_t> numbers;
      for (uint64_t i = 0; i < kKeys / 10; ++i) {
        numbers.push_back(2 * (random_() % kKeys));
      }
      WriteSsts(numbers);
    }
  }
  void Ask(int gets, double missing_share, uint64_t asked_keys = kKeys) {
    std::bernoulli_distribution is_absent(missing_share);
    for (int i = 0; i < gets; ++i) {
      const uint64_t number = 2 * (random_() % asked_keys);
      std::string value;
      for (int scan = 0; scan < scans_of_get_; ++scan) Scan();
      if (is_absent(random_)) {
        ASSERT_TRUE(get()->Get({}, Key(number + 1), &value).IsNotFound());
      } else {
        ASSERT_TRUE(get()->Get({}, Key(number), &value).ok());
      }
    }
  }
  void ScanBetweenGets(int scans_of_get) { scans_of_get_ = scans_of_get; }
  double Bits() { return Measure().bits_per_key; }

 private:
  void Scan() {
    constexpr int kEntries = 20;
    const std::unique_ptr<rdb::Iterator> it(get()->NewIterator({}));
    it->Seek(Key(2 * (random_() % kKeys)));
    for (int i = 0; i < kEntries && it->Valid(); ++i) it->Next();
    ASSERT_TRUE(it->status().ok());
  }
  void WriteSsts(const std::vector<uint64_t>& numbers) {
    constexpr size_t kFlushKeys = 2000;
    for (size_t i = 0; i < numbers.size(); i += kFlushKeys) {
      Write({numbers.begin() + static_cast<std::ptrdiff_t>(i),
             numbers.begin() + static_cast<std::ptrdiff_t>(
                                   std::min(i + kFlushKeys, numbers.size()))});
    }
  }

  std::mt19937_64 random_{20261126};
  int scans_of_get_ = 0;
};

class DbAutoBits : public ::testing::TestWithParam<const char*> {
 protected:
  void Open(bool with_listener = true) {
    db_.Open(PolicyOf(GetParam()), with_listener);
  }

  AskedDb db_;
};

INSTANTIATE_TEST_SUITE_P(Policies, DbAutoBits,
                         ::testing::Values("rowbloom:auto",
                                           "rowbloom.Composed:auto"),
                         [](const auto& policy) {
                           return std::string(policy.param) == "rowbloom:auto"
                                      ? "Native"
                                      : "Composed";
                         });

// Gets that nobody counts say nothing of places.
TEST_P(DbAutoBits, WithoutStatisticsALineOfTheLogHasNoAdviceOnPlaces) {
  db_.options.statistics = nullptr;
  Open();
  db_.Fill();
  db_.Live(1);
  std::string log;
  ASSERT_TRUE(rdb::ReadFileToString(db_.get()->GetEnv(),
                                    db_.get()->GetName() + "/LOG", &log)
                  .ok());
  EXPECT_THAT(log, ::testing::HasSubstr("rowbloom plans filters of "));
  EXPECT_THAT(log, ::testing::Not(::testing::HasSubstr("of its time")));
  const auto report =
      ReportRocksDbBudget(db_.get(), db_.get()->DefaultColumnFamily());
  ASSERT_TRUE(report.ok() && report->plan.has_value());
  EXPECT_EQ(report->plan->cheapest_share, 1);
}

// RocksDB's default. The SSTs without filters say nothing of the bits that new
// ones should have.
TEST_P(DbAutoBits, ADatabaseWithoutFiltersGetsThePolicysAverage) {
  db_.Open(nullptr, /*with_listener=*/false);
  db_.Fill();
  EXPECT_EQ(db_.Bits(), 0);
  Open();
  db_.Fill();
  EXPECT_NEAR(db_.Bits(), 10, 2);
}

TEST_P(DbAutoBits, FollowTheShareOfAbsentKeysAndComeBack) {
  Open();
  db_.Fill();
  EXPECT_NEAR(db_.Bits(), 10, 1.5) << "before any get";
  db_.Live(1);
  EXPECT_GT(db_.Bits(), 10);
  db_.Live(0);
  EXPECT_LT(db_.Bits(), 7);
  db_.Live(1);
  EXPECT_GT(db_.Bits(), 8);

  const auto report =
      ReportRocksDbBudget(db_.get(), db_.get()->DefaultColumnFamily());
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->plan.has_value());
  EXPECT_GT(report->plan->bits_per_key, 8);
  EXPECT_LT(report->plan->bits_per_key, kRocksDbRelease < 900 ? 12 : 13)
      << "filters leave room for data, should keys be found";
  EXPECT_GT(report->plan->reads_per_get, 0);
  EXPECT_TRUE(report->plan->has_counts);
  EXPECT_GT(report->plan->missing_share, 0.9);

  // `rowbloom advise` looks for these words.
  std::string log;
  ASSERT_TRUE(rdb::ReadFileToString(db_.get()->GetEnv(),
                                    db_.get()->GetName() + "/LOG", &log)
                  .ok());
  EXPECT_THAT(log,
              ::testing::HasSubstr("[default] rowbloom plans filters of "));
  // Filters and indexes fit into a part of this cache.
  EXPECT_EQ(report->plan->cheapest_place, FilterPlace::kTableReaders);
  EXPECT_LT(report->plan->cheapest_share, 0.9);
  EXPECT_THAT(log,
              ::testing::ContainsRegex(
                  "[0-9]+% of its time with these filters, and indexes, in "
                  "table readers and as much memory with the block cache: "
                  "partition_filters=false.*, and min_bits_per_key=[0-9.]+;"
                  "max_bits_per_key=[0-9.]+ of the policy"));
}

TEST_P(DbAutoBits, APlanOfNoReadsIsReported) {
  db_.table_options.block_cache->SetCapacity(256 << 20);
  Open();
  db_.Fill();
  db_.Live(0.5);
  const auto report =
      ReportRocksDbBudget(db_.get(), db_.get()->DefaultColumnFamily());
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->plan.has_value());
  EXPECT_EQ(report->plan->reads_per_get, 0) << "the cache has room for all";
  EXPECT_LT(report->plan->cheapest_share, 0.9) << "processor time alone";
}

// Compactions read more data blocks than these gets do.
TEST_P(DbAutoBits, SeeThatGetsReadFewDataBlocks) {
  db_.table_options.block_cache->SetCapacity(400 << 10);
  Open();
  db_.Fill();
  db_.Live(0.4, kKeys / 20);
  const auto report =
      ReportRocksDbBudget(db_.get(), db_.get()->DefaultColumnFamily());
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->plan.has_value());
  EXPECT_GT(report->plan->popularity.zipf_exponent, 0.8);
  EXPECT_GT(report->plan->popularity.range_keys, 1)
      << "the keys are side by side";
  EXPECT_LT(report->plan->reads_per_get, 0.3);
}

TEST_P(DbAutoBits, ARestartKeepsWhatWasLearned) {
  Open();
  db_.Fill();
  db_.Live(0);
  const double learned = db_.Bits();
  EXPECT_LT(learned, 6);
  db_.options.statistics = rdb::CreateDBStatistics();
  Open();
  db_.Fill();  // No get has been counted.
  EXPECT_NEAR(db_.Bits(), learned, 1.5);
}

TEST_P(DbAutoBits, ABurstWithoutWritesDoesNotSwingThem) {
  Open();
  db_.Fill();
  db_.Live(1);
  const double before = db_.Bits();
  db_.Ask(2000, 1);
  db_.Write({2});
  db_.Ask(20000, 0);
  db_.Write({4});
  const auto report =
      ReportRocksDbBudget(db_.get(), db_.get()->DefaultColumnFamily());
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->plan.has_value());
  EXPECT_GT(report->plan->missing_share, 0.8);
  EXPECT_NEAR(db_.Bits(), before, 1);
}

// They take room from the data that gets read, but no database takes a part of
// the cache.
TEST_P(DbAutoBits, ScansAreNotTakenForAnotherDatabase) {
  Open();
  db_.Fill();
  db_.Live(0.5);
  const double before = db_.Bits();
  db_.ScanBetweenGets(2);
  db_.Live(0.5);
  EXPECT_NEAR(db_.Bits(), before, 2.5);
  const auto report =
      ReportRocksDbBudget(db_.get(), db_.get()->DefaultColumnFamily());
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_TRUE(report->plan.has_value());
  EXPECT_EQ(report->plan->popularity.zipf_exponent, 0);
  EXPECT_GT(report->plan->popularity.cache_share, 0.8);
}

// Filters in the table readers take no room from the data.
TEST_P(DbAutoBits, AreTheBudgetsWhereFiltersDoNotShareTheCache) {
  db_.table_options.cache_index_and_filter_blocks = false;
  db_.table_options.partition_filters = false;
  Open();
  db_.Fill();
  db_.Live(0);
  EXPECT_NEAR(db_.Bits(), 10, 1.5);
}

TEST_P(DbAutoBits, FollowInAHyperClockCache) {
  constexpr size_t kEntryBytes = 1024;
  constexpr int kOneShard = 0;
  db_.table_options.block_cache =
      rdb::HyperClockCacheOptions(200 << 10, kEntryBytes, kOneShard)
          .MakeSharedCache();
  Open();
  db_.Fill();
  db_.Live(0);
  EXPECT_LT(db_.Bits(), 6.5);
  db_.Live(1);
  EXPECT_GT(db_.Bits(), 7);
}

// One policy, one listener, and one cache; each database counts its gets.
TEST_P(DbAutoBits, TwoDatabasesFollowTheirOwnGets) {
  Open();
  db_.Fill();
  AskedDb other;
  other.table_options.block_cache = db_.table_options.block_cache;
  other.options.listeners = db_.options.listeners;
  other.Open(db_.table_options.filter_policy, /*with_listener=*/true);
  other.Fill();
  for (int turn = 0; turn < 2; ++turn) {
    db_.Live(1);
    other.Live(0);
  }
  EXPECT_GT(db_.Bits(), 7);
  EXPECT_LT(other.Bits(), 5);
}

// Nothing is written, and so nothing planned.
TEST_P(DbAutoBits, ReadOnlyAndSecondaryOpensAnswer) {
  Open();
  db_.Fill();
  db_.Close();
  db_.OpenBy([&](auto* opened) {
    return rdb::DB::OpenForReadOnly(db_.options, TestDb::path(), opened);
  });
  db_.Ask(2000, 0.5);
  db_.Close();
  db_.options.max_open_files = -1;
  db_.OpenBy([&](auto* opened) {
    return rdb::DB::OpenAsSecondary(db_.options, TestDb::path(), "/secondary",
                                    opened);
  });
  db_.Ask(2000, 0.5);
}

TEST_P(DbAutoBits, AreTheBudgetsWithoutAListener) {
  Open(/*with_listener=*/false);
  db_.Fill();
  db_.Live(0);
  EXPECT_NEAR(db_.Bits(), 10, 1.5);
}

}  // namespace
}  // namespace rowbloom::testing
