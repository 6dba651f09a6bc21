// SPDX-License-Identifier: Apache-2.0

#include "advice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

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

absl::StatusOr<Candidate> Now(const RocksDbTree& tree,
                              const GetCostOptions& options) {
  Candidate now;
  now.name = kNow;
  const std::vector<TreeRun> runs = TreeRunsOf(tree);
  double keys = 0;
  for (const RocksDbRun& run : tree.runs) {
    const double bits = run.bits_per_key();
    now.settings.push_back({bits, bits, bits > 0 ? run.fpr() : 1});
    keys += static_cast<double>(run.key_count);
    now.bits_per_key += 8 * static_cast<double>(run.filter_bytes);
  }
  if (keys > 0) now.bits_per_key /= keys;
  absl::StatusOr<GetCost> cost = ExpectedGetCost(runs, now.settings, options);
  if (!cost.ok()) return cost.status();
  now.cost = *std::move(cost);
  now.wasted_reads =
      ExpectedWastedReads(runs, now.settings, options.missing_share, now.cost);
  return now;
}

absl::StatusOr<Candidate> Planned(const std::string& name,
                                  const FilterCost& cost,
                                  const RocksDbTree& tree,
                                  const GetCostOptions& get) {
  TotalMemoryOptions options;
  options.get = get;
  absl::StatusOr<TotalMemoryPlan> plan =
      PlanTotalMemory(cost, TreeRunsOf(tree), options);
  if (!plan.ok()) return plan.status();
  Candidate candidate;
  candidate.name = name;
  candidate.mode = plan->mode;
  candidate.cost = std::move(plan->cost);
  candidate.bits_per_key = plan->filters.bits_per_key;
  candidate.wasted_reads = plan->filters.wasted_reads;
  for (const RunBudget& run : plan->filters.runs) {
    candidate.settings.push_back(run.setting);
  }
  return candidate;
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
           Now(tree, options), Planned(kCompact, *compact, tree, options),
           Planned(kRibbon, FilterCost::OfRocksDbRibbon(), tree, options)}) {
    if (!candidate.ok()) return candidate.status();
    candidates.push_back(*std::move(candidate));
  }
  return candidates;
}

const Candidate& Best(const std::vector<Candidate>& candidates) {
  constexpr double kClear = 0.98;
  const Candidate& cheapest = *std::min_element(
      candidates.begin(), candidates.end(), [](const auto& a, const auto& b) {
        return a.cost.total_us < b.cost.total_us;
      });
  const Candidate& first = candidates.front();
  return cheapest.cost.total_us < kClear * first.cost.total_us ? cheapest
                                                               : first;
}

std::string KeyLayoutOption(const RocksDbTree& tree) {
  for (const RocksDbRun& run : tree.runs) {
    if (run.key_codec.empty()) continue;
    return "key_codec=" + run.key_codec +
           (run.bloom_type.empty() ? "" : ";bloom_type=" + run.bloom_type);
  }
  return "";
}

std::string OptionText(const Candidate& best, double missing_share,
                       const std::string& key_layout) {
  if (best.name == kNow) return "";
  if (best.bits_per_key == 0) return "filter_policy=nullptr";
  constexpr double kLeast = FilterBudgetOptions::kMinMissingShare;
  const bool is_native = best.name == kCompact;
  char budget[200];
  std::snprintf(budget, sizeof(budget), "budget=%s;%s=%.3g;missing_share=%.2g}",
                best.mode == BudgetMode::kFixed ? "fixed" : "balanced",
                is_native ? "budget_bits_per_key" : "bits_per_key",
                best.bits_per_key, std::max(kLeast, missing_share));
  if (!is_native)
    return "filter_policy={id=rowbloom.Composed;" + std::string(budget);
  return "filter_policy={id=rowbloom;" +
         (key_layout.empty() ? "" : key_layout + ";") + "filter_spec=compact;" +
         budget;
}

}  // namespace rowbloom::tools
