// SPDX-License-Identifier: Apache-2.0
//
// Measures which workloads get worse if one of the rules by which readers load
// chunks is switched off.

#ifndef ROWBLOOM_BENCH_READER_ABLATION_H_
#define ROWBLOOM_BENCH_READER_ABLATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/progress.h"
#include "bench/reader/harm.h"
#include "bench/reader/precision.h"
#include "nlohmann/json.hpp"

namespace rowbloom::reader_bench {

struct AblationOptions {
  AblationOptions();

  HarmOptions harm;
  PrecisionOptions precision;
  // Workloads that get worse by more are listed.
  double worse_percent = 5;
  // For the processor time of lookups that load nothing.
  uint64_t lookups = 1000000;
  int rounds = 11;
};

// The rules of src/reader/load_policy.h.
std::vector<std::string> RuleNames();
// For the rest of the process, or until SwitchAllOn().
void SwitchOff(const std::string& rule);
void SwitchAllOn();

// Prints a table.
nlohmann::ordered_json MeasureAblation(const AblationOptions& options,
                                       bench::Progress* progress);

}  // namespace rowbloom::reader_bench

#endif  // ROWBLOOM_BENCH_READER_ABLATION_H_
