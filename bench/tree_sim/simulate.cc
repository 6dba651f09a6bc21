// SPDX-License-Identifier: Apache-2.0

#include "simulate.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <stdexcept>

#include "costs.h"
#include "measure.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::tree_sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kSnapshots = 40;  // In the second half.
constexpr size_t kSamples = 2000;
constexpr double kMixes[] = {1, 0.5, 0};

TreeOptions TreeOf(const std::string& name, const SimulateOptions& options) {
  TreeOptions tree;
  tree.keys_per_file = options.keys_per_flush;
  tree.size_ratio = options.size_ratio;
  if (name == "leveled_dynamic") {
    tree.dynamic_levels = true;
  } else if (name != "leveled_static") {
    const auto kind = ParseTreeKind(name);
    if (!kind.ok()) throw std::runtime_error(kind.status().ToString());
    tree.kind = *kind;
  }
  return tree;
}

// The size ratio that a host reports for its tree.
double SizeRatioOf(const std::string& name, const SimulateOptions& options) {
  const TreeOptions tree = TreeOf(name, options);
  switch (tree.kind) {
    case TreeKind::kLeveled:
      return tree.size_ratio;
    case TreeKind::kTiered:
    case TreeKind::kLazyLeveled:
      return static_cast<double>(tree.runs_per_level);
    case TreeKind::kUniversal:
      return 2;
  }
  return 0;
}

Inserts InsertsOf(const std::string& name) {
  for (const Inserts inserts : AllInserts()) {
    if (InsertsName(inserts) == name) return inserts;
  }
  throw std::runtime_error("no such inserts: " + name);
}

// The facts that a host has without a listener. It knows the levels that it has
// written to.
FileFacts BuilderFacts(FileFacts facts, uint32_t* level_count) {
  facts.run_share.reset();
  if (facts.level.has_value()) {
    *level_count = std::max(*level_count, *facts.level + 1);
    facts.level_count = *level_count;
  }
  return facts;
}

// Sums over snapshots.
struct Totals {
  double snapshots = 0;
  double bits_per_key = 0;
  double most_bits_per_key = 0;
  double runs = 0;
  PerGet asks;
  PerGet wasted;
  double least_wasted = 0;

  void Add(const Snapshot& snapshot) {
    ++snapshots;
    bits_per_key += snapshot.bits_per_key;
    most_bits_per_key = std::max(most_bits_per_key, snapshot.bits_per_key);
    runs += static_cast<double>(snapshot.runs);
    asks.hit += snapshot.asks.hit;
    asks.miss += snapshot.asks.miss;
    wasted.hit += snapshot.wasted.hit;
    wasted.miss += snapshot.wasted.miss;
    least_wasted += snapshot.least_wasted;
  }
};

Json ToJson(const Totals& totals, const Tree& tree) {
  const double bloom_fpr = FilterCost::OfRocksDbBloom().ForBits(10).fpr;
  Json row{{"bits_per_key", totals.bits_per_key / totals.snapshots},
           {"most_bits_per_key", totals.most_bits_per_key},
           {"runs", totals.runs / totals.snapshots}};
  for (const double missing_share : kMixes) {
    const double wasted = totals.wasted.At(missing_share);
    const double bloom_wasted = bloom_fpr * totals.asks.At(missing_share);
    row["mixes"].push_back(
        {{"missing_share", missing_share},
         {"wasted_reads_per_1000_gets", 1000 * wasted / totals.snapshots},
         {"bloom10_wasted_reads_per_1000_gets",
          1000 * bloom_wasted / totals.snapshots},
         {"times_fewer", wasted > 0 ? Json(bloom_wasted / wasted) : Json()}});
  }
  row["percent_of_optimum"] = 100 * totals.least_wasted / totals.wasted.At(0.5);
  row["merges"] = tree.merges();
  row["moves"] = tree.moves();
  return row;
}

