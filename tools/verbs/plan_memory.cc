// SPDX-License-Identifier: Apache-2.0

#include "tools/verbs/plan_memory.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"

namespace rowbloom::tools {
namespace {

const char* ModeName(BudgetMode mode) {
  switch (mode) {
    case BudgetMode::kBalanced:
      return "balanced";
    case BudgetMode::kHitsOnly:
      return "hits_only";
    case BudgetMode::kFixed:
      return "fixed";
  }
  return "unknown";
}

// Shows fewer reads than one in a million gets as 0.
double ReadsShown(double reads) { return reads < 1e-6 ? 0 : reads; }

Json GetCostFields(const TotalMemoryPlan& plan) {
  const GetCost& cost = plan.cost;
  return {{"bits_per_key", plan.filters.bits_per_key},
          {"filter_bytes", static_cast<uint64_t>(cost.filter.bytes)},
          {"filter_reads", ReadsShown(cost.filter.reads)},
          {"index_reads", ReadsShown(cost.index.reads)},
          {"data_reads", ReadsShown(cost.data.reads)},
          {"reads", ReadsShown(cost.reads())},
          {"cpu_us", cost.cpu_us},
          {"total_us", cost.total_us}};
}

Json GetCostRow(const std::string& filter, const TotalMemoryPlan& plan) {
  Json mode;  // Null: there is nothing to spread.
  if (plan.filters.bits_per_key > 0) {
    mode = plan.mode == BudgetMode::kFixed ? "fixed" : "by run";
  }
  Json row{{"filter", filter}, {"mode", mode}};
  row.update(GetCostFields(plan));
  const GetCost& cost = plan.cost;
  row["filter_hit_rate"] = cost.filter.hit_rate();
  row["index_hit_rate"] = cost.index.hit_rate();
  row["data_hit_rate"] = cost.data.hit_rate();
  return row;
}

}  // namespace

void AddMemoryOptions(CLI::App* verb, CLI::Option* total_memory,
                      GetCostOptions* options) {
  const auto add = [&](const char* name, double* value, const char* text) {
    verb->add_option(name, *value, text)
        ->needs(total_memory)
        ->capture_default_str();
  };
  add("--entry_bytes", &options->entry_bytes,
      "Uncompressed bytes of a key and its value");
  add("--key_bytes", &options->key_bytes, "Bytes of a key");
  add("--zipf", &options->zipf_exponent,
      "The key of rank r is asked for 1 / r^ZIPF times as often as the first");
  add("--high_priority_share", &options->high_priority_share,
      "high_pri_pool_ratio of the cache");
  add("--data_block_bytes", &options->data_block_bytes, "Size of a data block");
  add("--metadata_block_bytes", &options->metadata_block_bytes,
      "Size of a filter or index partition");
  add("--block_overhead_bytes", &options->block_overhead_bytes,
      "What the cache adds to each block");
  verb->add_flag("--decoupled_partitions", options->decoupled_partitions,
                 "decouple_partitioned_filters of RocksDB")
      ->needs(total_memory);
  add("--read_us", &options->read_us, "Microseconds of a read of a block");
  add("--read_cpu_us", &options->read_cpu_us,
      "CPU microseconds that a read adds: checksum, decompression, insertion");
  add("--get_cpu_us", &options->get_cpu_us,
      "CPU microseconds of a get without any block");
  add("--filter_cpu_us", &options->filter_cpu_us,
      "CPU microseconds of a filter probe");
  add("--search_cpu_us", &options->search_cpu_us,
      "CPU microseconds of a search in an index partition or data block");
}

Json PlanMemory(const PlanTree& tree, const PlanMemoryArguments& arguments) {
  const FilterCost cost = PlanValue(FilterCost::OfName(arguments.filter));
  const TotalMemoryOptions& options = arguments.options;
  std::vector<TotalMemoryPlan> sweep =
      PlanValue(SweepTotalMemory(cost, tree.runs, options));
  const TotalMemoryPlan& best = CheapestPlan(sweep);
  const GetCostOptions& get = options.get;
  Json document = Json::object();
  document["key_count"] = tree.key_count;
  document["budget"] = ModeName(best.mode);
  document["missing_share"] = get.missing_share;
  document["zipf_exponent"] = get.zipf_exponent;
  document["read_us"] = get.read_us;
  document["total_memory_bytes"] = get.cache_bytes;
  document["data_bytes"] = static_cast<uint64_t>(best.cost.data.bytes);
  document["index_bytes"] = static_cast<uint64_t>(best.cost.index.bytes);
  document["filter"] = arguments.filter;
  document["bits_per_key"] = best.filters.bits_per_key;
  document["size_bytes"] =
      FilterSizeBytes(best.filters.bits_per_key, tree.key_count);
  document["wasted_reads"] = best.filters.wasted_reads;
  Json runs = PlanRunRows(tree, best.filters);
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i]["block_miss_share"] = best.cost.runs[i].data.miss_share;
  }
  document["runs"] = std::move(runs);

  const FilterMemory compared = FilterMemory::BitsPerKey(
      std::min(arguments.compared_bits, options.max_bits_per_key));
  TotalMemoryOptions fixed = options;
  fixed.mode = BudgetMode::kFixed;
  Json plans = Json::array();
  plans.push_back(GetCostRow(arguments.filter, best));
  plans.push_back(GetCostRow(
      arguments.filter,
      PlanValue(PlanFilterMemory(cost, tree.runs, options, compared))));
  const FilterCost bloom = FilterCost::OfRocksDbBloom();
  plans.push_back(GetCostRow(
      bloom.name(),
      PlanValue(PlanFilterMemory(bloom, tree.runs, fixed, compared))));
  plans.push_back(GetCostRow("none", sweep.front()));
  document["plans"] = std::move(plans);

  Json steps = Json::array();
  for (const TotalMemoryPlan& plan : sweep) {
    steps.push_back(GetCostFields(plan));
  }
  document["sweep"] = std::move(steps);
  return document;
}

}  // namespace rowbloom::tools
