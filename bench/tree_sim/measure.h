// SPDX-License-Identifier: Apache-2.0
//
// Measures the memory of the filters of a simulated tree, and the reads that
// gets waste in it.

#ifndef ROWBLOOM_BENCH_TREE_SIM_MEASURE_H_
#define ROWBLOOM_BENCH_TREE_SIM_MEASURE_H_

#include <cstdint>
#include <random>
#include <vector>

#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "tree.h"

namespace rowbloom::tree_sim {

// The mean for one get: a hit, a miss, or a mix of both.
struct PerGet {
  double hit = 0;
  double miss = 0;

  double At(double missing_share) const {
    return missing_share * miss + (1 - missing_share) * hit;
  }
};

struct Snapshot {
  double bits_per_key = 0;
  size_t runs = 0;
  PerGet asks;    // Runs asked where the key is not.
  PerGet wasted;  // Expected false positives among these.
  // The least that half misses can waste with that memory, spread by runs.
  double least_wasted = 0;
};

// Live keys and filters, for control.
LiveFilters LiveOf(const Tree& tree);

// From `samples` live keys, drawn evenly. A get that misses asks for a key
// beside one of them.
Snapshot Measure(const Tree& tree, const FilterCost& cost, size_t samples,
                 std::mt19937_64* random);

}  // namespace rowbloom::tree_sim

#endif  // ROWBLOOM_BENCH_TREE_SIM_MEASURE_H_
