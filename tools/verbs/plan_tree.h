// SPDX-License-Identifier: Apache-2.0
//
// The parts that the plans of rowbloom plan share.

#ifndef ROWBLOOM_TOOLS_VERBS_PLAN_TREE_H_
#define ROWBLOOM_TOOLS_VERBS_PLAN_TREE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "rowbloom/filter_budget.h"
#include "tools/text/output.h"

namespace rowbloom::tools {

struct PlanTree {
  std::vector<TreeRun> runs;
  std::vector<uint32_t> levels;  // Empty if runs were given one by one.
  uint64_t key_count = 0;
};

// The limits of each filter are checked when arguments are parsed; the library
// names other values that are out of range.
template <class T>
T PlanValue(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  throw CLI::ValidationError("plan", std::string(value.status().message()));
}

uint64_t FilterSizeBytes(double bits_per_key, uint64_t key_count);

// One row for each run.
Json PlanRunRows(const PlanTree& tree, const FilterBudgetPlan& plan);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_VERBS_PLAN_TREE_H_
