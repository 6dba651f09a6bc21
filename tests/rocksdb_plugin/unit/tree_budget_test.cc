// SPDX-License-Identifier: Apache-2.0

#include "budget/tree_budget.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "rocksdb_plugin/building_context.h"
#include "rocksdb_plugin/reported_tree.h"
#include "rowbloom/get_cost.h"

namespace rowbloom::plugin {
namespace {

using testing::BuildingContext;
using testing::ReportedTree;

constexpr double kBits = 10;

FileBudgetOptions Balanced() {
  FileBudgetOptions options;
  options.budget.memory = FilterMemory::BitsPerKey(kBits);
  return options;
}

class TreeBudgetTest : public ::testing::Test {
 protected:
  absl::StatusOr<FileShare> ShareOf(const ReportedTree& tree, int level,
                                    const FilterCost& cost,
                                    const FileBudgetOptions& options,
                                    uint64_t total_memory_bytes) {
    RocksDbBudgetOptions of_tree;
    of_tree.total_memory_bytes = total_memory_bytes;
    return budget_.ShareOf(tree.In(BuildingContext::Compaction(level)).get(),
                           cost, of_tree, options);
  }

  TreeBudget budget_;
};

const FilterCost& Compact() {
  static const auto* const cost =
      new FilterCost(*FilterCost::OfFamily("compact"));
  return *cost;
}

// The level of an SST alone does not hold a budget: where SSTs are moved, or
// levels are not full, most filters would have the bits of a small run.
TEST_F(TreeBudgetTest, WithoutAListenerAllSstsHaveTheAverage) {
  for (const BuildingContext& context :
       {BuildingContext::Flush(), BuildingContext::Compaction(1),
        BuildingContext::Compaction(5), BuildingContext::Bottommost(6),
        BuildingContext::Unknown(), BuildingContext::SstFileWriter()}) {
    const auto share =
        budget_.ShareOf(context.get(), Compact(), {}, Balanced());
    ASSERT_TRUE(share.ok()) << share.status();
    EXPECT_NEAR(share->budget.ForFile(share->facts).bits_per_key, kBits, 0.01);
  }
}

// As in the first flush of a new database. No filter has so few bits.
TEST_F(TreeBudgetTest, HitsOnlyFiltersFlushesBeforeTheTreeIsKnown) {
  FileBudgetOptions options;
  options.budget.memory = FilterMemory::BitsPerKey(0.6);
  options.budget.mode = BudgetMode::kHitsOnly;
  const auto bits = [&](const BuildingContext& context) {
    const auto share = budget_.ShareOf(context.get(), Compact(), {}, options);
    return share->budget.ForFile(share->facts).bits_per_key;
  };
  EXPECT_GT(bits(BuildingContext::Flush()), 5);
  EXPECT_EQ(bits(BuildingContext::Bottommost(6)), 0);
}

// SSTs that belong to no tree yet have it, and all under FIFO compaction.
TEST_F(TreeBudgetTest, SstsOutsideOfTheTreeHaveTheAverage) {
  const ReportedTree tree({{1000000}, {10000000}, {100000000}});
  const auto bits = [&](const BuildingContext& context) {
    const auto share =
        budget_.ShareOf(tree.In(context).get(), Compact(), {}, Balanced());
    return share->budget.ForFile(share->facts).bits_per_key;
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
      const auto share =
          budget_.ShareOf(tree.In(context).get(), cost, {}, Balanced());
      return share->budget.ForFile(share->facts).bits_per_key;
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
    EXPECT_LE(top, kBits + FileBudgetOptions().max_extra_bits + 0.01);
  }
}

TEST_F(TreeBudgetTest, TotalMemoryFollowsThePlanAndItsMode) {
  const std::vector<TreeRun> runs = {{1000000}, {10000000}, {100000000}};
  FileBudgetOptions options;
  options.budget.memory = FilterMemory::BitsPerKey(20);
  options.budget.missing_share = 1;
  for (const bool is_tiny : {true, false}) {
    const uint64_t total_memory_bytes = is_tiny ? 10'000'000 : 100'000'000;
    TotalMemoryOptions total;
    total.get.cache_bytes = total_memory_bytes;
    total.get.entry_bytes =
        ReportedTree::kRawKeyBytes + ReportedTree::kRawValueBytes + 3;
    total.get.key_bytes = ReportedTree::kRawKeyBytes - 8;
    total.get.missing_share = 1;
    const auto plan = PlanTotalMemory(Compact(), runs, total);
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_EQ(plan->mode, is_tiny ? BudgetMode::kFixed : BudgetMode::kBalanced);
    const ReportedTree tree(runs);
    std::vector<double> bits;
    for (int level = 1; level <= 3; ++level) {
      const auto share =
          ShareOf(tree, level, Compact(), options, total_memory_bytes);
      ASSERT_TRUE(share.ok()) << share.status();
      bits.push_back(share->budget.ForFile(share->facts).bits_per_key);
    }
    if (is_tiny) {
      EXPECT_EQ(
          bits,
          std::vector<double>(
              3, Compact().ForBits(plan->filters.bits_per_key).bits_per_key));
    } else {
      EXPECT_GT(bits[0], bits[1] + 2);
      EXPECT_GT(bits[1], bits[2] + 2);
    }
  }
}

TEST_F(TreeBudgetTest, AnotherCacheMakesANewPlan) {
  FileBudgetOptions options;
  options.budget.memory = FilterMemory::BitsPerKey(20);
  options.budget.missing_share = 1;
  const auto bits = [&](const ReportedTree& tree, uint64_t total_memory_bytes) {
    const auto share = ShareOf(tree, 3, Compact(), options, total_memory_bytes);
    return share->budget.ForFile(share->facts).bits_per_key;
  };
  const std::vector<TreeRun> runs = {{1000000}, {10000000}, {100000000}};
  const ReportedTree first(runs);
  const ReportedTree second(runs);
  const double of_large = bits(first, 100'000'000);
  const double of_small = bits(second, 10'000'000);
  EXPECT_NE(of_small, of_large);
  EXPECT_EQ(bits(first, 10'000'000), of_small);
  EXPECT_EQ(bits(second, 100'000'000), of_large);
}

// The tree grows by less than what makes a new plan.
TEST_F(TreeBudgetTest, TotalMemoryStaysWithinBudgetBytesBetweenPlans) {
  constexpr uint64_t kBudgetBytes = 700'000;
  FileBudgetOptions options;
  options.budget.mode = BudgetMode::kFixed;
  options.budget.missing_share = 1;
  options.budget.memory =
      FilterMemory::BitsPerKey(20).AtMostBytes(kBudgetBytes);
  ReportedTree tree({});
  for (const uint64_t keys : {1'000'000, 1'050'000, 1'090'000}) {
    tree.SetRuns({{keys}});
    const auto share = ShareOf(tree, 1, Compact(), options, 1'000'000'000);
    ASSERT_TRUE(share.ok()) << share.status();
    const double bytes = share->budget.MaxBitsPerKey(/*is_flush=*/false) / 8 *
                         static_cast<double>(keys);
    EXPECT_LE(bytes, kBudgetBytes + 1);
    EXPECT_GT(bytes, 0.9 * kBudgetBytes);
  }
}

}  // namespace
}  // namespace rowbloom::plugin
