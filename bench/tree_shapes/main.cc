// SPDX-License-Identifier: Apache-2.0
//
// tree_shapes: wasted reads and memory of filters in trees of a regular shape,
// from gigabytes to petabytes, computed from the expected rates of filters.
//
// Exit codes: 0 fine; 1 a failure; 2 usage.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/or_throw.h"
#include "bench/program.h"
#include "nlohmann/json.hpp"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/tree_shape.h"

namespace rowbloom {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::vector<double> bits_per_key = {5, 8, 10};
  double key_bytes = 100;
  uint32_t flush_runs = 0;
  std::string json = "/dev/stdout";
};

// RocksDB's max_bytes_for_level_base.
constexpr double kLevel1Bytes = 256 << 20;
constexpr double kBloomBits = 10;
constexpr double kMixes[] = {1, 0.5, 0};
constexpr char kBloom[] = "rocksdb_bloom";
const char* const kFilters[] = {kBloom, "rocksdb_ribbon", "blocked_bloom",
                                "fast", "compact"};

// `name` is a family, "rocksdb_bloom" or "rocksdb_ribbon".
const FilterCost& CostOf(const std::string& name) {
  // The construction of a cost takes milliseconds.
  static std::map<std::string, FilterCost> costs;
  const auto known = costs.find(name);
  if (known != costs.end()) return known->second;
  return costs.emplace(name, bench::OrThrow(FilterCost::OfName(name)))
      .first->second;
}

// Leveled, lazy-leveled and tiered trees of ten times more data with each
// level; universal ones by their number of runs, each of half of the next.
std::vector<TreeShape> Shapes(const Options& options) {
  std::vector<TreeShape> shapes;
  for (const TreeKind kind :
       {TreeKind::kLeveled, TreeKind::kLazyLeveled, TreeKind::kTiered}) {
    double bytes = kLevel1Bytes;
    for (uint32_t levels = 2; levels <= 8; ++levels) {
      TreeShape shape;
      shape.kind = kind;
      shape.level_count = levels;
      shape.flush_runs = options.flush_runs;
      bytes = 10 * bytes + kLevel1Bytes;
      shape.key_count = static_cast<uint64_t>(bytes / options.key_bytes);
      shapes.push_back(shape);
    }
  }
  for (const uint32_t runs : {4, 8, 16}) {
    TreeShape shape;
    shape.kind = TreeKind::kUniversal;
    shape.size_ratio = 2;
    shape.level_count = runs;
    shape.key_count = static_cast<uint64_t>(1e12 / options.key_bytes);
    shapes.push_back(shape);
  }
  return shapes;
}

// How a filter is asked for in a mix: by run in the mode for it, or the same in
// all runs.
FilterBudgetOptions OptionsFor(double missing_share, bool is_uniform,
                               double bits_per_key) {
  FilterBudgetOptions options;
  options.memory = FilterMemory::BitsPerKey(bits_per_key);
  options.missing_share = missing_share;
  options.mode = is_uniform           ? BudgetMode::kFixed
                 : missing_share == 0 ? BudgetMode::kHitsOnly
                                      : BudgetMode::kBalanced;
  return options;
}

Json FilterJson(const std::string& name, bool is_uniform,
                const std::vector<TreeRun>& runs, double missing_share,
                double bits_per_key, double bloom_wasted) {
  const FilterCost& cost = CostOf(name);
  const FilterBudgetOptions options =
      OptionsFor(missing_share, is_uniform, bits_per_key);
  const FilterBudgetPlan plan =
      bench::OrThrow(PlanFilterBudget(cost, runs, options));
  const FilterBudgetPlan equal =
      bench::OrThrow(PlanForWastedReads(cost, runs, options, bloom_wasted));
  return {
      {"filter", name},
      {"by_run", !is_uniform},
      {"bits_per_key", plan.bits_per_key},
      {"wasted_reads_per_1000_gets", 1000 * plan.wasted_reads},
      {"times_fewer",
       plan.wasted_reads > 0 ? Json(bloom_wasted / plan.wasted_reads) : Json()},
      {"equal_reads_bits_per_key", equal.bits_per_key}};
}

Json ComputeShapes(const Options& options) {
  Json rows = Json::array();
  for (const TreeShape& shape : Shapes(options)) {
    const std::vector<TreeRun> runs = bench::OrThrow(RunsOf(shape));
    for (const double missing_share : kMixes) {
      const double bloom_wasted =
          bench::OrThrow(
              PlanFilterBudget(CostOf(kBloom), runs,
                               OptionsFor(missing_share, true, kBloomBits)))
              .wasted_reads;
      for (const double bits : options.bits_per_key) {
        Json row{
            {"tree", std::string(TreeKindName(shape.kind))},
            {"levels", shape.level_count},
            {"runs", runs.size()},
            {"key_count", shape.key_count},
            {"data_bytes",
             static_cast<double>(shape.key_count) * options.key_bytes},
            {"filter_bytes", static_cast<double>(shape.key_count) * bits / 8},
            {"missing_share", missing_share},
            {"bits_per_key", bits},
            {"bloom10_wasted_reads_per_1000_gets", 1000 * bloom_wasted}};
        for (const char* filter : kFilters) {
          for (const bool is_uniform : {true, false}) {
            row["filters"].push_back(FilterJson(
                filter, is_uniform, runs, missing_share, bits, bloom_wasted));
          }
        }
        rows.push_back(std::move(row));
      }
    }
  }
  return {{"key_bytes", options.key_bytes},
          {"flush_runs", options.flush_runs},
          {"rows", std::move(rows)}};
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app(
      "Computes the wasted reads of trees of a regular shape, from gigabytes "
      "to "
      "petabytes.");
  app.option_defaults()->always_capture_default();
  app.add_option("--bits_per_key", o.bits_per_key, "Budgets, in bits per key")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 24.0));
  app.add_option("--key_bytes", o.key_bytes,
                 "Bytes of data for each key, which give the size of a tree")
      ->check(CLI::Range(1.0, 1e9));
  app.add_option("--flush_runs", o.flush_runs, "Files in level 0")
      ->check(CLI::Range(0, 1000));
  app.add_option("--json", o.json, "Write the results to this file");
  return bench::RunProgram("tree_shapes", &app, argc, argv, [&] {
    const bench::JsonFile json(o.json);
    json.Write({{"format_version", 1},
                {"machine", bench::MachineJson()},
                {"shapes", ComputeShapes(o)}});
    return 0;
  });
}

}  // namespace
}  // namespace rowbloom

int main(int argc, char** argv) { return rowbloom::Main(argc, argv); }
