// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rowbloom/filter.h"
#include "rowbloom/tree_shape.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

// A cost model whose memory is exactly proportional to log2(1 / fpr), in steps
// too small to matter.
FilterCost ExactCost(double bits_of_a_halving) {
  std::vector<FilterSetting> settings;
  for (double halvings = 1.0 / 64; halvings < 60; halvings += 1.0 / 64) {
    const double bits = bits_of_a_halving * halvings;
    settings.push_back({bits, bits, std::exp2(-halvings)});
  }
  return *FilterCost::FromSettings("exact", settings);
}

FilterCost Compact() { return *FilterCost::OfFamily("compact"); }

std::vector<FilterCost> RealCosts() {
  std::vector<FilterCost> costs = {FilterCost::OfRocksDbBloom(),
                                   FilterCost::OfRocksDbRibbon()};
  for (const std::string_view family : FilterFamilyNames()) {
    if (family != "always_maybe") {
      costs.push_back(*FilterCost::OfFamily(family));
    }
  }
  return costs;
}

FilterBudgetOptions Options(double bits_per_key, double missing_share,
                            BudgetMode mode = BudgetMode::kBalanced) {
  return {FilterMemory::BitsPerKey(bits_per_key), mode, missing_share};
}

FilterBudgetPlan Plan(const FilterCost& cost, const std::vector<TreeRun>& runs,
                      const FilterBudgetOptions& options) {
  return PlanFilterBudget(cost, runs, options).value();
}

std::vector<TreeRun> Leveled(double size_ratio, uint32_t levels,
                             uint64_t keys) {
  return RunsOf({TreeKind::kLeveled, keys, size_ratio, levels}).value();
}

std::vector<TreeRun> RandomRuns(testing::Random* random, size_t count) {
  std::vector<TreeRun> runs(count);
  for (TreeRun& run : runs) {
    run.key_count = 1 + random->Below(uint64_t{1} << random->Below(40));
    if (random->Below(3) == 0) {
      run.block_miss_share = 0.01 + 0.99 * random->Below(1000) / 1000.0;
    }
    if (random->Below(4) == 0) {
      run.absent_asks = 0.01 + 0.99 * random->Below(1000) / 1000.0;
    }
  }
  return runs;
}

// Returns the least wasted reads if each run may mix any settings of `cost`: it
// spends each bit where it saves most. That is optimal because successive
// settings gain less and less.
double LeastWastedReads(const FilterCost& cost, const FilterBudgetPlan& plan,
                        const std::vector<TreeRun>& runs,
                        const FilterBudgetOptions& options) {
  struct Step {
    double gain_of_bit;
    double bits;
    double gain;
  };
  std::vector<Step> steps;
  double wasted = 0;
  double keys = 0;
  for (const TreeRun& run : runs) keys += static_cast<double>(run.key_count);
  for (size_t i = 0; i < runs.size(); ++i) {
    const double share = static_cast<double>(runs[i].key_count) / keys;
    const double weight = plan.runs[i].absent_asks * runs[i].block_miss_share;
    wasted += weight;
    FilterSetting last;
    for (double bits = 0; bits <= options.max_bits_per_key; bits += 1.0 / 64) {
      const FilterSetting setting = cost.ForBits(bits);
      if (setting.bits_per_key <= last.bits_per_key) continue;
      const double step_bits =
          share * (setting.bits_per_key - last.bits_per_key);
      const double gain = weight * (last.fpr - setting.fpr);
      steps.push_back({gain / step_bits, step_bits, gain});
      last = setting;
    }
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return a.gain_of_bit > b.gain_of_bit;
  });
  double left = options.memory.BitsPerKeyOf(keys);
  for (const Step& step : steps) {
    const double part = std::min(1.0, left / step.bits);
    wasted -= part * step.gain;
    left -= part * step.bits;
    if (left <= 0) break;
  }
  return wasted;
}

