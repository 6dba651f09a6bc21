// SPDX-License-Identifier: Apache-2.0
//
// The filter that a column family's budget has for the SST that RocksDB is
// about to write: turns RocksDB's FilterBuildingContext into FileFacts and a
// FileBudget, for native and composed mode. Where no listener knows the live
// tree, and under FIFO compaction, all SSTs have the average bits; with
// kHitsOnly and no listener the level decides.
//
//   setting = tree_.SettingFor(context, cost, options, bits_per_key, mode);
//
// RocksDB's public API only. Thread-safe.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_TREE_BUDGET_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_TREE_BUDGET_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "budget/live_tree.h"
#include "rdb.h"
#include "rocksdb/filter_policy.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/get_cost.h"
#include "rowbloom/get_fit.h"
#include "rowbloom/rocksdb_budget_options.h"

namespace rowbloom::plugin {

// The limit for the filters of a tree, on average for each key.
inline constexpr double kMaxBudgetBitsPerKey = 24;

// An InvalidArgument of these says what is allowed.
absl::Status ValidateBudgetBits(const char* option, double bits_per_key);
absl::Status ValidateMissingShare(double missing_share);
absl::Status ValidateMinBits(double bits_per_key);
absl::Status ValidateMaxBits(double bits_per_key);
absl::Status ValidateBudgetOptions(const RocksDbBudgetOptions& options);

// The part of the block cache for live blocks that filter partitions share with
// data blocks; 0 if they do not.
double SharedCacheBytes(const rdb::BlockBasedTableOptions& table);

// The bits that the SSTs of a tree get for its gets.
struct TreePlan {
  // The tree's keys and the cache when the plan was made; 0: no plan.
  double key_count = 0;
  double cache_bytes = 0;
  double bits_per_key = 0;
  BudgetMode mode = BudgetMode::kBalanced;
  double missing_share = 0.5;
  GetPopularity popularity;
  std::optional<GetRates> gets;  // Unset: not counted.
  double reads = 0;              // A get's, as expected.
  bool is_of_live = true;  // The average of the live filters: no plan yet.
  // Where these filters make a get cheapest at the same memory, and its time
  // there as a share of that in the cache; as they are if gets are not counted.
  FilterPlace cheapest_place = FilterPlace::kCachedPartitions;
  double cheapest_share = 1;
};

class TreeBudget {
 public:
  // The arguments behind `context` are the same for all SSTs. No filter, which
  // is only slow, if they are invalid.
  FilterSetting SettingFor(const rdb::FilterBuildingContext& context,
                           const FilterCost& cost,
                           const RocksDbBudgetOptions& options,
                           double bits_per_key, BudgetMode mode);

  // The last plan for a live tree; nullopt before the first.
  std::optional<TreePlan> PlanOf(
      const std::shared_ptr<const LiveTree>& tree) const;

 private:
  struct KeptPlan {
    TreePlan plan;
    // A thread makes the next one; others follow this one meanwhile.
    bool is_in_work = false;
    bool is_guess = false;  // From the filters of a part of the SSTs.
  };

  // With auto_bits sets the share of absent keys that was counted. Where
  // filters and data share a cache, sets memory and mode to those of the plan
  // for the live tree, within the memory of `budget`.
  void FollowPlan(const rdb::FilterBuildingContext& context,
                  const std::shared_ptr<const LiveTree>& tree,
                  const LiveTree::View& view, const FilterCost& cost,
                  const RocksDbBudgetOptions& options,
                  FilterBudgetOptions* budget);

  mutable std::mutex mutex_;
  // A tree lives as long as its database is open.
  std::map<std::weak_ptr<const LiveTree>, KeptPlan, std::owner_less<>> plans_;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_TREE_BUDGET_H_
