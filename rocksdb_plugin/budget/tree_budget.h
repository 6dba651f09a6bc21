// SPDX-License-Identifier: Apache-2.0
//
// The share of a column family's budget for the SST that RocksDB is about to
// write: turns RocksDB's FilterBuildingContext into FileFacts and a FileBudget,
// for native and composed mode. If a listener knows the live tree, that is
// used.
//
//   auto share = tree_.ShareOf(context, cost, options, total_memory_bytes);
//   if (share.ok()) setting = share->budget.ForFile(share->facts);
//
// RocksDB's public API only. Thread-safe.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_TREE_BUDGET_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_TREE_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "budget/database_id.h"
#include "budget/live_tree.h"
#include "rdb.h"
#include "rocksdb/filter_policy.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"

namespace rowbloom::plugin {

// The limit for the filters of a tree, on average for each key.
inline constexpr double kMaxBudgetBitsPerKey = 24;

// An InvalidArgument of these says what is allowed.
absl::Status ValidateBudgetBits(const char* option, double bits_per_key);
absl::Status ValidateSizeRatio(double size_ratio);
absl::Status ValidateMissingShare(double missing_share);

struct FileShare {
  FileFacts facts;
  FileBudget budget;
};

class TreeBudget {
 public:
  // `options` may differ from call to call, `total_memory_bytes`
  // (RocksDbBudgetOptions) may not. Fails only if they are invalid.
  absl::StatusOr<FileShare> ShareOf(const rdb::FilterBuildingContext& context,
                                    const FilterCost& cost,
                                    FileBudgetOptions options,
                                    uint64_t total_memory_bytes);

 private:
  // A database and a column family.
  using TreeName = std::pair<DatabaseId, std::string>;

  static TreeName NameOf(const rdb::FilterBuildingContext& context);

  // How filters are spread where a get is cheapest in total_memory_bytes.
  struct Plan {
    double key_count = 0;  // The tree's, when the plan was made.
    double bits_per_key = 0;
    BudgetMode mode = BudgetMode::kBalanced;
  };
  // Sets memory and mode to those of the plan for the live tree, within the
  // memory of `budget`.
  void FollowPlan(const rdb::FilterBuildingContext& context,
                  const LiveTree::View& view, const FilterCost& cost,
                  uint64_t total_memory_bytes, FilterBudgetOptions* budget);
  Plan KnownPlan(const TreeName& name);  // Without keys if there is none.

  std::mutex mutex_;
  std::map<TreeName, Plan> plans_;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_TREE_BUDGET_H_
