// SPDX-License-Identifier: Apache-2.0

#include "tools/rocksdb/advice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "tools/rocksdb/written_filters.h"

namespace rowbloom::tools {
namespace {

constexpr char kNow[] = "now";
constexpr char kCompact[] = "compact";
constexpr char kRibbon[] = "composed Ribbon";

std::vector<TreeRun> TreeRunsOf(const RocksDbTree& tree) {
  std::vector<TreeRun> runs;
  for (const RocksDbRun& run : tree.runs) runs.push_back({run.key_count});
  return runs;
}

// Sets what follows from the name and the settings.
absl::StatusOr<Candidate> WithCost(Candidate candidate, const RocksDbTree& tree,
                                   const GetCostOptions& options) {
  const std::vector<TreeRun> runs = TreeRunsOf(tree);
  double keys = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto run_keys = static_cast<double>(runs[i].key_count);
    keys += run_keys;
    candidate.bits_per_key += run_keys * candidate.settings[i].bits_per_key;
  }
  if (keys > 0) candidate.bits_per_key /= keys;
  absl::StatusOr<GetCost> cost =
      ExpectedGetCost(runs, candidate.settings, options);
  if (!cost.ok()) return cost.status();
  candidate.cost = *std::move(cost);
  candidate.wasted_reads = ExpectedWastedReads(
      runs, candidate.settings, options.missing_share, candidate.cost);
  return candidate;
}

absl::StatusOr<Candidate> Now(const RocksDbTree& tree,
                              const GetCostOptions& options) {
  Candidate now;
  now.name = kNow;
  for (const RocksDbRun& run : tree.runs) {
    const double bits = run.bits_per_key();
    now.settings.push_back({bits, bits, bits > 0 ? run.fpr() : 1});
  }
  return WithCost(std::move(now), tree, options);
}

absl::StatusOr<Candidate> Planned(const std::string& name, FilterWriter writer,
                                  const FilterCost& cost,
                                  const RocksDbTree& tree,
                                  const GetCostOptions& get) {
  TotalMemoryOptions options;
  options.get = get;
  const absl::StatusOr<TotalMemoryPlan> plan =
      PlanTotalMemory(cost, TreeRunsOf(tree), options);
  if (!plan.ok()) return plan.status();
  Candidate candidate;
  candidate.name = name;
  candidate.mode = plan->mode;
  candidate.asked_bits_per_key = plan->filters.bits_per_key;
  absl::StatusOr<std::vector<FilterSetting>> settings =
      WrittenFilters(writer, tree, *plan, get);
  if (!settings.ok()) return settings.status();
  candidate.settings = *std::move(settings);
  return WithCost(std::move(candidate), tree, get);
}

}  // namespace

Json Candidate::Row() const {
  // Fewer reads than one in a million gets round to 0.
  const auto rounded = [](double reads) {
    constexpr double kMillion = 1e6;
    return std::round(kMillion * reads) / kMillion;
  };
  return {{"filters", name},
          {"bits_per_key", bits_per_key},
          {"data_reads", rounded(cost.data.reads)},
          {"wasted_reads", rounded(wasted_reads)},
          {"filter_reads", rounded(cost.filter.reads)},
          {"index_reads", rounded(cost.index.reads)},
          {"us", cost.total_us}};
}

GetCostOptions ModelOf(const RocksDbTree& tree) {
  GetCostOptions options;
  options.data_block_bytes = static_cast<double>(tree.data_block_bytes);
  options.metadata_block_bytes = static_cast<double>(tree.metadata_block_bytes);
  options.decoupled_partitions = tree.decoupled_partitions;
  TableSums sums;
  for (const RocksDbRun& run : tree.runs) {
    sums.entry_count += static_cast<double>(run.entry_count);
    sums.key_count += static_cast<double>(run.key_count);
    sums.raw_key_bytes += static_cast<double>(run.raw_key_bytes);
    sums.raw_value_bytes += static_cast<double>(run.raw_value_bytes);
  }
  SetEntrySizes(sums, &options);
  return options;
}

absl::StatusOr<std::vector<Candidate>> CandidatesFor(
    const RocksDbTree& tree, const GetCostOptions& options) {
  const absl::StatusOr<FilterCost> compact = FilterCost::OfFamily(kCompact);
  if (!compact.ok()) return compact.status();
  std::vector<Candidate> candidates;
  for (absl::StatusOr<Candidate>& candidate :
       std::vector<absl::StatusOr<Candidate>>{
           Now(tree, options),
           Planned(kCompact, FilterWriter::kCompact, *compact, tree, options),
           Planned(kRibbon, FilterWriter::kComposedRibbon,
                   FilterCost::OfRocksDbRibbon(), tree, options)}) {
    if (!candidate.ok()) return candidate.status();
    candidates.push_back(*std::move(candidate));
  }
  return candidates;
}

const Candidate& Best(const std::vector<Candidate>& candidates) {
  constexpr double kClear = 0.98;
  const Candidate* best = &candidates.front();
  for (const Candidate& candidate : candidates) {
    if (candidate.cost.total_us < kClear * best->cost.total_us) {
      best = &candidate;
    }
  }
  return *best;
}

std::string KeyLayoutOption(const RocksDbTree& tree) {
  for (const RocksDbRun& run : tree.runs) {
    if (run.key_codec.empty()) continue;
    if (!run.misfit.empty()) return "key_codec=whole_key";
    return "key_codec=" + run.key_codec +
           (run.bloom_type.empty() ? "" : ";bloom_type=" + run.bloom_type);
  }
  return "";
}

std::string OptionText(const Candidate& best, double missing_share,
                       const std::string& key_layout) {
  if (best.name == kNow) return "";
  if (best.asked_bits_per_key == 0) return "filter_policy=nullptr";
  constexpr double kLeast = FilterBudgetOptions::kMinMissingShare;
  const bool is_native = best.name == kCompact;
  char budget[200];
  std::snprintf(budget, sizeof(budget), "budget=%s;%s=%.3g;missing_share=%.2g}",
                best.mode == BudgetMode::kFixed ? "fixed" : "balanced",
                is_native ? "budget_bits_per_key" : "bits_per_key",
                best.asked_bits_per_key, std::max(kLeast, missing_share));
  if (!is_native)
    return "filter_policy={id=rowbloom.Composed;" + std::string(budget);
  return "filter_policy={id=rowbloom;" +
         (key_layout.empty() ? "" : key_layout + ";") + "filter_spec=compact;" +
         budget;
}

std::string ListenersText(const Candidate& best) {
  // A policy of fixed bits need not know the other SSTs.
  const bool is_needed = best.name != kNow && best.asked_bits_per_key > 0 &&
                         best.mode != BudgetMode::kFixed;
  return is_needed ? "listeners={rowbloom.BudgetListener}" : "";
}

}  // namespace rowbloom::tools
