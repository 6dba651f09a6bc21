// SPDX-License-Identifier: Apache-2.0
//
// Bytes read with filters, loads of filters included, against bytes read
// without, at every size of the cache.

#ifndef ROWBLOOM_BENCH_READER_HARM_H_
#define ROWBLOOM_BENCH_READER_HARM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/progress.h"
#include "nlohmann/json.hpp"

namespace rowbloom::reader_bench {

struct HarmOptions {
  uint64_t seed = 1;
  uint64_t last_level_keys = 2000000;
  std::vector<std::string> policies = {"blocked_bloom:bits_per_key=10",
                                       "fast:bits_per_key=10",
                                       "compact:bits_per_key=14"};
  // As percent of the bytes of all filters; above 100 for indexes and
  // overheads.
  std::vector<double> cache_percent = {0, 1, 3, 10, 30, 60, 100, 150};
  uint64_t gets = 8000000;
  uint64_t always_gets = 4000;  // Fewer: most load chunks. 0: none.
  uint32_t chunk_size_bytes = 128 << 10;
  bool prints = true;
};

// Prints a table for each policy.
nlohmann::ordered_json MeasureHarm(const HarmOptions& options,
                                   bench::Progress* progress);

}  // namespace rowbloom::reader_bench

#endif  // ROWBLOOM_BENCH_READER_HARM_H_
