// SPDX-License-Identifier: Apache-2.0

#include "budget/tree_budget.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "budget/live_tree.h"
#include "rocksdb/table.h"
#include "rowbloom/get_cost.h"
#include "rowbloom/tree_shape.h"

namespace rowbloom::plugin {

namespace {

constexpr size_t kMostTrees = 1000;

// The plan for a total memory is computed again, in some 20 ms, if the number
// of keys has changed by this share.
constexpr double kKeyCountChange = 0.1;

FileFacts FactsOf(const rdb::FilterBuildingContext& context) {
  FileFacts facts;
  facts.is_flush = context.reason == rdb::TableFileCreationReason::kFlush ||
                   context.reason == rdb::TableFileCreationReason::kRecovery;
  facts.is_bottommost = context.is_bottommost;
  if (context.level_at_creation >= 0) facts.level = context.level_at_creation;
  return facts;
}

// Releases before 9.6 lack the option.
template <typename Table>
auto CutsOf(const Table& table, int /*preferred*/)
    -> decltype(table.decouple_partitioned_filters, PartitionCuts()) {
  return table.decouple_partitioned_filters ? PartitionCuts::kDecoupled
                                            : PartitionCuts::kCoupledTwice;
}
template <typename Table>
PartitionCuts CutsOf(const Table& /*table*/, double /*otherwise*/) {
  return PartitionCuts::kCoupled;
}

}  // namespace

// The comparisons are written so that NaN fails, too.

absl::Status ValidateBudgetBits(const char* option, double bits_per_key) {
  if (bits_per_key > 0 && bits_per_key <= kMaxBudgetBitsPerKey) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(option, " ", bits_per_key,
                                                 " is not above 0 and at most ",
                                                 kMaxBudgetBitsPerKey));
}

absl::Status ValidateSizeRatio(double size_ratio) {
  if (size_ratio > 1 && size_ratio <= kMaxSizeRatio) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "size_ratio ", size_ratio, " is not above 1, at most ", kMaxSizeRatio));
}

absl::Status ValidateMissingShare(double missing_share) {
  constexpr double kMin = FilterBudgetOptions::kMinMissingShare;
  if (missing_share >= kMin && missing_share <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("missing_share ", missing_share, " is not within ", kMin,
                   " to 1; for gets that never miss there is hits_only"));
}

TreeBudget::TreeName TreeBudget::NameOf(
    const rdb::FilterBuildingContext& context) {
  return {DatabaseOf(context), context.column_family_name};
}

absl::StatusOr<FileShare> TreeBudget::ShareOf(
    const rdb::FilterBuildingContext& context, const FilterCost& cost,
    FileBudgetOptions options, uint64_t total_memory_bytes) {
  // FIFO's SSTs are all alike, flushes or not.
  const bool is_fifo = context.compaction_style == rdb::kCompactionStyleFIFO;
  if (is_fifo) options.budget.mode = BudgetMode::kFixed;
  const FileFacts facts = is_fifo ? FileFacts() : FactsOf(context);
  std::optional<LiveTree::View> view;
  if (facts.level.has_value()) {
    const std::shared_ptr<const LiveTree> tree =
        LiveTrees::Find(DatabaseOf(context), context.column_family_name);
    if (tree != nullptr) view = tree->ViewFor({*facts.level, facts.is_flush});
  }
  if (view.has_value() && total_memory_bytes > 0) {
    FollowPlan(context, *view, cost, total_memory_bytes, &options.budget);
  }
  absl::StatusOr<FileBudget> budget = FileBudget::Create(cost, options);
  if (!budget.ok()) return budget.status();
  FileShare share = {facts, *std::move(budget)};
  if (!view.has_value() || !share.budget.SetLive(view->live).ok()) return share;
  share.facts.level_count = view->level_count;
  share.facts.run_share = view->run_share;
  return share;
}

void TreeBudget::FollowPlan(const rdb::FilterBuildingContext& context,
                            const LiveTree::View& view, const FilterCost& cost,
                            uint64_t total_memory_bytes,
                            FilterBudgetOptions* budget) {
  const auto keys = static_cast<double>(view.live.key_count);
  if (keys == 0 || view.estimator.sums().key_count == 0) return;
  const double most = budget->memory.BitsPerKeyOf(keys);
  const TreeName name = NameOf(context);
  Plan plan = KnownPlan(name);
  if (!(std::abs(plan.key_count - keys) <= kKeyCountChange * keys)) {
    TotalMemoryOptions options;
    options.mode = budget->mode;
    options.max_bits_per_key = budget->max_bits_per_key;
    options.get.cache_bytes = total_memory_bytes;
    SetEntrySizes(view.estimator.sums(), &options.get);
    const rdb::BlockBasedTableOptions& table = context.table_options;
    options.get.data_block_bytes = static_cast<double>(table.block_size);
    options.get.metadata_block_bytes =
        static_cast<double>(table.metadata_block_size);
    options.get.partition_cuts = CutsOf(table, 0);
    options.get.missing_share = budget->missing_share;
    absl::StatusOr<std::vector<TotalMemoryPlan>> sweep =
        SweepTotalMemory(cost, view.live.runs, options);
    if (!sweep.ok()) return;
    while (sweep->size() > 1 && sweep->back().filters.bits_per_key > most) {
      sweep->pop_back();
    }
    const TotalMemoryPlan& cheapest = CheapestPlan(*sweep);
    plan = {keys, cheapest.filters.bits_per_key, cheapest.mode};
    const std::lock_guard<std::mutex> lock(mutex_);
    if (plans_.size() >= kMostTrees) plans_.clear();
    plans_[name] = plan;
  }
  // The tree may have grown since the plan, and its limit in bytes has not.
  budget->memory = FilterMemory::BitsPerKey(std::min(plan.bits_per_key, most));
  budget->mode = plan.mode;
}

TreeBudget::Plan TreeBudget::KnownPlan(const TreeName& name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = plans_.find(name);
  return known == plans_.end() ? Plan() : known->second;
}

}  // namespace rowbloom::plugin
