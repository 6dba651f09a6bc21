// SPDX-License-Identifier: Apache-2.0
//
// What came out, as tables for people and as JSON for programs.
// bench/README.md describes the JSON.

#ifndef ROWBLOOM_BENCH_MINI_KV_REPORT_H_
#define ROWBLOOM_BENCH_MINI_KV_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "measure.h"
#include "nlohmann/json.hpp"
#include "options.h"

namespace rowbloom::mini_kv_bench {

struct PolicyResult {
  std::string policy;  // "none", or as FilterPolicy::ToString().
  std::vector<LevelStats> levels;
  std::vector<Measurement> runs;  // In order of kQueries.
};

struct Report {
  uint64_t row_count = 0;
  uint64_t cell_count = 0;
  std::vector<PolicyResult> results;  // That of "none" first.

  uint64_t wrong_answers() const;
};

void Print(const Report& report);
nlohmann::ordered_json ToJson(const Options& options, const Report& report);

}  // namespace rowbloom::mini_kv_bench

#endif  // ROWBLOOM_BENCH_MINI_KV_REPORT_H_
