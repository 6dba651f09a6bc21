// SPDX-License-Identifier: Apache-2.0

#include "budget/tree_budget.h"

#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <memory>
#include <vector>

#include "budget/database_id.h"
#include "budget/live_tree.h"
#include "gtest/gtest.h"
#include "rocksdb/env.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/building_context.h"
#include "rowbloom/get_cost.h"

namespace rowbloom::plugin {
namespace {

using testing::BuildingContext;

class SilentLogger : public rdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

// A tree of these runs, the newest in level 1, that a listener has reported.
class ReportedTree {
 public:
  ReportedTree()
      : tree_(LiveTrees::FindOrAdd(DatabaseOf(ContextOf(0)), logger_,
                                   "default")) {
    // Compactions of this tree rewrite their SSTs.
    tree_->SetFiles(0, {{1, FileOf(0, 1)}}, std::chrono::milliseconds(0));
    for (int level = 1; level < 4; ++level, ++last_number_) {
      tree_->CompactionCompleted(level, true, {last_number_},
                                 {{last_number_ + 1, FileOf(level, 1)}});
    }
  }

  void SetRuns(const std::vector<TreeRun>& runs) {
    LiveFiles files;
    for (size_t i = 0; i < runs.size(); ++i) {
      files[++last_number_] =
          FileOf(static_cast<int>(i) + 1, runs[i].key_count);
    }
    tree_->SetFiles(tree_->changes(), files, std::chrono::milliseconds(0));
  }
  absl::StatusOr<FileShare> ShareOf(int level, const FilterCost& cost,
                                    const FileBudgetOptions& options,
                                    uint64_t total_memory_bytes) {
    RocksDbBudgetOptions of_tree;
    of_tree.total_memory_bytes = total_memory_bytes;
    return budget_.ShareOf(ContextOf(level), cost, of_tree, options);
  }

  static constexpr uint64_t kRawKeyBytes = 24;
  static constexpr uint64_t kRawValueBytes = 100;

 private:
  static LiveFile FileOf(int level, uint64_t keys) {
    LiveFile file;
    file.level = level;
    file.size_bytes = keys;
    file.filter = FileFilter{keys, keys, keys, kRawKeyBytes * keys,
                             kRawValueBytes * keys};
    return file;
  }
  rdb::FilterBuildingContext ContextOf(int level) const {
    rdb::FilterBuildingContext context =
        BuildingContext::Compaction(level).get();
    context.info_log = logger_.get();
    return context;
  }

  const std::shared_ptr<rdb::Logger> logger_ = std::make_shared<SilentLogger>();
  const std::shared_ptr<LiveTree> tree_;
  uint64_t last_number_ = 1;
  TreeBudget budget_;
};

const FilterCost& Compact() {
  static const auto* const cost =
      new FilterCost(*FilterCost::OfFamily("compact"));
  return *cost;
}

TEST(TreeBudget, TotalMemoryFollowsThePlanAndItsMode) {
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
    ReportedTree tree;
    tree.SetRuns(runs);
    std::vector<double> bits;
    for (int level = 1; level <= 3; ++level) {
      const auto share =
          tree.ShareOf(level, Compact(), options, total_memory_bytes);
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

TEST(TreeBudget, AnotherCacheMakesANewPlan) {
  FileBudgetOptions options;
  options.budget.memory = FilterMemory::BitsPerKey(20);
  options.budget.missing_share = 1;
  const auto bits = [&](ReportedTree* tree, uint64_t total_memory_bytes) {
    const auto share = tree->ShareOf(3, Compact(), options, total_memory_bytes);
    return share->budget.ForFile(share->facts).bits_per_key;
  };
  ReportedTree first;
  ReportedTree second;
  for (ReportedTree* tree : {&first, &second}) {
    tree->SetRuns({{1000000}, {10000000}, {100000000}});
  }
  const double of_large = bits(&first, 100'000'000);
  const double of_small = bits(&second, 10'000'000);
  EXPECT_NE(of_small, of_large);
  EXPECT_EQ(bits(&first, 10'000'000), of_small);
  EXPECT_EQ(bits(&second, 100'000'000), of_large);
}

// The tree grows by less than what makes a new plan.
TEST(TreeBudget, TotalMemoryStaysWithinBudgetBytesBetweenPlans) {
  constexpr uint64_t kBudgetBytes = 700'000;
  FileBudgetOptions options;
  options.budget.mode = BudgetMode::kFixed;
  options.budget.missing_share = 1;
  options.budget.memory =
      FilterMemory::BitsPerKey(20).AtMostBytes(kBudgetBytes);
  ReportedTree tree;
  for (const uint64_t keys : {1'000'000, 1'050'000, 1'090'000}) {
    tree.SetRuns({{keys}});
    const auto share = tree.ShareOf(1, Compact(), options, 1'000'000'000);
    ASSERT_TRUE(share.ok()) << share.status();
    const double bytes = share->budget.MaxBitsPerKey(/*is_flush=*/false) / 8 *
                         static_cast<double>(keys);
    EXPECT_LE(bytes, kBudgetBytes + 1);
    EXPECT_GT(bytes, 0.9 * kBudgetBytes);
  }
}

}  // namespace
}  // namespace rowbloom::plugin
