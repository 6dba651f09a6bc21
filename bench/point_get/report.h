// SPDX-License-Identifier: Apache-2.0
//
// What came out, as tables and a bar chart for people and as JSON for
// programs. bench/README.md describes the JSON.

#ifndef ROWBLOOM_BENCH_POINT_GET_REPORT_H_
#define ROWBLOOM_BENCH_POINT_GET_REPORT_H_

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "measure.h"
#include "nlohmann/json.hpp"
#include "options.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::point_get {

struct Run {
  Query query = Query::kAbsentRow;
  Mix mix = Mix::kUniform;
  Measurement measurement;
};

// Everything about one policy at one size.
struct PolicyResult {
  std::string policy;
  double bits_per_key = 0;  // As the policy was given it.
  FilterSize filter_size;
  std::vector<Run> runs;
};

// Policies that were given comparable means.
struct Comparison {
  std::string sizing;  // One of those below.
  double bits_per_key = 0;
  double target_fpr = 0;  // For kEqualFpr.
  std::vector<PolicyResult> results;
};
inline constexpr char kEqualBits[] = "equal_bits_per_key";
inline constexpr char kEqualBytes[] = "equal_filter_bytes";
inline constexpr char kEqualFpr[] = "equal_fpr";

struct Report {
  std::string input;
  uint64_t row_count = 0;
  uint64_t cell_count = 0;
  uint64_t qualifier_count = 0;
  std::vector<LevelShape> levels;
  std::vector<Comparison> comparisons;
  // Answers checked against what was loaded, those of kPresentRow included.
  uint64_t answers_checked = 0;
  uint64_t wrong_answers = 0;
};

void PrintTree(const Report& report, std::ostream& out);
// All that was measured, a table for each query.
void PrintQueries(const Comparison& comparison, std::ostream& out);
// Sizes, and the wasted reads of the uniform mix.
void PrintSummary(const Comparison& comparison, std::ostream& out);
// Data-block reads per get of the uniform mix.
void PrintChart(const Comparison& comparison, std::ostream& out);

nlohmann::ordered_json ToJson(const Options& options, const Report& report);

}  // namespace rowbloom::point_get

#endif  // ROWBLOOM_BENCH_POINT_GET_REPORT_H_
