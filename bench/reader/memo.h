// SPDX-License-Identifier: Apache-2.0
//
// Wasted reads that a memo of false positives leaves, where absent rows are
// asked for again and again.

#ifndef ROWBLOOM_BENCH_READER_MEMO_H_
#define ROWBLOOM_BENCH_READER_MEMO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/progress.h"
#include "nlohmann/json.hpp"

namespace rowbloom::reader_bench {

struct MemoOptions {
  uint64_t seed = 1;
  uint64_t rows = 10000000;  // That are asked for; all are absent.
  std::vector<double> zipf = {0.99, 0.8, 0};  // 0: uniform.
  std::vector<uint64_t> entries = {0, 2000, 10000};
  // For each of four levels: a get of an absent row wastes four times that.
  std::string policy = "compact:target_fpr=0.0005";
  uint64_t gets = 1000000000;  // The second half is counted.
  // Other rows are popular in each round, or the result would hang on whether
  // the one most popular row is a false positive.
  int rounds = 32;
};

// Prints a table.
nlohmann::ordered_json MeasureMemo(const MemoOptions& options,
                                   bench::Progress* progress);

}  // namespace rowbloom::reader_bench

#endif  // ROWBLOOM_BENCH_READER_MEMO_H_
