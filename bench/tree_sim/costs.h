// SPDX-License-Identifier: Apache-2.0
//
// Filter costs by name, and how numbers are printed.

#ifndef ROWBLOOM_BENCH_TREE_SIM_COSTS_H_
#define ROWBLOOM_BENCH_TREE_SIM_COSTS_H_

#include <string>

#include "nlohmann/json.hpp"
#include "rowbloom/filter_cost.h"

namespace rowbloom::tree_sim {

// A family, "rocksdb_bloom" or "rocksdb_ribbon"; throws std::runtime_error.
// One thread.
FilterCost CostOf(const std::string& name);

// "23x"; "-" for null.
std::string TimesText(const nlohmann::ordered_json& times);

}  // namespace rowbloom::tree_sim

#endif  // ROWBLOOM_BENCH_TREE_SIM_COSTS_H_
