// SPDX-License-Identifier: Apache-2.0
//
// Processor time of a lookup: of a bare filter, and through a reader.

#ifndef ROWBLOOM_BENCH_READER_COST_H_
#define ROWBLOOM_BENCH_READER_COST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/progress.h"
#include "nlohmann/json.hpp"

namespace rowbloom::reader_bench {

struct CostOptions {
  uint64_t seed = 1;
  std::vector<std::string> policies = {"blocked_bloom:bits_per_key=10",
                                       "fast:bits_per_key=10",
                                       "compact:bits_per_key=10"};
  // Of all filters: within the second level cache, the last level cache, and
  // beyond.
  std::vector<uint64_t> filter_bytes = {256 << 10, 8 << 20, 64 << 20};
  int files = 4;
  int rounds = 21;
};

// Prints a table.
nlohmann::ordered_json MeasureCost(const CostOptions& options,
                                   bench::Progress* progress);

}  // namespace rowbloom::reader_bench

#endif  // ROWBLOOM_BENCH_READER_COST_H_
