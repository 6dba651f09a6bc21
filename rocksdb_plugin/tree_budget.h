// SPDX-License-Identifier: Apache-2.0
//
// What the budget of a column family gives the SST that RocksDB is about to
// write: from RocksDB's FilterBuildingContext to FileFacts and a FileBudget,
// for native and composed mode. Where a listener knows the live tree, by that.
//
//   absl::StatusOr<FileShare> share = tree_.ShareOf(context, cost, options);
//   if (share.ok()) setting = share->budget.ForFile(share->facts);
//
// RocksDB's public API only. Thread-safe.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_TREE_BUDGET_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_TREE_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/filter_policy.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"

namespace rowbloom {

// Filters take at most so much for each key of a tree, on average.
inline constexpr double kMaxBudgetBitsPerKey = 24;

// Each of these says what is allowed.
absl::Status ValidateBudgetBits(const char* option, double bits_per_key);
absl::Status ValidateSizeRatio(double size_ratio);
absl::Status ValidateMissingShare(double missing_share);

struct FileShare {
  FileFacts facts;
  FileBudget budget;
};

class TreeBudget {
 public:
  // `options` may differ from call to call. An error only if they are invalid.
  absl::StatusOr<FileShare> ShareOf(
      const ROCKSDB_NAMESPACE::FilterBuildingContext& context,
      const FilterCost& cost, FileBudgetOptions options);

 private:
  FileFacts FactsOf(const ROCKSDB_NAMESPACE::FilterBuildingContext& context);

  std::mutex mutex_;
  // By database and column family, how many levels it has for sure: of late,
  // and before that. Older ones are forgotten, since nothing tells that a
  // database was closed, and another may come to have its logger's address.
  using LevelCounts = std::map<std::pair<const void*, std::string>, uint32_t>;
  LevelCounts level_counts_;
  LevelCounts level_counts_before_;
  size_t files_ = 0;  // That level_counts_ has seen.
};

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_TREE_BUDGET_H_
