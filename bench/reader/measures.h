// SPDX-License-Identifier: Apache-2.0
//
// The measurements of reader_bench.

#ifndef ROWBLOOM_BENCH_READER_MEASURES_H_
#define ROWBLOOM_BENCH_READER_MEASURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/program.h"
#include "bench/progress.h"
#include "src/cache/load_rules.h"

namespace rowbloom::bench {

using internal::cache::LoadRules;

// Gets of the rows of a tree.
struct GetsOptions {
  uint64_t last_level_keys = 0;
  uint32_t chunk_size_bytes = 128 << 10;
  uint64_t gets = 0;
  uint64_t always_gets = 0;  // Fewer: most load chunks. 0: none.
  LoadRules load_rules;
};

// Wasted reads of absent rows against the memory of filters: readers that keep
// as many fingerprint bits of each chunk as pay, beside the computed optimum,
// ways to keep whole chunks, and filters that were written for the memory.
struct PrecisionOptions : GetsOptions {
  PrecisionOptions() : GetsOptions{20000000, 128 << 10, 10000000, 20000, {}} {}

  int level_count = 4;
  double stored_bits_per_key = 14;
  // Bits per key for which budget_then_less writes filters.
  double budget_bits_per_key = 10;
  // The cache's size by all keys of the tree: chunks, indexes and overheads.
  std::vector<double> resident_bits_per_key = {1, 2, 3,  4,  5,  6,
                                               7, 8, 10, 12, 14, 15};
  // Measures late_bound alone.
  bool late_bound_only = false;
};

Json MeasurePrecision(const PrecisionOptions& options, Progress* progress);

// Bytes read with filters, loads of filters included, against bytes read
// without, at every size of the cache.
struct HarmOptions : GetsOptions {
  HarmOptions() : GetsOptions{2000000, 128 << 10, 8000000, 4000, {}} {}

  std::vector<std::string> policies = {"blocked_bloom:bits_per_key=10",
                                       "fast:bits_per_key=10",
                                       "compact:bits_per_key=14"};
  // As percent of the bytes of all filters; above 100 for indexes and
  // overheads.
  std::vector<double> cache_percent = {0, 1, 3, 10, 30, 60, 100, 150};
};

Json MeasureHarm(const HarmOptions& options, Progress* progress);

// Wasted reads that a memo of false positives leaves, where absent rows are
// asked for again and again.
struct MemoOptions {
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

Json MeasureMemo(const MemoOptions& options, Progress* progress);

// The workloads that get worse if one of the rules by which readers load chunks
// is switched off.
struct AblationOptions {
  AblationOptions();

  HarmOptions harm;
  PrecisionOptions precision;
  // Workloads that get worse by more need the rule.
  double worse_percent = 5;
  // For the processor time of lookups that load nothing.
  uint64_t lookups = 1000000;
  int rounds = 11;
};

// The rules of LoadRules that can be switched off.
std::vector<std::string> RuleNames();
LoadRules RulesWithout(const std::vector<std::string>& names);

Json MeasureAblation(const AblationOptions& options, Progress* progress);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_READER_MEASURES_H_
