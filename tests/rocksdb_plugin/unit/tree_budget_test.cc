// SPDX-License-Identifier: Apache-2.0

#include "budget/tree_budget.h"

#include <cstdint>
#include <vector>

#include "block_cache.h"
#include "gtest/gtest.h"
#include "rocksdb/cache.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/building_context.h"
#include "rocksdb_plugin/reported_tree.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/get_cost.h"

namespace rowbloom::plugin {
namespace {

using testing::BuildingContext;
using testing::ReportedTree;

constexpr double kBits = 10;

const FilterCost& Compact() {
  static const auto* const cost =
      new FilterCost(*FilterCost::OfFamily("compact"));
  return *cost;
}

class TreeBudgetTest : public ::testing::Test {
 protected:
  double BitsOf(const BuildingContext& context,
                const FilterCost& cost = Compact()) {
    return budget_
        .SettingFor(context.get(), cost, {}, kBits, BudgetMode::kBalanced)
        .bits_per_key;
  }

  TreeBudget budget_;
};

// The level of an SST alone does not hold a budget: where SSTs are moved, or
// levels are not full, most filters would have the bits of a small run.
TEST_F(TreeBudgetTest, WithoutAListenerAllSstsHaveTheAverage) {
  for (const BuildingContext& context :
       {BuildingContext::Flush(), BuildingContext::Compaction(1),
        BuildingContext::Compaction(5), BuildingContext::Bottommost(6),
        BuildingContext::Unknown(), BuildingContext::SstFileWriter()}) {
    EXPECT_NEAR(BitsOf(context), kBits, 0.01);
  }
}

// As in the first flush of a new database. No filter has so few bits.
TEST_F(TreeBudgetTest, HitsOnlyFiltersFlushesBeforeTheTreeIsKnown) {
  const auto bits = [&](const BuildingContext& context) {
    return budget_
        .SettingFor(context.get(), Compact(), {}, 0.6, BudgetMode::kHitsOnly)
        .bits_per_key;
  };
  EXPECT_GT(bits(BuildingContext::Flush()), 5);
  EXPECT_EQ(bits(BuildingContext::Bottommost(6)), 0);
}

// SSTs that belong to no tree yet have it, and all under FIFO compaction.
TEST_F(TreeBudgetTest, SstsOutsideOfTheTreeHaveTheAverage) {
  const ReportedTree tree({{1000000}, {10000000}, {100000000}});
  const auto bits = [&](const BuildingContext& context) {
    return BitsOf(tree.In(context));
  };
  const BuildingContext bottom = BuildingContext::Bottommost(3);
  EXPECT_LT(bits(bottom), kBits - 0.2);
  EXPECT_NEAR(bits(bottom.Of(rdb::kCompactionStyleFIFO)), kBits, 0.01);
  EXPECT_NEAR(bits(BuildingContext::SstFileWriter()), kBits, 0.01);
}

TEST_F(TreeBudgetTest, NewerRunsGetMoreBits) {
  for (const FilterCost& cost :
       {Compact(), FilterCost::OfRocksDbBloom(), FilterCost::OfRocksDbRibbon(),
        *FilterCost::OfFamily("blocked_bloom"),
        *FilterCost::OfFamily("fast")}) {
    const ReportedTree tree({{1000000}, {10000000}, {100000000}});
    const auto bits = [&](const BuildingContext& context) {
      return BitsOf(tree.In(context), cost);
    };
    const double bottom = bits(BuildingContext::Bottommost(3));
    EXPECT_LT(bottom, kBits) << cost.name();
    EXPECT_GT(bottom, kBits - 3) << cost.name();
    // A move to another level leaves the filter as it is.
    EXPECT_EQ(bits(BuildingContext::Bottommost(1)), bottom) << cost.name();
    const double above = bits(BuildingContext::Compaction(2));
    EXPECT_GT(above, kBits) << cost.name();
    const double top = bits(BuildingContext::Compaction(1));
    EXPECT_GE(top, above) << cost.name();
    EXPECT_LE(top, kBits + FileBudget::kMaxExtraBits + 0.01);
  }
}

// Tests that auto_bits finds what the gets do from what they counted, which
// here is what the model expects of them.
class AutoBitsTest : public ::testing::Test {
 protected:
  static constexpr double kGets = 1e6;

