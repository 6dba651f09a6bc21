// SPDX-License-Identifier: Apache-2.0
//
// What came out, as Markdown for people and as JSON for programs.
// bench/README.md describes the JSON.

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_REPORT_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_REPORT_H_

#include <iosfwd>
#include <string>
#include <vector>

#include "measure.h"
#include "nlohmann/json.hpp"
#include "options.h"
#include "rocksdb_library.h"

namespace rowbloom::filter_bench {

// Which library, and the costs of hashing.
void PrintHeader(const RocksDbLibrary& library, const HashCosts& costs,
                 std::ostream& out);
// All runs of one size.
void PrintSize(const std::vector<Run>& runs, std::ostream& out);
// All runs of one shape.
void PrintBlockCache(const std::vector<BlockCacheRun>& runs, std::ostream& out);

struct Report {
  HashCosts hash_costs;
  std::vector<Run> runs;
  std::vector<BlockCacheRun> block_cache;

  uint64_t present_lookups() const;
  uint64_t false_negatives() const;
};

nlohmann::ordered_json ToJson(const Options& options,
                              const RocksDbLibrary& library,
                              const Report& report);

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_REPORT_H_
