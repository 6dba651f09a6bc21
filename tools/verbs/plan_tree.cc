// SPDX-License-Identifier: Apache-2.0

#include "tools/verbs/plan_tree.h"

namespace rowbloom::tools {

uint64_t FilterSizeBytes(double bits_per_key, uint64_t key_count) {
  return static_cast<uint64_t>(bits_per_key * static_cast<double>(key_count) /
                               8);
}

Json PlanRunRows(const PlanTree& tree, const FilterBudgetPlan& plan) {
  Json rows = Json::array();
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const RunBudget& run = plan.runs[i];
    const uint64_t key_count = tree.runs[i].key_count;
    Json row{{"run", i}};
    if (!tree.levels.empty()) row["level"] = tree.levels[i];
    row["key_count"] = key_count;
    row["key_share"] = run.key_share;
    row["absent_asks"] = run.absent_asks;
    row["builder_bits"] = run.setting.builder_bits;
    row["bits_per_key"] = run.setting.bits_per_key;
    row["expected_fpr"] = run.setting.fpr;
    row["size_bytes"] = FilterSizeBytes(run.setting.bits_per_key, key_count);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rowbloom::tools