TEST(FilterBudget, OfAnExactCostThePlanIsTheOptimum) {
  testing::Random random(1);
  const FilterCost cost = ExactCost(1.05);
  for (int i = 0; i < 300; ++i) {
    const std::vector<TreeRun> runs = RandomRuns(&random, 1 + random.Below(12));
    const FilterBudgetOptions options =
        Options(0.25 * (1 + random.Below(60)), 0.01 + 0.01 * random.Below(100));
    const auto plan = Plan(cost, runs, options);
    EXPECT_LE(plan.bits_per_key, options.memory.BitsPerKeyOf(1) + 1e-9);
    EXPECT_NEAR(plan.wasted_reads / LeastWastedReads(cost, plan, runs, options),
                1, 0.005);
  }
}

// The closed form 2^H(s) 2^(-b / c) holds where no run is at its limit.
TEST(FilterBudget, ALeveledTreeWastesWhatTheClosedFormSays) {
  const FilterCost cost = ExactCost(1.05);
  for (const uint32_t levels : {3, 4, 5}) {
    const std::vector<TreeRun> runs = Leveled(10, levels, 1'000'000'000'000);
    const auto plan = Plan(cost, runs, Options(8, 1));
    double entropy = 0;
    for (const RunBudget& run : plan.runs) {
      entropy -= run.key_share * std::log2(run.key_share);
    }
    EXPECT_NEAR(plan.wasted_reads / std::exp2(entropy - 8 / 1.05), 1, 0.001);
    // A level with T times fewer keys gets log2(T) more halvings.
    for (uint32_t i = 1; i < levels; ++i) {
      EXPECT_NEAR(plan.runs[i - 1].setting.bits_per_key -
                      plan.runs[i].setting.bits_per_key,
                  1.05 * std::log2(10), 0.01);
    }
  }
}

TEST(FilterBudget, OfRealCostsThePlanIsNearTheOptimum) {
  for (const FilterCost& cost : RealCosts()) {
    for (const uint32_t levels : {1, 2, 3, 4, 5, 6}) {
      for (const double size_ratio : {2.0, 4.0, 10.0}) {
        for (const double missing_share : {0.01, 0.5, 1.0}) {
          for (const double bits : {5.0, 8.0, 10.0, 12.0}) {
            const std::vector<TreeRun> runs =
                Leveled(size_ratio, levels, 1'000'000'000'000);
            const FilterBudgetOptions options = Options(bits, missing_share);
            const auto plan = Plan(cost, runs, options);
            EXPECT_LE(plan.bits_per_key, bits + 1e-9);
            const double least = LeastWastedReads(cost, plan, runs, options);
            // Settings of "fast" lie up to two bits apart, and a run has one of
            // them.
            const double slack = cost.name() == "fast" ? 2.0 : 1.03;
            EXPECT_LE(plan.wasted_reads, slack * least)
                << cost.name() << ", " << levels << " levels of " << size_ratio
                << ", z " << missing_share << ", " << bits;
            EXPECT_GE(plan.wasted_reads, 0.999 * least);
          }
        }
      }
    }
  }
}

TEST(FilterBudget, MoreMemoryWastesNoMoreReads) {
  testing::Random random(3);
  for (const FilterCost& cost : RealCosts()) {
    if (cost.name() == "fast") continue;  // Its settings have gaps.
    const std::vector<TreeRun> runs = RandomRuns(&random, 6);
    double last = std::numeric_limits<double>::infinity();
    for (double bits = 0; bits < 30; bits += 0.1) {
      const auto plan = Plan(cost, runs, Options(bits, 0.5));
      EXPECT_LE(plan.wasted_reads, last * 1.001) << cost.name();
      last = plan.wasted_reads;
    }
  }
}