  AutoBitsTest() {
    of_tree_.auto_bits = true;
    table_.cache_index_and_filter_blocks = true;
    table_.partition_filters = true;
    table_.block_cache = rdb::NewLRUCache(0, /*num_shard_bits=*/0,
                                          /*strict_capacity_limit=*/false,
                                          /*high_pri_pool_ratio=*/0.5);
    SetCapacity(20'000'000);
    gets_.entry_bytes =
        ReportedTree::kRawKeyBytes + ReportedTree::kRawValueBytes + 3;
    gets_.key_bytes = ReportedTree::kRawKeyBytes - 8;
    gets_.missing_share = 0.3;
  }

  void SetCapacity(size_t bytes) {
    table_.block_cache->SetCapacity(bytes);
    gets_.cache_bytes = static_cast<uint64_t>(SharedCacheBytes(table_));
  }

  // Per get.
  struct Others {
    double seeks = 0;
    double scanned_bytes = 0;
    double data_reads = 0;
  };

  TreePlan PlanOf(const Others& others) {
    ReportedTree tree(runs_);
    return PlanOf(others, Compact().ForBits(kBits), &tree);
  }
  TreePlan PlanOf(const Others& others, const FilterSetting& filter,
                  ReportedTree* tree) {
    const auto cost = ExpectedGetCost(
        runs_, std::vector<FilterSetting>(runs_.size(), filter), gets_);
    EXPECT_TRUE(cost.ok()) << cost.status();
    const auto count = [](double of_get) {
      return static_cast<uint64_t>(kGets * of_get);
    };
    GetCounts counts;
    counts.gets = count(1);
    counts.found = count(1 - gets_.missing_share);
    counts.filter_asks = count(cost->filter.asks);
    counts.filter_reads = count(cost->filter.reads);
    counts.data_asks = count(cost->data.asks + others.data_reads + 1);
    counts.data_reads = count(cost->data.reads + others.data_reads);
    counts.seeks = count(others.seeks);
    counts.scanned_bytes = count(others.scanned_bytes);
    tree->ObserveGets(counts);
    budget_.SettingFor(
        tree->In(BuildingContext::Compaction(3).With(&table_)).get(), Compact(),
        of_tree_, kBits, BudgetMode::kBalanced);
    return budget_.PlanOf(tree->get()).value_or(TreePlan());
  }

