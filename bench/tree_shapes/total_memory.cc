// SPDX-License-Identifier: Apache-2.0
//
// total_memory: the bits per key that a block cache wants, and the expected
// reads and microseconds of a get, in leveled trees of 1e9 and 1e11 keys.
//
// Exit codes: 0 fine; 1 a failure; 2 usage.

#include <algorithm>
#include <cstdint>
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
#include "rowbloom/get_cost.h"
#include "rowbloom/tree_shape.h"

namespace rowbloom {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  GetCostOptions get;
  std::vector<double> cache_percent = {0.2, 1, 5};
  std::vector<double> zipf_exponents = {0, 0.99};
  std::string json = "/dev/stdout";
};

struct Tree {
  uint64_t key_count;
  uint32_t level_count;
};

// Level 1 has about 1e6 keys, as with RocksDB's max_bytes_for_level_base.
constexpr Tree kTrees[] = {{1000000000, 4}, {100000000000, 6}};
constexpr double kMixes[] = {1, 0.5, 0.1};
constexpr double kComparedBits = 10;

struct Device {
  const char* name;
  double read_us;
};
constexpr Device kDevices[] = {{"nvme", 100}, {"object_storage", 20000}};

TotalMemoryOptions OptionsFor(const GetCostOptions& get, BudgetMode mode) {
  TotalMemoryOptions options;
  options.get = get;
  options.mode = mode;
  return options;
}

Json PlanJson(const char* name, const TotalMemoryPlan& plan) {
  const GetCost& cost = plan.cost;
  return {{"plan", name},
          {"by_run", plan.mode != BudgetMode::kFixed},
          {"bits_per_key", plan.filters.bits_per_key},
          {"filter_bytes", cost.filter.bytes},
          {"filter_reads", cost.filter.reads},
          {"index_reads", cost.index.reads},
          {"data_reads", cost.data.reads},
          {"reads", cost.reads()},
          {"data_hit_rate", cost.data.hit_rate()},
          {"cpu_us", cost.cpu_us},
          {"total_us", cost.total_us}};
}

// The plans that are compared in one tree, cache, workload and device.
Json PlansJson(const std::vector<TreeRun>& runs, const GetCostOptions& get) {
  const FilterCost bloom = FilterCost::OfRocksDbBloom();
  const FilterCost compact = bench::OrThrow(FilterCost::OfName("compact"));
  const TotalMemoryOptions by_run = OptionsFor(get, BudgetMode::kBalanced);
  const TotalMemoryOptions fixed = OptionsFor(get, BudgetMode::kFixed);
  const FilterMemory ten = FilterMemory::BitsPerKey(kComparedBits);
  const FilterMemory none = FilterMemory::BitsPerKey(0);
  return {PlanJson("none",
                   bench::OrThrow(PlanFilterMemory(bloom, runs, fixed, none))),
          PlanJson("bloom_10",
                   bench::OrThrow(PlanFilterMemory(bloom, runs, fixed, ten))),
          PlanJson("bloom_best_fixed",
                   bench::OrThrow(PlanTotalMemory(bloom, runs, fixed))),
          PlanJson("bloom_best",
                   bench::OrThrow(PlanTotalMemory(bloom, runs, by_run))),
          PlanJson("compact_10", bench::OrThrow(PlanFilterMemory(compact, runs,
                                                                 by_run, ten))),
          PlanJson("compact_best",
                   bench::OrThrow(PlanTotalMemory(compact, runs, by_run)))};
}

Json ComputePlans(const Options& options) {
  Json rows = Json::array();
  for (const Tree& tree : kTrees) {
    TreeShape shape;
    shape.key_count = tree.key_count;
    shape.level_count = tree.level_count;
    const std::vector<TreeRun> runs = bench::OrThrow(RunsOf(shape));
    for (const Device& device : kDevices) {
      for (const double exponent : options.zipf_exponents) {
        for (const double missing_share : kMixes) {
          for (const double percent : options.cache_percent) {
            GetCostOptions get = options.get;
            get.read_us = device.read_us;
            get.zipf_exponent = exponent;
            get.missing_share = missing_share;
            const double data_bytes =
                static_cast<double>(tree.key_count) * get.entry_bytes;
            get.cache_bytes = static_cast<uint64_t>(data_bytes * percent / 100);
            Json row{{"key_count", tree.key_count},
                     {"levels", tree.level_count},
                     {"data_bytes", data_bytes},
                     {"device", device.name},
                     {"read_us", device.read_us},
                     {"zipf_exponent", exponent},
                     {"missing_share", missing_share},
                     {"cache_percent", percent},
                     {"cache_bytes", get.cache_bytes},
                     {"plans", PlansJson(runs, get)}};
            rows.push_back(std::move(row));
          }
        }
      }
    }
  }
  const GetCostOptions& get = options.get;
  return {{"entry_bytes", get.entry_bytes},
          {"key_bytes", get.key_bytes},
          {"data_block_bytes", get.data_block_bytes},
          {"metadata_block_bytes", get.metadata_block_bytes},
          {"block_overhead_bytes", get.block_overhead_bytes},
          {"high_priority_share", get.high_priority_share},
          {"get_cpu_us", get.get_cpu_us},
          {"filter_cpu_us", get.filter_cpu_us},
          {"search_cpu_us", get.search_cpu_us},
          {"read_cpu_us", get.read_cpu_us},
          {"rows", std::move(rows)}};
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app(
      "Computes the filter bits that a block cache wants, in leveled trees.");
  app.option_defaults()->always_capture_default();
  app.add_option("--cache_percent", o.cache_percent,
                 "Caches, in percent of the bytes of all entries")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 1000.0));
  app.add_option("--zipf", o.zipf_exponents,
                 "The key of rank r is asked for 1 / r^ZIPF times as often as "
                 "the first")
      ->delimiter(',')
      ->check(CLI::Range(0.0, GetCostOptions::kMaxZipfExponent));
  app.add_option("--entry_bytes", o.get.entry_bytes, "Bytes of key and value")
      ->check(CLI::Range(1.0, 1e6));
  app.add_option("--key_bytes", o.get.key_bytes,
                 "Bytes of a key in an index entry")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--high_priority_share", o.get.high_priority_share,
                 "high_pri_pool_ratio of the cache")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--json", o.json, "Write the results to this file");
  return bench::RunProgram("total_memory", &app, argc, argv, [&] {
    const bench::JsonFile json(o.json);
    json.Write({{"format_version", 1},
                {"machine", bench::MachineJson()},
                {"plans", ComputePlans(o)}});
    return 0;
  });
}

}  // namespace
}  // namespace rowbloom

int main(int argc, char** argv) { return rowbloom::Main(argc, argv); }