TEST(FilterBudget, TheMemoryForWastedReadsIsTheInverseOfTheirPlan) {
  testing::Random random(4);
  for (const FilterCost& cost : RealCosts()) {
    for (int i = 0; i < 5; ++i) {
      const std::vector<TreeRun> runs =
          RandomRuns(&random, 1 + random.Below(6));
      const FilterBudgetOptions options = Options(1 + random.Below(12), 0.5);
      const auto plan = Plan(cost, runs, options);
      const auto inverse =
          PlanForWastedReads(cost, runs, options, plan.wasted_reads);
      ASSERT_TRUE(inverse.ok()) << inverse.status();
      EXPECT_LE(inverse->wasted_reads, plan.wasted_reads);
      EXPECT_LE(inverse->bits_per_key, plan.bits_per_key + 1e-6);
      FilterBudgetOptions unlimited = options;
      unlimited.max_bits_per_key = 1e12;
      EXPECT_NEAR(PlanForWastedReads(cost, runs, unlimited, plan.wasted_reads)
                      ->bits_per_key,
                  inverse->bits_per_key, 1e-6);
      if (cost.name() == "fast") continue;
      EXPECT_GE(inverse->bits_per_key, plan.bits_per_key - 0.05) << cost.name();
    }
    // The strongest filters are within reach, although shares add up to more
    // than 1 by rounding.
    const std::vector<TreeRun> many = {
        {390939}, {281472}, {365832}, {161346}, {167731}};
    const double least =
        Plan(cost, many, Options(24, 0.5)).wasted_reads * 1.0001;
    EXPECT_TRUE(PlanForWastedReads(cost, many, Options(24, 0.5), least).ok())
        << cost.name();
    EXPECT_TRUE(absl::IsOutOfRange(
        PlanForWastedReads(cost, {{1}}, Options(10, 1), 0).status()));
    EXPECT_EQ(PlanForWastedReads(cost, {{1}}, Options(10, 1), 1)->bits_per_key,
              0);
  }
}