  const std::vector<TreeRun> runs_ = {{10000}, {100000}, {1000000}};
  rdb::BlockBasedTableOptions table_;
  RocksDbBudgetOptions of_tree_;
  TreeBudget budget_;
  GetCostOptions gets_;
};

// RocksDB keeps partitions in the cache without that option, too.
TEST_F(AutoBitsTest, PlanForPartitionsInTheCache) {
  table_.cache_index_and_filter_blocks = false;
  EXPECT_GT(PlanOf({}).bits_per_key, 0);
  table_.metadata_cache_options.partition_pinning = rdb::PinningTier::kAll;
  EXPECT_EQ(PlanOf({}).bits_per_key, 0);
  table_.metadata_cache_options.partition_pinning = rdb::PinningTier::kFallback;
  table_.partition_filters = false;
  EXPECT_EQ(PlanOf({}).bits_per_key, 0);
}

TEST_F(AutoBitsTest, FindThatAllKeysAreAlike) {
  const TreePlan plan = PlanOf({});
  EXPECT_EQ(plan.popularity.zipf_exponent, 0);
  EXPECT_EQ(plan.popularity.cache_share, 1);
}

TEST_F(AutoBitsTest, FindThePopularityOfKeys) {
  gets_.zipf_exponent = 0.9;
  const TreePlan plan = PlanOf({});
  EXPECT_NEAR(plan.popularity.zipf_exponent, 0.9, 0.05);
  EXPECT_EQ(plan.popularity.range_keys, 1);
  EXPECT_EQ(plan.popularity.cache_share, 1);
}

TEST_F(AutoBitsTest, FindPopularRanges) {
  for (const double range_keys : {256, 16384}) {
    SetCapacity(range_keys < 1000 ? 20'000'000 : 1'000'000);
    gets_.range_keys = range_keys;
    gets_.zipf_exponent = 1.5;
    const TreePlan plan = PlanOf({});
    EXPECT_EQ(plan.popularity.range_keys, range_keys);
    EXPECT_NEAR(plan.popularity.zipf_exponent, 1.5, 0.1);
    EXPECT_EQ(plan.popularity.cache_share, 1);
  }
}

// As while compactions replace the filters of an earlier plan: half the gets
// waste a read, which as many bits everywhere would save.
TEST_F(AutoBitsTest, KnowThatFiltersOfARunDiffer) {
  gets_.zipf_exponent = 0.9;
  FilterSetting mean = Compact().ForBits(2 * kBits);
  mean.bits_per_key /= 2;
  mean.fpr = (1 + mean.fpr) / 2;
  ReportedTree tree({});
  tree.SetHalfFilteredRuns(runs_, 2 * kBits);
  const TreePlan plan = PlanOf({}, mean, &tree);
  EXPECT_NEAR(plan.popularity.zipf_exponent, 0.9, 0.05);
  EXPECT_EQ(plan.popularity.range_keys, 1);
  EXPECT_EQ(plan.popularity.cache_share, 1);
}

TEST_F(AutoBitsTest, FindThatOtherDatabasesShareTheCache) {
  gets_.cache_bytes /= 10;
  const TreePlan plan = PlanOf({});
  EXPECT_EQ(plan.popularity.zipf_exponent, 0);
  EXPECT_NEAR(plan.popularity.cache_share, 0.1, 0.03);
}

// Scans ask for a data block in each of three runs, and for one more.
TEST_F(AutoBitsTest, FindThatScansFillTheCache) {
  SetCapacity(3'000'000);
  gets_.scan_seeks = 0.5;
  gets_.scan_data_reads = 2;
  const TreePlan plan = PlanOf({0.5, 2048, 2});
  EXPECT_EQ(plan.popularity.zipf_exponent, 0);
  EXPECT_EQ(plan.popularity.cache_share, 1);
}

TEST_F(AutoBitsTest, FindThatScansFillNoCache) {
  SetCapacity(6'000'000);
  const TreePlan plan = PlanOf({0.5, 2048, 0});
  EXPECT_EQ(plan.popularity.zipf_exponent, 0);
  EXPECT_EQ(plan.popularity.cache_share, 1);
}

// All filters fit into the cache, and flushes put data blocks into it that gets
// did not ask for.
TEST_F(AutoBitsTest, LearnFromFiltersAloneIfFlushesPrepopulateTheCache) {
  table_.prepopulate_block_cache =
      rdb::BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
  gets_.zipf_exponent = 0.9;
  EXPECT_EQ(PlanOf({}).popularity.zipf_exponent, 0);
}

// No filter says what gets read.
TEST_F(AutoBitsTest, LearnFromDataIfThereIsNoFilter) {
  table_.prepopulate_block_cache =
      rdb::BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
  gets_.zipf_exponent = 0.9;
  ReportedTree tree(runs_, /*bits=*/0);
  EXPECT_NEAR(PlanOf({}, FilterSetting(), &tree).popularity.zipf_exponent, 0.9,
              0.1);
}

TEST_F(AutoBitsTest, FollowTheCapacityOfTheCache) {
  const FilterSetting filter = Compact().ForBits(kBits);
  ReportedTree tree(runs_);
  const double of_large = PlanOf({}, filter, &tree).bits_per_key;
  SetCapacity(2'000'000);
  EXPECT_LT(PlanOf({}, filter, &tree).bits_per_key, of_large - 1);
}

TEST_F(AutoBitsTest, KnowThePlaceThatIsCheapest) {
  SetCapacity(100'000);  // Indexes alone need more.
  const TreePlan tiny = PlanOf({});
  EXPECT_EQ(tiny.cheapest_place, FilterPlace::kCachedPartitions);
  EXPECT_EQ(tiny.cheapest_share, 1);
  SetCapacity(100'000'000);
  const TreePlan large = PlanOf({});
  EXPECT_EQ(large.cheapest_place, FilterPlace::kTableReaders);
  EXPECT_LT(large.cheapest_share, 0.95);
}

TEST_F(AutoBitsTest, GiveAllRunsTheSameBitsInATinyCache) {
  gets_.missing_share = 1;
  EXPECT_EQ(PlanOf({}).mode, BudgetMode::kBalanced);
  SetCapacity(100'000);
  EXPECT_EQ(PlanOf({}).mode, BudgetMode::kFixed);
}

// A tree that had no plan gets other bits.
TEST_F(AutoBitsTest, KeepAPlanUnlessAnotherIsClearlyCheaper) {
  const FilterSetting filter = Compact().ForBits(kBits);
  ReportedTree tree(runs_);
  const TreePlan first = PlanOf({}, filter, &tree);
  gets_.missing_share = 0.36;
  tree.WriteAnew(runs_);
  const TreePlan second = PlanOf({}, filter, &tree);
  ASSERT_GT(second.gets->missing_share, 0.35);
  EXPECT_EQ(second.bits_per_key, first.bits_per_key);
  EXPECT_NE(PlanOf({}).bits_per_key, first.bits_per_key);
}

TEST_F(AutoBitsTest, KeepWithinTheLimitsOfTheOptions) {
  const double chosen = PlanOf({}).bits_per_key;
  of_tree_.min_bits_per_key = chosen + 2;
  EXPECT_EQ(PlanOf({}).bits_per_key, chosen + 2);
  of_tree_.min_bits_per_key = 0;
  of_tree_.max_bits_per_key = chosen - 1.1;
  EXPECT_DOUBLE_EQ(PlanOf({}).bits_per_key, chosen - 1.1);
  of_tree_.max_bits_per_key = 24;
  EXPECT_EQ(PlanOf({}).bits_per_key, chosen);
  // A limit in bytes goes before the least bits.
  of_tree_.min_bits_per_key = chosen + 2;
  of_tree_.budget_bytes = 100'000;
  const TreePlan limited = PlanOf({});
  EXPECT_LE(limited.bits_per_key, 8 * 100'000 / limited.key_count);
}

TEST_F(AutoBitsTest, KeepWithinTheLimitsWithoutAPlan) {
  table_.partition_filters = false;
  ReportedTree tree(runs_);
  const auto bits = [&] {
    return budget_
        .SettingFor(tree.In(BuildingContext::Compaction(3).With(&table_)).get(),
                    Compact(), of_tree_, kBits, BudgetMode::kFixed)
        .bits_per_key;
  };
  EXPECT_NEAR(bits(), kBits, 0.2);
  of_tree_.max_bits_per_key = kBits - 4;
  EXPECT_NEAR(bits(), kBits - 4, 0.2);
  of_tree_ = {};
  of_tree_.auto_bits = true;
  of_tree_.min_bits_per_key = kBits + 4;
  EXPECT_NEAR(bits(), kBits + 4, 0.2);
}

TEST_F(AutoBitsTest, KeepAPlanWithinBudgetBytesAsTheTreeGrows) {
  constexpr double kLimitBytes = 1.5e6;
  of_tree_.budget_bytes = static_cast<uint64_t>(kLimitBytes);
  gets_.missing_share = 1;
  const FilterSetting filter = Compact().ForBits(kBits);
  ReportedTree tree(runs_);
  const auto limit = [](double keys) { return 8 * kLimitBytes / keys; };
  const TreePlan first = PlanOf({}, filter, &tree);
  EXPECT_GT(first.bits_per_key, 0.9 * limit(first.key_count));
  tree.SetRuns({{20000}, {200000}, {2000000}});
  const TreePlan second = PlanOf({}, filter, &tree);
  EXPECT_GT(second.key_count, 1.9 * first.key_count);
  EXPECT_LE(second.bits_per_key, limit(second.key_count));
}

}  // namespace
}  // namespace rowbloom::plugin
