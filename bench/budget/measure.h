// SPDX-License-Identifier: Apache-2.0
//
// Asks a tree point gets and counts the data blocks that they read for nothing.
//
//   GetStream gets(&keys, {1, Mix::kUniform}, seed);
//   Wasted w = CountWasted(tree.db(), levels, [&] { return gets.Next(); },
//                          AskLimits(), /*fill_cache=*/false, &progress);
//   w.reads() / w.gets
//
// Counts are exact and the same on every machine. Each answer is checked.

#ifndef ROWBLOOM_BENCH_BUDGET_MEASURE_H_
#define ROWBLOOM_BENCH_BUDGET_MEASURE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bench/point_get/counts.h"
#include "bench/progress.h"
#include "keys.h"
#include "rocksdb/db.h"

namespace rowbloom::budget_bench {

inline constexpr size_t kValueSize = 8;

struct AskLimits {
  uint64_t gets = 100000;
  // Ends sooner with so many wasted reads: they are then known well enough.
  uint64_t wasted_reads = 2000;
};

struct Wasted {
  uint64_t gets = 0;
  uint64_t wrong_answers = 0;
  point_get::ReadCounts counts;
  uint64_t necessary_reads = 0;  // Data blocks that hold what was found.
  // Data blocks read where the key was not, by level, index 0 being L0. Only if
  // it is known where keys are.
  std::vector<uint64_t> reads_by_level;

  uint64_t reads() const { return counts.data_reads - necessary_reads; }
  double PerThousand() const {
    return 1000.0 * static_cast<double>(reads()) / static_cast<double>(gets);
  }
};

// `fill_cache`: data blocks that are read go to the block cache; if it is
// empty, a hit needs one read.
Wasted CountWasted(rocksdb::DB* db, int level_count,
                   const std::function<Get()>& next_get,
                   const AskLimits& limits, bool fill_cache,
                   bench::Progress* progress);

// Gets until the block cache holds what gets of this kind leave in it: first
// those of `present` until it is full, then of `gets` until as many blocks were
// read as it holds, or `most_gets`. Returns how many answers were wrong.
uint64_t WarmUp(rocksdb::DB* db, uint64_t cache_blocks, GetStream* present,
                GetStream* gets, uint64_t most_gets, bench::Progress* progress);

struct Latency {
  uint64_t wrong_answers = 0;
  double mean_us = 0;
  double p50_us = 0;
  double p99_us = 0;
};

// No block is cached.
Latency TimeGets(rocksdb::DB* db, GetStream* gets, uint64_t count,
                 bench::Progress* progress);

}  // namespace rowbloom::budget_bench

#endif  // ROWBLOOM_BENCH_BUDGET_MEASURE_H_
