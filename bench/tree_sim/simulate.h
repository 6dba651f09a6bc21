// SPDX-License-Identifier: Apache-2.0
//
// Lets trees grow whose filters a FileBudget sizes, one file at a time, and
// reports whether the total stays near the budget and what gets waste.

#ifndef ROWBLOOM_BENCH_TREE_SIM_SIMULATE_H_
#define ROWBLOOM_BENCH_TREE_SIM_SIMULATE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/progress.h"
#include "nlohmann/json.hpp"

namespace rowbloom::tree_sim {

struct SimulateOptions {
  uint64_t seed = 1;
  std::string filter = "compact";
  double bits_per_key = 10;
  size_t flushes = 1500;
  size_t keys_per_flush = 64;
  double size_ratio = 10;
  double control_gain = 0.5;
  double flush_ratio = 1.3;
  double max_extra_bits = 6;
  std::vector<std::string> trees = {"leveled_static", "leveled_dynamic",
                                    "tiered", "lazy_leveled", "universal"};
  std::vector<std::string> inserts = {"random",        "append",
                                      "mixed_keys",    "mixed_flushes",
                                      "ingest_behind", "ingest_overlap"};
  // The host's knowledge: for each file what RocksDB tells the builder of its
  // filter, and nothing about live files; or, as a listener, all live runs.
  std::vector<std::string> knowledge = {"builder", "listener"};
};

// Prints a table; throws std::runtime_error for names not among the defaults.
nlohmann::ordered_json Simulate(const SimulateOptions& options,
                                bench::Progress* progress);

}  // namespace rowbloom::tree_sim

#endif  // ROWBLOOM_BENCH_TREE_SIM_SIMULATE_H_
