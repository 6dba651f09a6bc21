// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan for a tree: divides one budget into bits per key for each run,
// and finds the bits that other filters need for as few wasted reads; or finds
// the budget that a block cache wants, and the reads and microseconds of a get
// beside those of other filters.

#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/get_cost.h"
#include "rowbloom/tree_shape.h"
#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/plan.h"
#include "tools/verbs/report.h"

namespace rowbloom::tools {
namespace {

// Most databases have RocksDB's Bloom filters of as many bits: the filters to
// compare with.
constexpr double kBloomBits = 10;

struct Tree {
  std::vector<TreeRun> runs;
  std::vector<uint32_t> levels;  // Empty if runs were given one by one.
  uint64_t key_count = 0;
};

template <class T>
T OneOf(const char* option, const std::vector<T>& values) {
  if (values.size() == 1) return values[0];
  throw CLI::ValidationError(
      option, "a tree has one value; lists are for filters without --tree");
}

Tree TreeOf(const PlanArguments& arguments) {
  Tree tree;
  if (arguments.run_keys.empty()) {
    TreeShape shape = arguments.shape;
    shape.key_count = OneOf("--keys", arguments.keys);
    shape.kind = ValueOf("plan", ParseTreeKind(arguments.tree));
    tree.runs = ValueOf("plan", RunsOf(shape));
    tree.levels = LevelsOfRuns(shape);
  } else {
    for (const uint64_t keys : arguments.run_keys) {
      tree.runs.push_back({keys});
    }
  }
  for (const TreeRun& run : tree.runs) {
    tree.key_count += run.key_count;
    if (tree.key_count > kMaxTreeKeys) {
      throw CLI::ValidationError(
          "--runs", "have more than " + std::to_string(kMaxTreeKeys) + " keys");
    }
  }
  return tree;
}

BudgetMode ModeOf(const std::string& budget) {
  return budget == "hits_only" ? BudgetMode::kHitsOnly
         : budget == "fixed"   ? BudgetMode::kFixed
                               : BudgetMode::kBalanced;
}

FilterMemory MemoryOf(const PlanArguments& arguments) {
  if (!arguments.bits.empty()) {
    return FilterMemory::Bytes(OneOf("--bits", arguments.bits) / 8);
  }
  if (arguments.bits_per_key.empty()) return FilterBudgetOptions().memory;
  return FilterMemory::BitsPerKey(
      OneOf("--bits_per_key", arguments.bits_per_key));
}

FilterBudgetOptions Uniform(FilterBudgetOptions options) {
  // The comparison is with plans for gets that never miss.
  if (options.mode == BudgetMode::kHitsOnly) options.missing_share = 0;
  options.mode = BudgetMode::kFixed;
  return options;
}

double WastedReads(const Tree& tree, const FilterBudgetPlan& plan,
                   double missing_share) {
  const std::vector<double> asks = AbsentAsks(tree.runs, missing_share);
  double sum = 0;
  for (size_t i = 0; i < asks.size(); ++i) {
    if (tree.runs[i].key_count == 0) continue;
    sum += asks[i] * plan.runs[i].setting.fpr;
  }
  return sum;
}

// Null if no memory is large enough.
Json BitsForWastedReads(const FilterCost& cost, const Tree& tree,
                        const FilterBudgetOptions& options,
                        double wasted_reads) {
  const auto plan = PlanForWastedReads(cost, tree.runs, options, wasted_reads);
  if (!plan.ok()) return nullptr;
  return plan->bits_per_key;
}

// Every filter with the same bits for all runs and with the budget's bits,
// compared with the reads that RocksDB's Bloom wastes.
Json FilterRows(const Tree& tree, const FilterBudgetOptions& options,
                double bloom_wasted_reads) {
  Json rows = Json::array();
  for (const std::string& name : PlanFilterNames()) {
    const FilterCost cost = ValueOf("plan", FilterCost::OfName(name));
    for (const bool is_uniform : {true, false}) {
      if (!is_uniform && options.mode == BudgetMode::kFixed) continue;
      const FilterBudgetOptions its = is_uniform ? Uniform(options) : options;
      const FilterBudgetPlan plan =
          ValueOf("plan", PlanFilterBudget(cost, tree.runs, its));
      rows.push_back(
          {{"filter", name},
           {"mode", is_uniform ? "fixed" : "by run"},
           {"bits_per_key", plan.bits_per_key},
           {"wasted_reads", plan.wasted_reads},
           {"times_fewer", Ratio(bloom_wasted_reads, plan.wasted_reads)},
           {"equal_reads_bits",
            BitsForWastedReads(cost, tree, its, bloom_wasted_reads)}});
    }
  }
  return rows;
}

Json RunRows(const Tree& tree, const FilterBudgetPlan& plan) {
  Json rows = Json::array();
  for (size_t i = 0; i < plan.runs.size(); ++i) {
    const RunBudget& run = plan.runs[i];
    const uint64_t key_count = tree.runs[i].key_count;
    Json row{{"run", i}};
    if (!tree.levels.empty()) row["level"] = tree.levels[i];
    row["key_count"] = key_count;
    row["key_share"] = run.key_share;
    row["absent_asks"] = run.absent_asks;
    row["builder_bits"] = run.setting.builder_bits;
    row["bits_per_key"] = run.setting.bits_per_key;
    row["expected_fpr"] = run.setting.fpr;
    row["size_bytes"] = SizeBytes(run.setting.bits_per_key, key_count);
    rows.push_back(std::move(row));
  }
  return rows;
}

// The fields of a plan without a cache, and the tables "runs" and "filters".
Json PlanBudget(const PlanArguments& arguments, const Tree& tree) {
  FilterBudgetOptions options;
  options.missing_share = arguments.missing_share;
  options.mode = ModeOf(arguments.budget);
  options.memory = MemoryOf(arguments);
  const FilterCost bloom = FilterCost::OfRocksDbBloom();
  const FilterBudgetPlan plan = ValueOf(
      "plan",
      PlanFilterBudget(ValueOf("plan", FilterCost::OfName(arguments.filter)),
                       tree.runs, options));
  FilterBudgetOptions uniform = Uniform(options);
  Json fields{
      {"key_count", tree.key_count},
      {"budget", arguments.budget},
      {"missing_share",
       options.mode == BudgetMode::kHitsOnly ? 0 : options.missing_share},
      {"filter", arguments.filter},
      {"bits_per_key", plan.bits_per_key},
      {"size_bytes", SizeBytes(plan.bits_per_key, tree.key_count)},
      {"wasted_reads", plan.wasted_reads},
      {"wasted_reads_of_hit", WastedReads(tree, plan, 0)},
      {"wasted_reads_of_miss", WastedReads(tree, plan, 1)},
      {"bloom_bits_for_as_few",
       BitsForWastedReads(bloom, tree, uniform, plan.wasted_reads)}};
  // The reads that RocksDB's Bloom filter wastes with the same bits in all
  // runs.
  uniform.memory = FilterMemory::BitsPerKey(kBloomBits);
  const double bloom_wasted_reads =
      ValueOf("plan", PlanFilterBudget(bloom, tree.runs, uniform)).wasted_reads;
  fields["bloom_bits"] = kBloomBits;
  fields["bloom_wasted_reads"] = bloom_wasted_reads;
  fields["runs"] = RunRows(tree, plan);
  fields["filters"] = FilterRows(tree, options, bloom_wasted_reads);
  return fields;
}

// --- One block cache for data, indexes and filters ---------------------------

Json CostFields(const TotalMemoryPlan& plan) {
  // Shows fewer reads than one in a million gets as 0.
  const auto shown = [](double reads) { return reads < 1e-6 ? 0 : reads; };
  const GetCost& cost = plan.cost;
  return {{"bits_per_key", plan.filters.bits_per_key},
          {"filter_bytes", static_cast<uint64_t>(cost.filter.bytes)},
          {"filter_reads", shown(cost.filter.reads)},
          {"index_reads", shown(cost.index.reads)},
          {"data_reads", shown(cost.data.reads)},
          {"reads", shown(cost.reads())},
          {"cpu_us", cost.cpu_us},
          {"total_us", cost.total_us}};
}

Json CostRow(const std::string& filter, const TotalMemoryPlan& plan) {
  Json mode;  // Null: there is nothing to spread.
  if (plan.filters.bits_per_key > 0) {
    mode = plan.mode == BudgetMode::kFixed ? "fixed" : "by run";
  }
  Json row{{"filter", filter}, {"mode", mode}};
  row.update(CostFields(plan));
  return row;
}

// The fields of a plan for a cache, and the tables "runs", "plans" and "sweep".
Json PlanCache(const PlanArguments& arguments, const Tree& tree) {
  const FilterCost cost = ValueOf("plan", FilterCost::OfName(arguments.filter));
  TotalMemoryOptions options;
  options.get = arguments.get;
  options.mode = ModeOf(arguments.budget);
  options.get.missing_share =
      options.mode == BudgetMode::kHitsOnly ? 0 : arguments.missing_share;
  const std::vector<TotalMemoryPlan> sweep =
      ValueOf("plan", SweepTotalMemory(cost, tree.runs, options));
  const TotalMemoryPlan& best = CheapestPlan(sweep);
  Json fields{
      {"key_count", tree.key_count},
      {"budget", best.mode == BudgetMode::kFixed ? "fixed" : arguments.budget},
      {"missing_share", options.get.missing_share},
      {"zipf_exponent", options.get.zipf_exponent},
      {"read_us", options.get.read_us},
      {"cache_bytes", options.get.cache_bytes},
      {"data_bytes", static_cast<uint64_t>(best.cost.data.bytes)},
      {"index_bytes", static_cast<uint64_t>(best.cost.index.bytes)},
      {"filter", arguments.filter},
      {"bits_per_key", best.filters.bits_per_key},
      {"size_bytes", SizeBytes(best.filters.bits_per_key, tree.key_count)},
      {"wasted_reads", best.filters.wasted_reads}};
  Json runs = RunRows(tree, best.filters);
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i]["block_miss_share"] = best.cost.runs[i].data.miss_share;
  }
  fields["runs"] = std::move(runs);