TEST(FilterBudget, BytesAreBitsPerKeyTimesKeys) {
  const FilterCost cost = Compact();
  const std::vector<TreeRun> runs = Leveled(10, 4, 8'000'000'000);
  FilterBudgetOptions options = Options(10, 1);
  const auto by_bits = Plan(cost, runs, options);
  uint64_t keys = 0;
  for (const TreeRun& run : runs) keys += run.key_count;
  options.memory = FilterMemory::Bytes(keys * 10 / 8);
  const auto by_bytes = Plan(cost, runs, options);
  EXPECT_NEAR(by_bits.wasted_reads, by_bytes.wasted_reads, 1e-9);
}

TEST(FilterBudget, TheExtremesAreNoFilterAndTheStrongest) {
  for (const FilterCost& cost : RealCosts()) {
    const std::vector<TreeRun> runs = Leveled(10, 3, 1'000'000'000);
    const auto none = Plan(cost, runs, Options(0, 1));
    EXPECT_EQ(none.bits_per_key, 0);
    EXPECT_EQ(none.wasted_reads, 3);
    const auto all = Plan(cost, runs, Options(1e9, 1));
    for (const RunBudget& run : all.runs) {
      EXPECT_GT(run.setting.bits_per_key, 22) << cost.name();
      EXPECT_LE(run.setting.bits_per_key, 24) << cost.name();
    }
    FilterBudgetOptions capped = Options(10, 1);
    capped.max_bits_per_key = 12;
    const auto at_cap = Plan(cost, runs, capped);
    for (const RunBudget& run : at_cap.runs) {
      EXPECT_LE(run.setting.bits_per_key, 12);
    }
  }
}

TEST(FilterBudget, RunsWithoutKeysAndTreesWithoutRunsHaveNoFilters) {
  const FilterCost cost = Compact();
  const auto no_runs = Plan(cost, {}, Options(10, 0.5));
  EXPECT_EQ(no_runs.wasted_reads, 0);
  const auto empty = Plan(cost, {{0}, {0}}, Options(10, 0.5));
  EXPECT_EQ(empty.wasted_reads, 0);
  const auto some = Plan(cost, {{0}, {1000}}, Options(10, 0.5));
  EXPECT_EQ(some.runs[0].setting.builder_bits, 0);
  EXPECT_NEAR(some.runs[1].setting.bits_per_key, 10, 1e-6);
  EXPECT_EQ(some.runs[1].absent_asks, 0.5);
  EXPECT_TRUE(PlanFilterBudget(cost, {{0}}, {FilterMemory::Bytes(1000)}).ok());
}

TEST(FilterBudget, HitsOnlyLeavesTheOldestRunWithoutAFilter) {
  const FilterCost cost = Compact();
  const std::vector<TreeRun> runs = Leveled(10, 4, 1'000'000'000);
  const auto plan = Plan(cost, runs, Options(0.6, 0.5, BudgetMode::kHitsOnly));
  EXPECT_EQ(plan.runs[3].setting.builder_bits, 0);
  EXPECT_EQ(plan.runs[3].absent_asks, 0);
  EXPECT_GT(plan.runs[2].setting.bits_per_key, 4);
  // RocksDB's Bloom filter of 10 bits wastes 27.5 reads per 1,000 hits.
  EXPECT_LT(plan.wasted_reads, 0.0275);
}

TEST(FilterBudget, FixedIsTheSameEverywhere) {
  const FilterCost cost = FilterCost::OfRocksDbBloom();
  const auto plan = Plan(cost, Leveled(10, 4, 1'000'000'000),
                         Options(10, 1, BudgetMode::kFixed));
  for (const RunBudget& run : plan.runs) {
    EXPECT_EQ(run.setting.builder_bits, 10);
  }
  EXPECT_NEAR(plan.wasted_reads, 4 * cost.ForBits(10).fpr, 1e-12);
}

TEST(FilterBudget, AbsentAsksFallFromAllToTheMissing) {
  const std::vector<TreeRun> runs = {{10}, {40}, {50}};
  EXPECT_EQ(AbsentAsks(runs, 1), (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(AbsentAsks(runs, 0), (std::vector<double>{0.9, 0.5, 0}));
  const std::vector<double> half = AbsentAsks(runs, 0.5);
  EXPECT_DOUBLE_EQ(half[0], 0.95);
  EXPECT_DOUBLE_EQ(half[1], 0.75);
  EXPECT_DOUBLE_EQ(half[2], 0.5);
}

TEST(FilterBudget, ValuesOutOfRangeAreNamed) {
  const FilterCost cost = FilterCost::OfRocksDbBloom();
  const double nan = std::nan("");
  for (const double missing_share : {-0.1, 0.0, 0.009, 1.1, nan}) {
    const auto plan = PlanFilterBudget(cost, {{1}}, Options(10, missing_share));
    EXPECT_TRUE(absl::IsInvalidArgument(plan.status()));
    EXPECT_NE(plan.status().message().find("missing_share"),
              absl::string_view::npos);
  }
  for (const BudgetMode mode : {BudgetMode::kHitsOnly, BudgetMode::kFixed}) {
    const auto plan = PlanFilterBudget(cost, {{100}}, Options(10, 7, mode));
    EXPECT_TRUE(absl::IsInvalidArgument(plan.status()));
  }
  for (const double bits : {-1.0, nan, std::exp2(2000)}) {
    EXPECT_FALSE(PlanFilterBudget(cost, {{1}}, Options(bits, 0.5)).ok());
  }
  for (const double share : {-0.1, 1.1, nan}) {
    EXPECT_FALSE(PlanFilterBudget(cost, {{1, share}}, Options(10, 1)).ok());
    EXPECT_FALSE(PlanFilterBudget(cost, {{1, 1, share}}, Options(10, 1)).ok());
  }
  FilterBudgetOptions no_filter = Options(10, 1);
  no_filter.max_bits_per_key = 0;
  EXPECT_FALSE(PlanFilterBudget(cost, {{1}}, no_filter).ok());
}

constexpr FileFacts kBottommost = {false, true};
constexpr FileFacts kFlush = {true};

FileFacts AtLevel(uint32_t level, uint32_t level_count) {
  return {false, false, level, level_count};
}

FileBudget MakeFileBudget(const FileBudgetOptions& options = {},
                          const FilterCost& cost = Compact()) {
  return FileBudget::Create(cost, options).value();
}

// Tells the budget of 8,000,000 live keys with filters of `bits` per key.
void SetLiveBits(double bits, FileBudget* budget) {
  const auto bytes = static_cast<uint64_t>(1e6 * bits);
  ASSERT_TRUE(budget->SetLive({8000000, bytes, {}, 0}).ok());
}

TEST(FileBudget, SstsOfTheAssumedTreeGetWhatItsRunsDo) {
  for (const FilterCost& cost : RealCosts()) {
    FileBudgetOptions options;
    FileBudget budget = MakeFileBudget(options, cost);
    SetLiveBits(10, &budget);
    const auto plan =
        Plan(cost, Leveled(10, 4, 900'000'000'000'000'000), options.budget);
    if (cost.name() == "fast") continue;  // Its settings have gaps.
    EXPECT_NEAR(budget.ForFile(kBottommost).bits_per_key,
                plan.runs[3].setting.bits_per_key, 0.02)
        << cost.name();
    for (uint32_t level = 0; level < 4; ++level) {
      EXPECT_NEAR(budget.ForFile(AtLevel(level, 4)).bits_per_key,
                  std::min(plan.runs[level].setting.bits_per_key,
                           10 + FileBudget::kMaxExtraBits),
                  0.02)
          << cost.name() << " level " << level;
    }
  }
}

TEST(FileBudget, UnknownCountsAsBottommostAndBottommostBeforeLevel) {
  FileBudget budget = MakeFileBudget();
  SetLiveBits(10, &budget);
  const double bottommost = budget.ForFile(kBottommost).bits_per_key;
  EXPECT_EQ(budget.ForFile({}).bits_per_key, bottommost);
  FileFacts moved_down = AtLevel(1, 4);
  moved_down.is_bottommost = true;
  moved_down.run_share = 0.01;
  EXPECT_EQ(budget.ForFile(moved_down).bits_per_key, bottommost);
  EXPECT_GT(budget.ForFile(AtLevel(1, 4)).bits_per_key, bottommost + 5);
}

TEST(FileBudget, AKnownShareComesBeforeTheLevel) {
  FileBudget budget = MakeFileBudget();
  SetLiveBits(10, &budget);
  FileFacts known = AtLevel(0, 7);
  known.run_share = 0.09;
  EXPECT_EQ(budget.ForFile(known).bits_per_key,
            budget.ForFile(AtLevel(5, 7)).bits_per_key);
}

TEST(FileBudget, AShareOfNoKeysIsNotKnown) {
  FileBudget budget = MakeFileBudget();
  SetLiveBits(10, &budget);
  for (const double share :
       {0.0, -0.1, std::numeric_limits<double>::quiet_NaN()}) {
    FileFacts facts = AtLevel(2, 4);
    facts.run_share = share;
    EXPECT_EQ(budget.ForFile(facts).bits_per_key,
              budget.ForFile(AtLevel(2, 4)).bits_per_key)
        << share;
  }
}

// A compaction of the whole tree pays nothing back for the filters it removes.
TEST(FileBudget, FiltersThatAreBeingWrittenHaveTheAverage) {
  FileBudget budget = MakeFileBudget();
  const auto bits_with = [&](uint64_t written, double live_bits) {
    LiveFilters live;
    live.key_count = 8'000'000;
    live.runs = {{live.key_count}};
    live.written_key_count = written;
    live.filter_bytes = static_cast<uint64_t>(
        static_cast<double>(live.key_count - written) * live_bits / 8);
    live.moved_share = 0;
    EXPECT_TRUE(budget.SetLive(live).ok());
    return budget.ForFile(kBottommost).bits_per_key;
  };
  EXPECT_NEAR(bits_with(8'000'000, 14), 10, 0.05);
  EXPECT_NEAR(bits_with(4'000'000, 12), bits_with(0, 11), 0.05);
  EXPECT_LT(bits_with(0, 12), 9.5);
}

TEST(FileBudget, SstsAreCappedByHowManyAreMoved) {
  FileBudget budget = MakeFileBudget();
  for (const FileFacts& facts : {kFlush, AtLevel(0, 7)}) {
    budget = MakeFileBudget();  // Nothing is known of moves.
    EXPECT_NEAR(budget.ForFile(facts).bits_per_key, facts.is_flush ? 10.2 : 16,
                0.01);
    const auto bits_with = [&](double moved_share) {
      EXPECT_TRUE(budget.SetLive({8000, 10000, {}, moved_share}).ok());
      return budget.ForFile(facts).bits_per_key;
    };
    EXPECT_NEAR(bits_with(0), 16, 0.01);
    EXPECT_NEAR(bits_with(0.05), 16, 0.01);
    EXPECT_NEAR(bits_with(0.2), 11.5, 0.01);
    EXPECT_NEAR(bits_with(1), 10.3, 0.01);
  }
}

TEST(FileBudget, ABudgetOfTheMostBitsGivesThemToAll) {
  FileBudgetOptions options;
  options.budget.memory = FilterMemory::BitsPerKey(100);
  FileBudget budget = MakeFileBudget(options, FilterCost::OfRocksDbBloom());
  ASSERT_TRUE(budget.SetLive({1000, 1000000, {}}).ok());
  for (const FileFacts& facts : {kFlush, kBottommost, AtLevel(1, 4)}) {
    EXPECT_EQ(budget.ForFile(facts).bits_per_key, 24);
  }
}

TEST(FileBudget, AFlushIsSmallEvenIfNoLevelIsKnownYet) {
  const FileBudget budget = MakeFileBudget();
  FileFacts flush = AtLevel(0, 1);
  flush.is_flush = true;
  EXPECT_NEAR(budget.ForFile(flush).bits_per_key, 10.2, 0.01);
}

TEST(FileBudget, ACountedMissingShareReplacesThatOfTheOptions) {
  FileBudget counted = MakeFileBudget();
  for (const double missing_share : {1.0, 0.2, 0.0}) {
    ASSERT_TRUE(counted.SetLive({0, 0, {}, 0, missing_share}).ok());
    FileBudgetOptions options;
    options.budget.missing_share =
        std::max(missing_share, FilterBudgetOptions::kMinMissingShare);
    FileBudget told = MakeFileBudget(options);
    ASSERT_TRUE(told.SetLive({0, 0, {}, 0}).ok());
    for (const FileFacts& facts : {kBottommost, AtLevel(1, 4)}) {
      EXPECT_EQ(counted.ForFile(facts).bits_per_key,
                told.ForFile(facts).bits_per_key);
    }
  }
  EXPECT_FALSE(counted.SetLive({0, 0, {}, 0, 1.5}).ok());
}

TEST(FileBudget, ControlFollowsTheLiveTotalWithinItsLimit) {
  FileBudget budget = MakeFileBudget();
  const double start = budget.precision();
  const auto at_live_bits = [&](double bits) {
    SetLiveBits(bits, &budget);
    return budget.precision() - start;
  };
  EXPECT_NEAR(at_live_bits(10), 0, 1e-9);
  EXPECT_NEAR(at_live_bits(11), -0.5, 1e-9);
  EXPECT_NEAR(at_live_bits(8), 1, 1e-9);
  EXPECT_NEAR(at_live_bits(20), -2, 1e-9);
  EXPECT_NEAR(at_live_bits(0), 2, 1e-9);
}

TEST(FileBudget, LiveRunsReplaceTheAssumedTree) {
  const FilterCost cost = Compact();
  FileBudget budget = MakeFileBudget({}, cost);
  LiveFilters live = {4000, 5000, {{1000}, {1000}, {1000}, {1000}}};
  ASSERT_TRUE(budget.SetLive(live).ok());
  const auto plan = Plan(cost, live.runs, {});
  EXPECT_NEAR(budget.precision(), plan.precision, 1e-9);
  live.runs[0].block_miss_share = 2;
  EXPECT_FALSE(budget.SetLive(live).ok());
  EXPECT_NEAR(budget.precision(), plan.precision, 1e-9);
}

// Such a tree results if a file is ingested into the last of RocksDB's levels
// while the others end four levels above.
TEST(FileBudget, TheOldestRunIsTakenToBeAsLargeAsTheLargest) {
  FileBudget budget = MakeFileBudget();
  ASSERT_TRUE(budget.SetLive({0, 0, {{97000}, {3000}}, 0}).ok());
  FileFacts newer;
  newer.run_share = 0.03;
  EXPECT_LT(budget.ForFile(kBottommost).bits_per_key,
            budget.ForFile(newer).bits_per_key - 4);
}

TEST(FileBudget, AByteBudgetIsSharedByWhatIsThere) {
  const FilterCost cost = Compact();
  FileBudgetOptions options;
  options.budget.memory = FilterMemory::Bytes(1000000);
  FileBudget budget = MakeFileBudget(options, cost);
  EXPECT_GT(budget.ForFile(kBottommost).bits_per_key, 20);
  ASSERT_TRUE(budget.SetLive({1000000, 1000000, {}}).ok());
  EXPECT_NEAR(budget.ForFile(kBottommost).bits_per_key, 7.5, 0.5);
  ASSERT_TRUE(budget.SetLive({2000000, 1000000, {}}).ok());
  EXPECT_NEAR(budget.ForFile(kBottommost).bits_per_key, 3.5, 0.5);
}

std::vector<RunFilters> FiltersOf(const FilterBudgetPlan& plan,
                                  const std::vector<TreeRun>& runs) {
  std::vector<RunFilters> filters;
  for (size_t i = 0; i < runs.size(); ++i) {
    const FilterSetting& setting = plan.runs[i].setting;
    filters.push_back({runs[i], setting.bits_per_key, setting.fpr});
  }
  return filters;
}

TEST(TreeWaste, OfAPlanIsThatOfThePlan) {
  const FilterCost cost = Compact();
  const std::vector<TreeRun> runs = Leveled(10, 4, 1'000'000'000);
  for (const double missing_share : {0.01, 0.5, 1.0}) {
    const auto plan = Plan(cost, runs, Options(10, missing_share));
    const auto waste = MeasureWaste(cost, FiltersOf(plan, runs), missing_share);
    ASSERT_TRUE(waste.ok());
    EXPECT_NEAR(waste->bits_per_key, plan.bits_per_key, 1e-9);
    EXPECT_NEAR(waste->wasted_reads, plan.wasted_reads, 1e-12);
    EXPECT_NEAR(waste->percent_of_optimum(), 100, 1e-3);
    EXPECT_NEAR(waste->runs[3].key_share, 0.9, 0.01);
  }
}

// In a leveled tree of four levels, equal bits per key waste 2.8 times as many
// reads as the plan.
TEST(TreeWaste, OfTheSameBitsEverywhereIsFarFromTheOptimum) {
  const FilterCost cost = Compact();
  const std::vector<TreeRun> runs = Leveled(10, 4, 1'000'000'000);
  const auto plan = Plan(cost, runs, Options(10, 1, BudgetMode::kFixed));
  const auto waste = MeasureWaste(cost, FiltersOf(plan, runs), 1);
  ASSERT_TRUE(waste.ok());
  EXPECT_NEAR(waste->percent_of_optimum(), 100 / 2.75, 2);
}

// MeasureWaste() takes shares that no budget takes.
TEST(TreeWaste, IsContinuousWhereFewGetsMiss) {
  const FilterCost cost = Compact();
  const std::vector<TreeRun> runs = Leveled(10, 4, 1'000'000'000);
  const std::vector<RunFilters> filters =
      FiltersOf(Plan(cost, runs, Options(10, 0.01)), runs);
  const auto percent = [&](double missing_share) {
    return MeasureWaste(cost, filters, missing_share)->percent_of_optimum();
  };
  EXPECT_NEAR(percent(0.0099), percent(0.01), 0.1);
  EXPECT_GT(percent(0.005), 80);
  EXPECT_GT(percent(0.001), percent(0.0001));
}

TEST(TreeWaste, TakesWhatThereIs) {
  const FilterCost cost = Compact();
  const auto empty = MeasureWaste(cost, {}, 0.5);
  ASSERT_TRUE(empty.ok());
  EXPECT_EQ(empty->percent_of_optimum(), 100);
  // Without filters, a miss reads each run.
  const std::vector<RunFilters> none = {{{100}, 0, 1}, {{900}, 0, 1}};
  const auto waste = MeasureWaste(cost, none, 1);
  ASSERT_TRUE(waste.ok());
  EXPECT_EQ(waste->wasted_reads, 2);
  EXPECT_EQ(waste->percent_of_optimum(), 100);
  // Hits that never miss need no filter in the oldest run.
  const std::vector<RunFilters> oldest = {{{100}, 0, 1}, {{900}, 10, 0.001}};
  EXPECT_LT(MeasureWaste(cost, oldest, 0)->percent_of_optimum(), 1);
  EXPECT_FALSE(MeasureWaste(cost, none, 2).ok());
  const std::vector<RunFilters> wrong = {{{100}, -1, 1}};
  EXPECT_FALSE(MeasureWaste(cost, wrong, 1).ok());
  const std::vector<RunFilters> wrong_rate = {{{100}, 1, 1.5}};
  EXPECT_FALSE(MeasureWaste(cost, wrong_rate, 1).ok());
}

TEST(FilterMemory, IsTheLesserOfBitsAndBytes) {
  const FilterMemory memory = FilterMemory::BitsPerKey(10).AtMostBytes(1000);
  EXPECT_EQ(memory.BitsPerKeyOf(0), 10);
  EXPECT_EQ(memory.BitsPerKeyOf(800), 10);
  EXPECT_EQ(memory.BitsPerKeyOf(1600), 5);
  EXPECT_EQ(FilterMemory::Bytes(1000).AtMostBytes(500).BitsPerKeyOf(1000), 4);
}

TEST(FileBudget, HitsOnlyWritesNoFilterForTheBottommost) {
  const FileBudgetOptions options = {Options(0.6, 0.5, BudgetMode::kHitsOnly)};
  FileBudget budget = MakeFileBudget(options);
  SetLiveBits(0.6, &budget);
  EXPECT_EQ(budget.ForFile(kBottommost).builder_bits, 0);
  EXPECT_GT(budget.ForFile(AtLevel(2, 4)).bits_per_key, 4);
  EXPECT_GT(budget.ForFile(AtLevel(1, 4)).bits_per_key, 8);
}

TEST(FileBudget, FixedIsTheSameEverywhere) {
  const FileBudgetOptions options = {Options(10, 0.5, BudgetMode::kFixed)};
  const FileBudget budget =
      MakeFileBudget(options, FilterCost::OfRocksDbBloom());
  for (const FileFacts& facts : {kBottommost, AtLevel(0, 4), kFlush}) {
    EXPECT_EQ(budget.ForFile(facts).builder_bits, 10);
  }
}

TEST(FileBudget, OptionsOutOfRangeAreRefused) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto refuses = [](auto set) {
    FileBudgetOptions options;
    set(&options);
    const auto budget =
        FileBudget::Create(FilterCost::OfRocksDbBloom(), options);
    return absl::IsInvalidArgument(budget.status());
  };
  FileBudgetOptions ratio;
  ratio.size_ratio = 1;
  EXPECT_NE(FileBudget::Create(FilterCost::OfRocksDbBloom(), ratio)
                .status()
                .ToString()
                .find("size_ratio 1 must be above 1"),
            std::string::npos);
  EXPECT_TRUE(refuses([](auto* o) { o->budget.max_bits_per_key = kInfinity; }));
  EXPECT_TRUE(refuses([](auto* o) { o->size_ratio = 1e300; }));
  EXPECT_TRUE(refuses([](auto* o) { o->level_count = 0; }));
  EXPECT_TRUE(refuses([](auto* o) { o->budget.missing_share = 0; }));
}

TEST(FileBudget, ATreeThatMayHaveNoFiltersSaysNothingOfNewerRuns) {
  const FileBudgetOptions options = {Options(0.6, 0.5, BudgetMode::kHitsOnly)};
  FileBudget budget = MakeFileBudget(options, FilterCost::OfRocksDbRibbon());
  const FileFacts flush = {true, false, 0, std::nullopt, 0.25};
  const double assumed = budget.ForFile(flush).bits_per_key;
  // The tree has one run, which correctly has no filter.
  ASSERT_TRUE(budget.SetLive({1000000, 0, {{1000000}}}).ok());
  EXPECT_LT(budget.ForFile(flush).bits_per_key, assumed + 2);
}

}  // namespace
}  // namespace rowbloom
