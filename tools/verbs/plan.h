// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan answers which filter and how many bits by numbers that are
// typed in: for one filter, or for the runs of a tree.

#ifndef ROWBLOOM_TOOLS_VERBS_PLAN_H_
#define ROWBLOOM_TOOLS_VERBS_PLAN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "rowbloom/get_cost.h"
#include "rowbloom/tree_shape.h"

namespace rowbloom::tools {

struct PlanArguments {
  // A tree has one value of each, one filter any number of them.
  std::vector<uint64_t> keys;
  std::vector<double> bits_per_key;
  std::vector<uint64_t> bits;
  // One filter.
  std::vector<double> target_fprs;
  std::vector<uint32_t> probes;
  // A tree.
  std::string tree;  // Empty: `run_keys` has the runs.
  TreeShape shape;
  std::vector<uint64_t> run_keys;
  std::string budget = "balanced";
  double missing_share = 0.5;
  std::string filter = "compact";
  // Its block cache; cache_bytes is 0 if none was asked for.
  GetCostOptions get;
  bool json = false;
};

inline uint64_t SizeBytes(double bits_per_key, uint64_t key_count) {
  return static_cast<uint64_t>(bits_per_key * static_cast<double>(key_count) /
                               8);
}

// The names that --filter takes: the families, and RocksDB's own filters.
std::vector<std::string> PlanFilterNames();

// Both throw the errors that CLI11 reports as wrong usage.
void PlanFilter(const PlanArguments& arguments);
void PlanTree(const PlanArguments& arguments);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_VERBS_PLAN_H_
