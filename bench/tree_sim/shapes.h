// SPDX-License-Identifier: Apache-2.0
//
// Wasted reads and memory for trees of a regular shape, by their size.

#ifndef ROWBLOOM_BENCH_TREE_SIM_SHAPES_H_
#define ROWBLOOM_BENCH_TREE_SIM_SHAPES_H_

#include <cstdint>
#include <vector>

#include "nlohmann/json.hpp"

namespace rowbloom::tree_sim {

struct ShapesOptions {
  std::vector<double> bits_per_key = {5, 8, 10};
  double key_bytes = 100;
  uint32_t flush_runs = 0;
};

// Prints a table.
nlohmann::ordered_json ComputeShapes(const ShapesOptions& options);

}  // namespace rowbloom::tree_sim

#endif  // ROWBLOOM_BENCH_TREE_SIM_SHAPES_H_
