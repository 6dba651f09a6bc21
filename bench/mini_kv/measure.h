// SPDX-License-Identifier: Apache-2.0
//
// One mini_kv store of a dataset under one filter policy, and what point gets
// read of it.
//
//   Load(options, data, filter, path, &progress);
//   Measurement m = Ask(options, data, Query::kAbsentRow, path, &progress);
//
// Cells are put in an order that looks random, so that each level has cells of
// each part of the key space. The store runs in one thread, and the sizes of
// its files do not depend on their filters: with any policy the tree is the
// same. Errors are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_MINI_KV_MEASURE_H_
#define ROWBLOOM_BENCH_MINI_KV_MEASURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/point_get/dataset.h"
#include "bench/point_get/workload.h"
#include "bench/progress.h"
#include "examples/mini_kv/mini_kv.h"
#include "options.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_budget.h"

namespace rowbloom::mini_kv_bench {

using bench::Progress;
using ::mini_kv::LevelStats;
using point_get::Dataset;
using point_get::Query;

inline constexpr Query kQueries[] = {Query::kAbsentRow, Query::kAbsentColumn,
                                     Query::kPresentCell, Query::kPresentRow};

struct Measurement {
  Query query = Query::kAbsentRow;
  uint64_t gets = 0;
  uint64_t wrong_answers = 0;
  uint64_t data_reads = 0;
  uint64_t data_bytes = 0;
  uint64_t filter_reads = 0;  // Chunks loaded into the cache.
  uint64_t filter_bytes = 0;
  uint64_t negatives = 0;
  uint64_t false_positives = 0;
};

// The filters that a store writes.
struct Filters {
  std::string name;
  FilterOptions filter;
  std::optional<FileBudgetOptions> budget;
};

// Fills a new store at `path` and returns its levels.
std::vector<LevelStats> Load(const Options& options, const Dataset& data,
                             const Filters& filters, const std::string& path,
                             Progress* progress);

// Opens the store, so that no filter is in the cache, and asks.
Measurement Ask(const Options& options, const Dataset& data, Query query,
                const std::string& path, Progress* progress);

}  // namespace rowbloom::mini_kv_bench

#endif  // ROWBLOOM_BENCH_MINI_KV_MEASURE_H_
