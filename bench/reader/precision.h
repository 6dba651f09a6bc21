// SPDX-License-Identifier: Apache-2.0
//
// Wasted reads of absent rows against the memory of filters: readers that keep
// as many columns of each chunk as pay, beside the computed optimum, ways to
// keep whole chunks, and filters that were written for the memory.

#ifndef ROWBLOOM_BENCH_READER_PRECISION_H_
#define ROWBLOOM_BENCH_READER_PRECISION_H_

#include <cstdint>
#include <vector>

#include "bench/progress.h"
#include "nlohmann/json.hpp"

namespace rowbloom::reader_bench {

struct PrecisionOptions {
  uint64_t seed = 1;
  uint64_t last_level_keys = 20000000;
  int level_count = 4;
  double stored_bits_per_key = 14;
  // Bits per key for which budget_then_less writes filters.
  double budget_bits_per_key = 10;
  uint32_t chunk_size_bytes = 128 << 10;
  // The cache's size by all keys of the tree: chunks, indexes and overheads.
  std::vector<double> resident_bits_per_key = {1, 2, 3,  4,  5,  6,
                                               7, 8, 10, 12, 14, 15};
  uint64_t gets = 10000000;      // For absent rows.
  uint64_t always_gets = 20000;  // Fewer: each loads chunks.
  // Measures late_bound alone and prints nothing.
  bool late_bound_only = false;
};

// Prints a table.
nlohmann::ordered_json MeasurePrecision(const PrecisionOptions& options,
                                        bench::Progress* progress);

}  // namespace rowbloom::reader_bench

#endif  // ROWBLOOM_BENCH_READER_PRECISION_H_
