// SPDX-License-Identifier: Apache-2.0
//
// One tree of fixed shape, built with the filters of one policy after another
// and asked the same gets.
//
//   FixedTree bench(shape, options, &work_directory, &progress);
//   PolicyResult r = bench.MeasureAt("compact", 10, Conditions(...));
//   r.bits_per_key;                                // Over the live files.
//   r.runs[0].WastedPerThousand();
//
// Errors are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_BUDGET_FIXED_TREE_H_
#define ROWBLOOM_BENCH_BUDGET_FIXED_TREE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/point_get/tree.h"
#include "bench/progress.h"
#include "bench/work_directory.h"
#include "keys.h"
#include "measure.h"
#include "policies.h"
#include "rocksdb/cache.h"
#include "rocksdb/version.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif
#include "rowbloom/tree_shape.h"
#include "slow_reads.h"

namespace rowbloom::budget_bench {

struct FixedTreeOptions {
  AskLimits limits;  // For each repetition.
  uint32_t repetitions = 3;
  uint64_t warm_up_gets = 1000000;  // At most.
  uint64_t timed_gets = 0;          // 0: no times.
  uint64_t delay_us = 100;          // A timed read from storage takes it.
  uint64_t file_size_bytes = 8 << 20;
  uint64_t block_size_bytes = 4096;
};

// Which gets run, and how much of the data is cached.
struct Condition {
  GetMix mix;
  double cache_share = 0;  // As a share of the data.
};
// Uniform gets at each share of missing gets and each cache; Zipf without one.
std::vector<Condition> AllConditions(const std::vector<double>& cache_shares);
std::vector<Condition> ColdUniform();

struct Run {
  Condition condition;
  std::vector<Wasted> repetitions;

  // Wasted reads per 1,000 gets: the mean of all repetitions, the least and the
  // most.
  double WastedPerThousand() const;
  double Least() const;
  double Most() const;
  double PerThousandOfLevel(int level) const;  // The mean.
};

struct TimedGets {
  double missing_share = 1;
  Latency latency;
};

struct PolicyResult {
  std::string policy;
  double bits_asked = 0;
  double bits_per_key = 0;  // Over all live files.
  std::map<int, double> bits_per_key_by_level;
  double build_cpu_seconds = 0;  // In flushes and compactions.
  std::vector<Run> runs;
  std::vector<TimedGets> timed;
};

const Run* FindRun(const PolicyResult& result, const Condition& condition);

class FixedTree {
 public:
  // Both pointers must outlive it.
  FixedTree(const TreeShape& shape, const FixedTreeOptions& options,
            const bench::WorkDirectory* directory, bench::Progress* progress);

  // Gives the policy this number of bits per key.
  PolicyResult MeasureAt(const std::string& policy, double bits_asked,
                         const std::vector<Condition>& conditions);
  // Gives it what makes its filters take this number of bits per key, as nearly
  // as a few trials allow.
  PolicyResult MeasureWith(const std::string& policy, double bits_per_key,
                           const std::vector<Condition>& conditions);
  // Only builds it.
  double BuildCpuSeconds(const std::string& policy, double bits_asked);

  const TreeShape& shape() const { return shape_; }
  // Every tree has the levels of the first one.
  const std::vector<point_get::LevelShape>& levels() const { return levels_; }
  uint64_t data_bytes() const;
  uint64_t answers_checked() const { return answers_checked_; }
  uint64_t wrong_answers() const { return wrong_answers_; }

 private:
  std::unique_ptr<point_get::Tree> Build(const std::string& policy,
                                         double bits_asked);
  PolicyResult Measure(const point_get::Tree& tree, const std::string& policy,
                       double bits_asked,
                       const std::vector<Condition>& conditions);
  Run MeasureRun(const point_get::Tree& tree, const Condition& condition);
  TimedGets Time(const point_get::Tree& tree, double missing_share);

  const TreeShape shape_;
  const FixedTreeOptions options_;
  const bench::WorkDirectory* const directory_;
  bench::Progress* const progress_;
  const Keys keys_;
  SlowReads slow_reads_;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::vector<point_get::LevelShape> levels_;
  int tree_count_ = 0;
  uint64_t answers_checked_ = 0;
  uint64_t wrong_answers_ = 0;
};

}  // namespace rowbloom::budget_bench

#endif  // ROWBLOOM_BENCH_BUDGET_FIXED_TREE_H_