Json SimulateOne(const SimulateOptions& options, const std::string& tree_name,
                 const std::string& inserts, const std::string& knowledge,
                 bench::Progress* progress) {
  const FilterCost cost = CostOf(options.filter);
  FileBudgetOptions budget_options;
  budget_options.budget.memory = FilterMemory::BitsPerKey(options.bits_per_key);
  budget_options.size_ratio = SizeRatioOf(tree_name, options);
  budget_options.control_gain = options.control_gain;
  budget_options.flush_ratio = options.flush_ratio;
  budget_options.max_extra_bits = options.max_extra_bits;
  auto budget = FileBudget::Create(cost, budget_options);
  if (!budget.ok()) throw std::runtime_error(budget.status().ToString());
  const bool listens = knowledge == "listener";
  uint32_t level_count = 1;
  Tree tree(TreeOf(tree_name, options), [&](const FileFacts& facts) {
    return budget->ForFile(listens ? facts : BuilderFacts(facts, &level_count));
  });
  Workload workload(InsertsOf(inserts), options.keys_per_flush, options.seed);
  std::mt19937_64 random(options.seed);
  Totals totals;
  const size_t between = std::max<size_t>(options.flushes / 2 / kSnapshots, 1);
  for (size_t i = 1; i <= options.flushes; ++i) {
    workload.Next(&tree);
    if (listens) {
      const absl::Status status = budget->SetLive(LiveOf(tree));
      if (!status.ok()) throw std::runtime_error(status.ToString());
    }
    if (i > options.flushes / 2 && i % between == 0) {
      totals.Add(Measure(tree, cost, kSamples, &random));
    }
    progress->Add(1);
  }
  Json row{{"tree", tree_name}, {"inserts", inserts}, {"knowledge", knowledge}};
  row.update(ToJson(totals, tree));
  return row;
}

void PrintRow(const Json& row) {
  std::printf("%-16s %-15s %-9s %6.2f %6.2f %5.1f",
              row["tree"].get<std::string>().c_str(),
              row["inserts"].get<std::string>().c_str(),
              row["knowledge"].get<std::string>().c_str(),
              row["bits_per_key"].get<double>(),
              row["most_bits_per_key"].get<double>(),
              row["runs"].get<double>());
  for (const Json& mix : row["mixes"]) {
    std::printf(" %7.3f %7s", mix["wasted_reads_per_1000_gets"].get<double>(),
                TimesText(mix["times_fewer"]).c_str());
  }
  std::printf(" %5.0f%%\n", row["percent_of_optimum"].get<double>());
  std::fflush(stdout);
}

}  // namespace

Json Simulate(const SimulateOptions& options, bench::Progress* progress) {
  std::printf(
      "Filters \"%s\" of %g bits per key, %zu flushes; wasted reads of 1,000 "
      "gets, and how\nmany times fewer than RocksDB's Bloom filter of 10 "
      "bits.\n\n"
      "%-16s %-15s %-9s %6s %6s %5s %15s %15s %15s %6s\n",
      options.filter.c_str(), options.bits_per_key, options.flushes, "tree",
      "inserts", "knowledge", "bits", "most", "runs", "all miss", "half miss",
      "all hit", "optim.");
  Json rows = Json::array();
  progress->Begin("simulate", options.trees.size() * options.inserts.size() *
                                  options.knowledge.size() * options.flushes);
  for (const std::string& tree : options.trees) {
    for (const std::string& inserts : options.inserts) {
      for (const std::string& knowledge : options.knowledge) {
        rows.push_back(
            SimulateOne(options, tree, inserts, knowledge, progress));
      }
    }
  }
  progress->End();
  for (const Json& row : rows) PrintRow(row);
  return {{"filter", options.filter},
          {"bits_per_key", options.bits_per_key},
          {"flushes", options.flushes},
          {"size_ratio", options.size_ratio},
          {"runs", std::move(rows)}};
}

}  // namespace rowbloom::tree_sim
