// SPDX-License-Identifier: Apache-2.0
//
// What came out, as tables for people and as JSON for
// programs. bench/README.md describes the JSON.

#ifndef ROWBLOOM_BENCH_BUDGET_REPORT_H_
#define ROWBLOOM_BENCH_BUDGET_REPORT_H_

#include <string>
#include <vector>

#include "fixed_tree.h"
#include "grow.h"
#include "nlohmann/json.hpp"

namespace rowbloom::budget_bench {

// All policies on one tree.
struct TreeResults {
  TreeShape shape;
  std::vector<point_get::LevelShape> levels;
  std::vector<PolicyResult> results;
};

void PrintTree(const TreeResults& tree);
// Policies at equal memory.
void PrintReads(const TreeResults& tree);
// By bits per key, and the memory for as few wasted reads as the baseline's.
void PrintMemory(const TreeResults& tree);

void PrintGrown(const std::vector<GrowResult>& grown);

nlohmann::ordered_json ToJson(const TreeResults& tree);
nlohmann::ordered_json ToJson(const std::vector<GrowResult>& grown);
// Bits per key at which each policy wastes as few reads as the baseline of
// about 10 bits per key, of gets of which so many miss.
nlohmann::ordered_json EqualReadsJson(const TreeResults& tree);

}  // namespace rowbloom::budget_bench

#endif  // ROWBLOOM_BENCH_BUDGET_REPORT_H_
