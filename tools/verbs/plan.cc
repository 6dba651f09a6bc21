// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan: divides one budget into bits per key for each run of a tree,
// and finds the bits that other filters need for as few wasted reads; or finds
// the budget that a block cache wants; or counts the filter keys of each level
// in a sample of keys.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "rowbloom/filter.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/filter_spec.h"
#include "rowbloom/tree_shape.h"
#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/plan_levels.h"
#include "tools/verbs/plan_memory.h"
#include "tools/verbs/plan_tree.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"
#ifdef ROWBLOOM_TOOL_WITH_HFILE
#include "tools/hbase/family_plans.h"
#endif

namespace rowbloom::tools {
namespace {

constexpr char kRocksDbBloom[] = "rocksdb_bloom";
constexpr char kRocksDbRibbon[] = "rocksdb_ribbon";

struct PlanArguments {
  std::vector<std::string> paths;
  PlanQuestion hfiles;
  std::optional<double> column_share;
  std::vector<uint64_t> run_keys;
  std::string tree = "leveled";
  TreeShape shape;
  std::vector<double> block_miss_shares;
  double bits_per_key = 10;
  uint64_t budget_bytes = 0;
  std::string mode = "balanced";
  FilterBudgetOptions options;
  GetCostOptions get;
  std::string filter = "compact";
  double bloom_bits = 10;
  PlanLevelsArguments levels;
  bool json = false;
};

std::vector<std::string> FilterNames() {
  std::vector<std::string> names = {kRocksDbBloom, kRocksDbRibbon};
  for (const std::string_view family : FilterFamilyNames()) {
    if (family != "always_maybe") names.emplace_back(family);
  }
  return names;
}

FilterCost CostOf(const std::string& name) {
  return PlanValue(FilterCost::OfName(name));
}

PlanTree TreeOf(const PlanArguments& arguments) {
  PlanTree tree;
  if (arguments.run_keys.empty()) {
    TreeShape shape = arguments.shape;
    shape.kind = PlanValue(ParseTreeKind(arguments.tree));
    tree.runs = PlanValue(RunsOf(shape));
    tree.levels = LevelsOfRuns(shape);
  } else {
    for (const uint64_t keys : arguments.run_keys) {
      tree.runs.push_back({keys});
    }
  }
  const std::vector<double>& shares = arguments.block_miss_shares;
  if (!shares.empty() && shares.size() != tree.runs.size()) {
    throw CLI::ValidationError("--block_miss_shares",
                               "has " + std::to_string(shares.size()) +
                                   " values for " +
                                   std::to_string(tree.runs.size()) + " runs");
  }
  for (size_t i = 0; i < tree.runs.size(); ++i) {
    if (!shares.empty()) tree.runs[i].block_miss_share = shares[i];
    tree.key_count += tree.runs[i].key_count;
    if (tree.key_count > kMaxTreeKeys) {
      throw CLI::ValidationError(
          "--runs", "have more than " + std::to_string(kMaxTreeKeys) + " keys");
    }
  }
  return tree;
}

FilterBudgetOptions OptionsOf(const PlanArguments& arguments) {
  FilterBudgetOptions options = arguments.options;
  options.memory = arguments.budget_bytes > 0
                       ? FilterMemory::Bytes(arguments.budget_bytes)
                       : FilterMemory::BitsPerKey(arguments.bits_per_key);
  options.mode = arguments.mode == "hits_only" ? BudgetMode::kHitsOnly
                 : arguments.mode == "fixed"   ? BudgetMode::kFixed
                                               : BudgetMode::kBalanced;
  return options;
}

FilterBudgetOptions Uniform(FilterBudgetOptions options) {
  // The comparison is with plans for gets that never miss.
  if (options.mode == BudgetMode::kHitsOnly) options.missing_share = 0;
  options.mode = BudgetMode::kFixed;
  return options;
}

double WastedReads(const PlanTree& tree, const FilterBudgetPlan& plan,
                   double missing_share) {
  const std::vector<double> asks = AbsentAsks(tree.runs, missing_share);
  double sum = 0;
  for (size_t i = 0; i < asks.size(); ++i) {
    if (tree.runs[i].key_count == 0) continue;
    sum += asks[i] * tree.runs[i].block_miss_share * plan.runs[i].setting.fpr;
  }
  return sum;
}

// Null if no memory is large enough.
Json BitsForWastedReads(const FilterCost& cost, const PlanTree& tree,
                        const FilterBudgetOptions& options,
                        double wasted_reads) {
  const auto plan = PlanForWastedReads(cost, tree.runs, options, wasted_reads);
  if (!plan.ok()) return nullptr;
  return plan->bits_per_key;
}

// The reads that RocksDB's Bloom filter wastes with the same bits in all runs.
double BloomWastedReads(const PlanArguments& arguments, const PlanTree& tree,
                        const FilterBudgetOptions& options) {
  FilterBudgetOptions uniform = Uniform(options);
  uniform.memory = FilterMemory::BitsPerKey(arguments.bloom_bits);
  return PlanValue(PlanFilterBudget(CostOf(kRocksDbBloom), tree.runs, uniform))
      .wasted_reads;
}

// Every filter with the same bits for all runs and with the budget's bits,
// compared with the reads that RocksDB's Bloom wastes.
Json FilterRows(const PlanTree& tree, const FilterBudgetOptions& options,
                double bloom_wasted_reads) {
  Json rows = Json::array();
  for (const std::string& name : FilterNames()) {
    const FilterCost cost = CostOf(name);
    for (const bool is_uniform : {true, false}) {
      if (!is_uniform && options.mode == BudgetMode::kFixed) continue;
      const FilterBudgetOptions its = is_uniform ? Uniform(options) : options;
      const FilterBudgetPlan plan =
          PlanValue(PlanFilterBudget(cost, tree.runs, its));
      rows.push_back(
          {{"filter", name},
           {"mode", is_uniform ? "fixed" : "by run"},
           {"bits_per_key", plan.bits_per_key},
           {"wasted_reads", plan.wasted_reads},
           {"times_fewer", plan.wasted_reads > 0
                               ? Json(bloom_wasted_reads / plan.wasted_reads)
                               : Json()},
           {"equal_reads_bits",
            BitsForWastedReads(cost, tree, its, bloom_wasted_reads)}});
    }
  }
  return rows;
}

void PrintMemory(const PlanArguments& arguments) {
  const FilterBudgetOptions budget = OptionsOf(arguments);
  PlanMemoryArguments memory;
  memory.filter = arguments.filter;
  memory.compared_bits = arguments.bloom_bits;
  memory.options.get = arguments.get;
  memory.options.get.missing_share =
      budget.mode == BudgetMode::kHitsOnly ? 0 : budget.missing_share;
  memory.options.mode = budget.mode;
  memory.options.max_bits_per_key = budget.max_bits_per_key;
  const PlanTree tree = TreeOf(arguments);
  Json document{{"format", "rowbloom-plan"}, {"version", kReportVersion}};
  if (!tree.levels.empty()) document["tree"] = arguments.tree;
  document.update(PlanMemory(tree, memory));
  if (arguments.json) {
    std::cout << document.dump(2) << "\n";
    return;
  }
  Json runs = std::move(document["runs"]);
  Json plans = std::move(document["plans"]);
  for (const char* name : {"format", "version", "runs", "plans", "sweep"}) {
    document.erase(name);
  }
  for (Json& plan : plans) {
    for (const char* rate :
         {"filter_hit_rate", "index_hit_rate", "data_hit_rate"}) {
      plan.erase(rate);
    }
  }
  std::cout << FieldLines(document) << Table(runs) << Table(plans);
}

void Print(const PlanArguments& arguments) {
  const PlanTree tree = TreeOf(arguments);
  const FilterBudgetOptions options = OptionsOf(arguments);
  const FilterBudgetPlan plan =
      PlanValue(PlanFilterBudget(CostOf(arguments.filter), tree.runs, options));
  Json fields = Json::object();
  if (!tree.levels.empty()) fields["tree"] = arguments.tree;
  fields["key_count"] = tree.key_count;
  fields["budget"] = arguments.mode;
  fields["missing_share"] =
      options.mode == BudgetMode::kHitsOnly ? 0 : options.missing_share;
  fields["filter"] = arguments.filter;
  fields["bits_per_key"] = plan.bits_per_key;
  fields["size_bytes"] = FilterSizeBytes(plan.bits_per_key, tree.key_count);
  fields["wasted_reads"] = plan.wasted_reads;
  fields["wasted_reads_of_hit"] = WastedReads(tree, plan, 0);
  fields["wasted_reads_of_miss"] = WastedReads(tree, plan, 1);
  fields["bloom_bits_for_as_few"] = BitsForWastedReads(
      CostOf(kRocksDbBloom), tree, Uniform(options), plan.wasted_reads);
  const double bloom_wasted_reads = BloomWastedReads(arguments, tree, options);
  fields["bloom_bits"] = arguments.bloom_bits;
  fields["bloom_wasted_reads"] = bloom_wasted_reads;
  Json runs = PlanRunRows(tree, plan);
  Json filters = FilterRows(tree, options, bloom_wasted_reads);
  if (!arguments.json) {
    std::cout << FieldLines(fields) << Table(runs) << Table(filters);
    return;
  }
  fields["runs"] = std::move(runs);
  fields["filters"] = std::move(filters);
  PrintDocument("rowbloom-plan", fields);
}

void PrintLevels(const PlanArguments& arguments) {
  PlanLevelsArguments of_sample = arguments.levels;
  of_sample.missing_share = arguments.options.missing_share;
  of_sample.filter = arguments.filter;
  of_sample.bits_per_key = arguments.bits_per_key;
  Json fields = PlanLevels(of_sample);
  if (arguments.json) {
    PrintDocument("rowbloom-plan", fields);
    return;
  }
  const Json levels = std::move(fields["levels"]);
  fields.erase("levels");
  std::cout << FieldLines(fields) << Table(levels);
}

#ifdef ROWBLOOM_TOOL_WITH_HFILE
// Shows the size of other filters over the cells of HFiles, and what gets would
// read, summed by column family.
int PlanHFiles(const PlanArguments& arguments) {
  FamilyPlans families(arguments.options.missing_share, arguments.column_share);
  PlanQuestion question = arguments.hfiles;
  question.families = &families;
  Report report;
  report.format = "rowbloom-plan";
  report.ask = [&](const TargetFile& target, const FilterFile& file,
                   Json* entry) {
    question.path = target.path;
    return file.Plan(question, entry);
  };
  report.text = [](const Json& entry) {
    return entry["status"] == "ok" && !entry.contains("note")
               ? ""
               : NotedStatusLine(entry);
  };
  report.sum_up = [&](const Json&) { return families.Sums(); };
  report.sums_text = [&](const Json&, const Json& sums) {
    return families.Text(sums);
  };
  return RunReport(report, arguments.paths, arguments.json);
}
#endif

}  // namespace

void AddPlan(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* verb = app->add_subcommand(
      "plan",
      "Spread a budget of filter memory over the runs of a tree, or compare "
      "filters for HFiles");
  TreeShape& shape = arguments->shape;
  CLI::Option* runs = verb->add_option("--runs", arguments->run_keys,
                                       "Keys of each run, the newest first")
                          ->delimiter(',')
                          ->allow_extra_args(false)
                          ->transform(WholeNumber())
                          ->check(CLI::Range(uint64_t{0}, kMaxTreeKeys));
  CLI::Option* keys = verb->add_option("--keys", shape.key_count,
                                       "Keys of a tree of regular shape")
                          ->transform(WholeNumber())
                          ->excludes(runs);
  verb->add_option("--tree", arguments->tree, "Shape of the tree")
      ->check(CLI::IsMember({"leveled", "tiered", "lazy_leveled", "universal"}))
      ->excludes(runs)
      ->capture_default_str();
  verb->add_option("--levels", shape.level_count, "Levels of the tree")
      ->transform(WholeNumber())
      ->excludes(runs)
      ->capture_default_str();
  verb->add_option("--size_ratio", shape.size_ratio,
                   "Ratio of the keys of a level to those of the level above")
      ->excludes(runs)
      ->capture_default_str();
  verb->add_option("--runs_per_level", shape.runs_per_level,
                   "Runs of a tiered level")
      ->transform(WholeNumber())
      ->excludes(runs)
      ->capture_default_str();
  verb->add_option("--flush_runs", shape.flush_runs,
                   "Flushed files above the levels, each a run")
      ->transform(WholeNumber())
      ->excludes(runs)
      ->capture_default_str();
  CLI::Option* bits =
      verb->add_option("--bits_per_key", arguments->bits_per_key,
                       "The budget, on average over all keys")
          ->capture_default_str();
  CLI::Option* budget_bytes =
      verb->add_option("--budget_bytes", arguments->budget_bytes,
                       "The budget, in bytes for all filters")
          ->transform(WholeNumber())
          ->check(CLI::Range(uint64_t{1}, kMaxTreeKeys))
          ->excludes(bits);
  verb->add_option("--budget", arguments->mode,
                   "How bits are spread over the runs. hits_only: no filter "
                   "for the oldest run")
      ->check(CLI::IsMember({"balanced", "hits_only", "fixed"}))
      ->capture_default_str();
  verb->add_option("--missing_share", arguments->options.missing_share,
                   "Share of gets whose key is nowhere in the tree")
      ->capture_default_str();
  CLI::Option* total_memory =
      verb->add_option("--total_memory_bytes", arguments->get.cache_bytes,
                       "A block cache for data, indexes and filters: finds "
                       "the budget that makes a get cheapest")
          ->transform(WholeNumber())
          ->check(CLI::Range(uint64_t{1}, kMaxTreeKeys))
          ->excludes(bits)
          ->excludes(budget_bytes);
  AddMemoryOptions(verb, total_memory, &arguments->get);
  CLI::Option* sample = AddLevelsOptions(
      verb, {runs, keys, budget_bytes, total_memory}, &arguments->levels);
  verb->add_option("--max_bits_per_key", arguments->options.max_bits_per_key,
                   "Limit for each run")
      ->capture_default_str();
  verb->add_option("--block_miss_shares", arguments->block_miss_shares,
                   "For each run, the share of requested data blocks that no "
                   "cache holds")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(total_memory);
  verb->add_option("--filter", arguments->filter,
                   "A family, or a filter of RocksDB")
      ->check(CLI::IsMember(FilterNames()))
      ->capture_default_str();
  verb->add_option("--bloom_bits", arguments->bloom_bits,
                   "Bits per key, the same in all runs, of the RocksDB Bloom "
                   "filter to compare with")
      ->check(CLI::Range(0.0, FilterSpec::kMaxBitsPerKey))
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-plan)");
#ifdef ROWBLOOM_TOOL_WITH_HFILE
  CLI::Option* paths =
      verb->add_option("PATH", arguments->paths,
                       "HFiles, or directories of them: counts their keys, "
                       "shows what other filters would take and gets read")
          ->excludes(runs)
          ->excludes(keys)
          ->excludes(sample);
  verb->add_option("--error_rate", arguments->hfiles.error_rates,
                   "Rates of the filters for HFiles")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(ErrorRate())
      ->needs(paths)
      ->capture_default_str();
  verb->add_option("--chunk_size", arguments->hfiles.chunk_sizes,
                   "Sizes in bytes of their chunks")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(WholeNumber())
      ->needs(paths)
      ->capture_default_str();
  verb->add_option("--prefix_length", arguments->hfiles.prefix_lengths,
                   "Lengths in bytes of the prefixes of "
                   "ROWPREFIX_FIXED_LENGTH; default: the file's")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(WholeNumber())
      ->check(CLI::Range(1, 32767))
      ->needs(paths);
  verb->add_option("--column_share", arguments->column_share,
                   "Share of gets that name one column: says whether ROWCOL "
                   "pays")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(paths);
#endif
  verb->callback([arguments, runs, keys, total_memory, sample, exit_code] {
#ifdef ROWBLOOM_TOOL_WITH_HFILE
    if (!arguments->paths.empty()) {
      *exit_code = PlanHFiles(*arguments);
      return;
    }
#endif
    if (runs->count() + keys->count() + sample->count() == 0) {
      throw CLI::ValidationError("plan",
                                 "needs --keys, --runs, --sample or a PATH");
    }
    if (sample->count() > 0) {
      PrintLevels(*arguments);
    } else if (total_memory->count() > 0) {
      PrintMemory(*arguments);
    } else {
      Print(*arguments);
    }
    *exit_code = FlushOutput(kExitOk);
  });
}

}  // namespace rowbloom::tools
