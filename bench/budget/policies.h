// SPDX-License-Identifier: Apache-2.0
//
// The filter policies that are compared, each set up as its user would.
//
//   point_get::Policy policy = MakePolicy("compact_budget", 10, runs);
//
// | name | filters |
// |---|---|
// | none | |
// | rocksdb_bloom, rocksdb_ribbon | RocksDB's own, the same bits everywhere |
// | ..._by_level | the same, with bits for each level of this very tree |
// | composed_ribbon | rowbloom's composed mode: RocksDB's, of one budget |
// | composed_listener | with the listener that tells which runs are live |
// | blocked_bloom, fast, compact | rowbloom's, the same bits everywhere |
// | ..._budget | the same, of one budget |
// | compact_listener | with the listener |
// | compact_hits_only | a budget for gets that never miss |
//
// Errors are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_BUDGET_POLICIES_H_
#define ROWBLOOM_BENCH_BUDGET_POLICIES_H_

#include <optional>
#include <string>
#include <vector>

#include "bench/point_get/policies.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/tree_shape.h"

namespace rowbloom::budget_bench {

// In the order of the tables.
const std::vector<std::string>& PolicyNames();
inline constexpr char kNone[] = "none";
inline constexpr char kBaseline[] = "rocksdb_bloom";
inline constexpr char kHitsOnly[] = "compact_hits_only";

// RocksDB 7.8 tells listeners nothing of CompactFiles(), which makes the fixed
// trees: those policies are for trees that grow.
bool HasListener(const std::string& name);

// `bits_per_key`: what its filters are to take on average. Ribbon filters are
// asked for what takes about as much.
point_get::Policy MakePolicy(const std::string& name, double bits_per_key,
                             const TreeShape& shape);

// The cost of its filters; nothing for "none".
std::optional<FilterCost> CostOf(const std::string& name);

// The fewest reads that filters of that kind can waste in a get with so much
// memory in all (PlanFilterBudget).
double LeastWastedReads(const std::string& name, const TreeShape& shape,
                        double bits_per_key, double missing_share);

}  // namespace rowbloom::budget_bench

#endif  // ROWBLOOM_BENCH_BUDGET_POLICIES_H_