  const FilterMemory compared = FilterMemory::BitsPerKey(kBloomBits);
  TotalMemoryOptions fixed = options;
  fixed.mode = BudgetMode::kFixed;
  const FilterCost bloom = FilterCost::OfRocksDbBloom();
  fields["plans"] = Json::array(
      {CostRow(arguments.filter, best),
       CostRow(arguments.filter,
               ValueOf("plan",
                       PlanFilterMemory(cost, tree.runs, options, compared))),
       CostRow(bloom.name(),
               ValueOf("plan",
                       PlanFilterMemory(bloom, tree.runs, fixed, compared))),
       CostRow("none", sweep.front())});
  Json steps = Json::array();
  for (const TotalMemoryPlan& plan : sweep) steps.push_back(CostFields(plan));
  fields["sweep"] = std::move(steps);
  return fields;
}

}  // namespace

void PlanTree(const PlanArguments& arguments) {
  const Tree tree = TreeOf(arguments);
  Json fields = Json::object();
  if (!tree.levels.empty()) fields["tree"] = arguments.tree;
  fields.update(arguments.get.cache_bytes > 0 ? PlanCache(arguments, tree)
                                              : PlanBudget(arguments, tree));
  if (arguments.json) {
    PrintDocument("rowbloom-plan", fields);
    return;
  }
  std::cout << FieldLines(fields) << Table(fields["runs"]);
  std::cout << Table(fields[fields.contains("plans") ? "plans" : "filters"]);
}

}  // namespace rowbloom::tools
