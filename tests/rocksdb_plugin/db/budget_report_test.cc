// SPDX-License-Identifier: Apache-2.0
//
// Compares the report on the filters of a column family with the results of
// lookups.

#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb_plugin/budget_db.h"
#include "rocksdb_plugin/test_db.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_composed.h"
#include "rowbloom/rocksdb_stats.h"

namespace rowbloom::testing {
namespace {

using ::testing::HasSubstr;

// Writes even numbers, spread evenly over each SST, so that levels overlap.
void Grow(BudgetDb* db, int flushes) {
  std::mt19937_64 random(7);
  for (int i = 0; i < flushes; ++i) {
    std::vector<uint64_t> keys;
    for (int j = 0; j < 2048; ++j) keys.push_back(2 * (random() >> 20));
    db->Write(keys);
  }
}

RocksDbOptions Options(BudgetMode mode, double bits_per_key) {
  RocksDbOptions options;
  options.bloom_type = BloomType::kRow;
  options.key_codec = KeyCodec::FixedRow(16);
  options.filter_spec = FilterSpec::BitsPerKey("compact", bits_per_key);
  options.budget = mode;
  return options;
}

RocksDbBudgetReport ReportOf(const BudgetDb& db,
                             const FilterStats* stats = nullptr) {
  const auto report =
      ReportRocksDbBudget(db.get(), db->DefaultColumnFamily(), stats);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : RocksDbBudgetReport();
}

class DbBudgetReportOfLevels : public ::testing::TestWithParam<bool> {};

INSTANTIATE_TEST_SUITE_P(All, DbBudgetReportOfLevels, ::testing::Bool(),
                         [](const auto& dynamic) {
                           return dynamic.param ? "DynamicLevelBytes"
                                                : "StaticLevelBytes";
                         });

TEST_P(DbBudgetReportOfLevels, SumsUpWhatIsLive) {
  BudgetDb db;
  db.options.level_compaction_dynamic_level_bytes = GetParam();
  db.Open(NewRocksDbFilterPolicy(Options(BudgetMode::kBalanced, 10)),
          /*with_listener=*/true);
  Grow(&db, 31);
  const RocksDbBudgetReport report = ReportOf(db);
  EXPECT_EQ(report.filter, "compact");
  EXPECT_FALSE(report.plan.has_value());
  const BudgetDb::Filters filters = db.Measure();
  EXPECT_EQ(report.key_count, filters.key_count);
  EXPECT_NEAR(report.waste.bits_per_key, filters.bits_per_key, 0.01);
  uint64_t files = 0;
  double wasted = 0;
  for (const RocksDbBudgetLevel& level : report.levels) {
    files += level.file_count;
    wasted += level.expected_wasted_reads;
    EXPECT_EQ(level.run_count, level.level == 0 ? level.file_count : 1);
  }
  EXPECT_EQ(files, report.files.size());
  EXPECT_NEAR(wasted, report.waste.wasted_reads, 1e-12);
  // Newer levels have more bits, and not much of the memory is wasted.
  ASSERT_GE(report.levels.size(), 2);
  EXPECT_GT(report.levels.front().bits_per_key,
            report.levels.back().bits_per_key + 1);
  EXPECT_GT(report.waste.percent_of_optimum(), GetParam() ? 65 : 75);
}

TEST(DbBudgetReport, TheSameBitsEverywhereAreFartherFromTheOptimum) {
  BudgetDb db;
  db.Open(NewRocksDbFilterPolicy(Options(BudgetMode::kFixed, 10)),
          /*with_listener=*/true);
  Grow(&db, 31);
  const RocksDbBudgetReport report = ReportOf(db);
  EXPECT_LT(report.waste.percent_of_optimum(), 70);
  EXPECT_GT(report.waste.percent_of_optimum(), 20);
}

TEST(DbBudgetReport, KeysWithoutFiltersAreCounted) {
  BudgetDb db;
  RocksDbOptions options = Options(BudgetMode::kHitsOnly, 10);
  options.budget_bits_per_key = 0.7;
  db.Open(NewRocksDbFilterPolicy(options), /*with_listener=*/true);
  Grow(&db, 31);
  const RocksDbBudgetReport report = ReportOf(db);
  EXPECT_EQ(report.key_count, db.Measure().key_count);
  // The last level has only filters that flushes wrote and compactions moved.
  EXPECT_LT(report.levels.back().bits_per_key, 0.6);
  EXPECT_GT(report.levels.back().expected_fpr, 0.75);
  EXPECT_LT(report.waste.bits_per_key, 1.5);
}

TEST(DbBudgetReport, FiltersThatWereReadSayTheSame) {
  BudgetDb db;
  db.Open(NewRocksDbFilterPolicy(Options(BudgetMode::kBalanced, 8)),
          /*with_listener=*/false);
  Grow(&db, 11);
  const auto verified =
      VerifyRocksDbFilters(db.get(), db->DefaultColumnFamily());
  ASSERT_TRUE(verified.ok());
  const auto read = ReportRocksDbBudget(*verified);
  ASSERT_TRUE(read.ok()) << read.status();
  const RocksDbBudgetReport live = ReportOf(db);
  EXPECT_EQ(read->key_count, live.key_count);
  EXPECT_EQ(read->filter, live.filter);
  EXPECT_EQ(read->waste.runs.size(), live.waste.runs.size());
  EXPECT_NEAR(read->waste.bits_per_key, live.waste.bits_per_key, 0.01);
  EXPECT_NEAR(read->waste.wasted_reads, live.waste.wasted_reads,
              0.1 * live.waste.wasted_reads);
}

// The SST has few keys; its filter has a line or a segment at least.
TEST(DbBudgetReport, SmallFiltersHaveARate) {
  for (const FilterSpec& family : SpecsOfEachFamily()) {
    for (const uint64_t key_count : {1, 5, 20, 50, 200}) {
      for (const double bits : {5, 10, 16}) {
        RocksDbOptions options = Options(BudgetMode::kFixed, 10);
        options.filter_spec = FilterSpec::BitsPerKey(family.family(), bits);
        options.budget.reset();
        BudgetDb db;
        db.Open(NewRocksDbFilterPolicy(options), /*with_listener=*/false);
        std::vector<uint64_t> keys(key_count);
        std::iota(keys.begin(), keys.end(), 0);
        db.Write(keys);
        const auto verified =
            VerifyRocksDbFilters(db.get(), db->DefaultColumnFamily());
        ASSERT_TRUE(verified.ok());
        const double own = *verified->files.at(0).expected_fpr;
        const double reported = ReportOf(db).files.at(0).expected_fpr;
        EXPECT_GE(reported, 0.5 * own)
            << family.family() << " of " << key_count << ", " << bits;
        EXPECT_LE(reported, 1.7 * options.filter_spec.expected_fpr())
            << family.family() << " of " << key_count << ", " << bits;
      }
    }
  }
}

TEST(DbBudgetReport, InHitsOnlyModeNoGetMisses) {
  RocksDbOptions native = Options(BudgetMode::kHitsOnly, 10);
  RocksDbComposedOptions composed;
  composed.budget = BudgetMode::kHitsOnly;
  for (const auto& policy :
       {NewRocksDbFilterPolicy(native), NewRocksDbComposedPolicy(composed)}) {
    BudgetDb db;
    db.Open(policy, /*with_listener=*/false);
    Grow(&db, 5);
    EXPECT_EQ(ReportOf(db).missing_share, 0);
    const auto verified =
        VerifyRocksDbFilters(db.get(), db->DefaultColumnFamily());
    ASSERT_TRUE(verified.ok());
    const auto read = ReportRocksDbBudget(*verified);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->missing_share, 0);
  }
}

TEST(DbBudgetReport, KnowsRocksDbsOwnPoliciesAndRefusesOthers) {
  BudgetDb db;
  db.Open(StockBloom(), /*with_listener=*/false);
  Grow(&db, 3);
  EXPECT_EQ(ReportOf(db).filter, "rocksdb_bloom");
  db.Open(StockRibbon(), /*with_listener=*/false);
  EXPECT_EQ(ReportOf(db).filter, "rocksdb_ribbon");
  // Ribbon's bits of a rate would have another.
  ASSERT_EQ(ReportOf(db).levels[0].level, 0);
  EXPECT_NEAR(ReportOf(db).levels[0].expected_fpr, 0.0095, 0.002);
  db.Open(NewRocksDbComposedPolicy({}), /*with_listener=*/false);
  EXPECT_EQ(ReportOf(db).filter, "rocksdb_ribbon");
  db.Open(nullptr, /*with_listener=*/false);
  const auto report = ReportRocksDbBudget(db.get(), db->DefaultColumnFamily());
  EXPECT_EQ(report.status().code(), absl::StatusCode::kFailedPrecondition);
}

struct Exact {
  uint64_t positive = 0;
  uint64_t true_positive = 0;
};

// Returns the exact counts of this thread, by level, without samples.
std::map<int, Exact> ExactCounts() {
  std::map<int, Exact> exact;
  const auto& by_level = *rdb::get_perf_context()->level_to_perf_context;
  for (const auto& [level, context] : by_level) {
    exact[static_cast<int>(level)] = {context.bloom_filter_full_positive,
                                      context.bloom_filter_full_true_positive};
  }
  return exact;
}

// One of `interval` lookups is a sample, so each count is `interval` times a
// binomial. The bounds are five standard deviations, exceeded once in a
// million, and 5% over all levels.
TEST(DbBudgetReport, SampledFalsePositivesAreThoseOfPerfContext) {
  BudgetDb db;
  db.Open(NewRocksDbFilterPolicy(Options(BudgetMode::kFixed, 2)),
          /*with_listener=*/true);
  Grow(&db, 25);
  // RocksDB counts a moved file at its new level only after the next open.
  db.Open(NewRocksDbFilterPolicy(Options(BudgetMode::kFixed, 2)),
          /*with_listener=*/true);
  rdb::SetPerfLevel(rdb::kEnableCount);
  rdb::PerfContext* perf = rdb::get_perf_context();
  perf->EnablePerLevelPerfContext();
  perf->ClearPerLevelPerfContext();
  perf->EnablePerLevelPerfContext();
  FilterStats stats;
  constexpr uint32_t kInterval = 4;
  std::mt19937_64 random(8);
  std::string value;
  for (int i = 0; i < 60000; ++i) {
    // Odd numbers are absent.
    const std::string key = BudgetDb::Key(2 * (random() >> 20) + 1);
    const RocksDbLookupSample sample({&stats, kInterval});
    ASSERT_TRUE(db->Get({}, key, &value).IsNotFound());
  }
  const std::map<int, Exact> exact = ExactCounts();
  rdb::SetPerfLevel(rdb::kDisable);
  perf->ClearPerLevelPerfContext();

  const RocksDbBudgetReport report = ReportOf(db, &stats);
  ASSERT_GE(report.levels.size(), 2);
  double all_exact = 0;
  double all_sampled = 0;
  for (const RocksDbBudgetLevel& level : report.levels) {
    const Exact& counts = exact.at(level.level);
    EXPECT_EQ(counts.true_positive, 0);
    const auto positives = static_cast<double>(counts.positive);
    const auto sampled =
        static_cast<double>(level.observed[FilterCounter::kFalsePositives]);
    EXPECT_GT(positives, 1000);
    EXPECT_NEAR(sampled, positives, 5 * std::sqrt(positives * (kInterval - 1)));
    all_exact += positives;
    all_sampled += sampled;
    // The observed rate is the expected one.
    const auto lookups =
        static_cast<double>(level.observed[FilterCounter::kLookups]);
    EXPECT_NEAR(level.observed.observed_fpr(), level.expected_fpr,
                0.1 * level.expected_fpr +
                    5 * std::sqrt(kInterval * level.expected_fpr / lookups));
  }
  EXPECT_NEAR(all_sampled, all_exact, 0.05 * all_exact);
}

}  // namespace
}  // namespace rowbloom::testing
