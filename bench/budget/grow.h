// SPDX-License-Identifier: Apache-2.0
//
// A tree that grows as a user's does: memtable flushes, RocksDB's own choice of
// compactions and trivial moves, ingested files. What its filters take at each
// moment, beside the budget, and what gets waste at the end.
//
//   GrowResult r = Grow("compact_budget", {Inserts::kRandom, true}, options,
//                       "DIRECTORY", &progress);
//   r.last_bits_per_key, r.most_bits_per_key
//
// After each flush the program waits until no compaction is due, so that the
// tree is the same each time. Errors are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_BUDGET_GROW_H_
#define ROWBLOOM_BENCH_BUDGET_GROW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/progress.h"
#include "measure.h"

namespace rowbloom::budget_bench {

enum class Inserts : uint8_t {
  kRandom,  // Keys everywhere.
  kAppend,  // Each key after all others.
  kMixed,   // 80% of each flush after all others, 20% everywhere.
  // The same, but those 20% have a range of their own, below. The others are
  // then never written again, only moved.
  kTwoRanges,
};
std::vector<std::string> AllInserts();
std::string InsertsName(Inserts inserts);
Inserts InsertsOf(const std::string& name);  // One of AllInserts().

struct GrowTree {
  Inserts inserts = Inserts::kRandom;
  bool dynamic_level_bytes = false;
};

struct GrowOptions {
  uint32_t flushes = 300;
  uint32_t keys_per_flush = 2000;
  // After this number of flushes a file is ingested. It has as many keys as a
  // flush, after all others.
  uint32_t flushes_per_ingestion = 30;
  double bits_per_key = 10;
  uint64_t gets = 50000;  // For each kind.
};

struct GrowResult {
  std::string policy;
  GrowTree tree;
  // Over all live files: at the end, and the most at any time after the first
  // tenth of the flushes.
  double last_bits_per_key = 0;
  double most_bits_per_key = 0;
  std::vector<uint64_t> files_by_level;
  uint64_t keys = 0;
  uint64_t moved_bytes = 0;  // By trivial moves.
  uint64_t ingested_files = 0;
  // Data blocks read for nothing, of 1,000 gets at the end.
  double wasted_absent = 0;
  double wasted_present = 0;
  uint64_t answers_checked = 0;
  uint64_t wrong_answers = 0;
};

// In a new database in `directory`, which is removed.
GrowResult Grow(const std::string& policy, const GrowTree& tree,
                const GrowOptions& options, const std::string& directory,
                bench::Progress* progress);

}  // namespace rowbloom::budget_bench

#endif  // ROWBLOOM_BENCH_BUDGET_GROW_H_
