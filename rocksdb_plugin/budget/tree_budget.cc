// SPDX-License-Identifier: Apache-2.0

#include "budget/tree_budget.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "block_cache.h"
#include "budget/live_tree.h"
#include "rocksdb/env.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_place.h"
#include "rowbloom/get_cost.h"
#include "rowbloom/get_fit.h"

namespace rowbloom::plugin {

namespace {

// A plan is made again if the number of keys or the bytes of the cache have
// changed by kSizeChange, or a share of gets by kShareChange and kPartOfShare.
constexpr double kSizeChange = 0.1;
constexpr double kShareChange = 0.01;
constexpr double kPartOfShare = 0.1;

// A new plan must take this share of the time of a get under the one before.
constexpr double kClearGain = 0.99;

// Releases before 9.6 lack the option.
template <typename Table>
auto CutsOf(const Table& table, int /*preferred*/)
    -> decltype(table.decouple_partitioned_filters, PartitionCuts()) {
  return table.decouple_partitioned_filters ? PartitionCuts::kDecoupled
                                            : PartitionCuts::kCoupledTwice;
}
template <typename Table>
PartitionCuts CutsOf(const Table& /*table*/, double /*otherwise*/) {
  return PartitionCuts::kCoupled;
}

// The share of the cache's high-priority pool, which RocksDB tells in the text
// of options alone; 0 for other caches than LRUCache, and if filters are not in
// it.
double HighPriorityShare(const rdb::BlockBasedTableOptions& table) {
  if (table.block_cache == nullptr ||
      !table.cache_index_and_filter_blocks_with_high_priority) {
    return 0;
  }
  std::string options = table.block_cache->GetPrintableOptions();
  options.resize(std::min(options.size(), options.find("secondary_cache")));
  constexpr std::string_view kName = "high_pri_pool_ratio:";
  const size_t at = options.find(kName);
  if (at == std::string::npos) return 0;
  const double share =
      std::strtod(options.c_str() + at + kName.size(), nullptr);
  return std::clamp(share, 0.0, 1.0);
}

GetCostOptions GetOptionsFor(const rdb::BlockBasedTableOptions& table,
                             const LiveTree::View& view,
                             const FilterBudgetOptions& budget) {
  GetCostOptions get;
  get.data_block_bytes = static_cast<double>(table.block_size);
  SetEntrySizes(view.estimator.sums(), &get);
  get.metadata_block_bytes = static_cast<double>(table.metadata_block_size);
  get.partition_cuts = CutsOf(table, 0);
  get.missing_share = budget.missing_share;
  return get;
}

FilterMemory MemoryOf(double bits_per_key,
                      const RocksDbBudgetOptions& options) {
  const FilterMemory memory = FilterMemory::BitsPerKey(bits_per_key);
  return options.budget_bytes > 0 ? memory.AtMostBytes(options.budget_bytes)
                                  : memory;
}

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

bool IsOutdated(const TreePlan& plan, double keys, double cache_bytes,
                const std::optional<GetRates>& gets) {
  const auto has_changed = [](double before, double now) {
    return !(std::abs(before - now) <= kSizeChange * now);
  };
  if (has_changed(plan.key_count, keys) ||
      has_changed(plan.cache_bytes, cache_bytes)) {
    return true;
  }
  if (!gets.has_value() || !plan.gets.has_value()) {
    return gets.has_value() != plan.gets.has_value();
  }
  const auto differs = [](double a, double b) {
    return std::abs(a - b) > kShareChange + kPartOfShare * std::max(a, b);
  };
  return differs(plan.gets->missing_share, gets->missing_share) ||
         differs(1 - plan.gets->missing_share, 1 - gets->missing_share) ||
         differs(Share(plan.gets->filter_reads, plan.gets->filter_asks),
                 Share(gets->filter_reads, gets->filter_asks)) ||
         differs(Share(plan.gets->data_reads, plan.gets->data_asks),
                 Share(gets->data_reads, gets->data_asks));
}

// Returns the mean size and rate of a run's filters.
FilterSetting MeanOf(const std::map<double, double>& keys_by_bits,
                     const FilterCost& cost) {
  double all_keys = 0;
  for (const auto& [bits, keys] : keys_by_bits) all_keys += keys;
  FilterSetting mean;
  if (all_keys == 0) return mean;
  mean.fpr = 0;
  for (const auto& [bits, keys] : keys_by_bits) {
    mean.bits_per_key += keys / all_keys * bits;
    mean.fpr += keys / all_keys * cost.ForBits(bits).fpr;
  }
  mean.fpr = std::min(1.0, mean.fpr);  // Sums are rounded.
  return mean;
}

// Sets the popularity of keys, the cache and what scans read to what explains
// the gets that `view` has counted.
absl::Status FitCountedGets(const rdb::BlockBasedTableOptions& table,
                            const LiveTree::View& view, const FilterCost& cost,
                            const TreePlan& plan, GetCostOptions* get) {
  std::vector<FilterSetting> filters;
  for (const auto& bits : view.run_bits) filters.push_back(MeanOf(bits, cost));
  GetRates rates = *view.gets;
  rates.counts_flushed_blocks =
      table.prepopulate_block_cache !=
      rdb::BlockBasedTableOptions::PrepopulateBlockCache::kDisable;
  return FitGets(view.live.runs, filters, rates, plan.popularity, get);
}

// Sets where the filters of `chosen` make a get cheapest.
void SetPlace(const LiveTree::View& view, const GetCostOptions& get,
              const TotalMemoryPlan& chosen, TreePlan* plan) {
  std::vector<FilterSetting> filters;
  for (const RunBudget& run : chosen.filters.runs) {
    filters.push_back(run.setting);
  }
  const auto places = CompareFilterPlaces(view.live.runs, filters, get);
  if (!places.ok()) return;
  const FilterPlaceCost& cheapest = CheapestPlace(*places);
  plan->cheapest_place = cheapest.place;
  plan->cheapest_share =
      cheapest.cost.total_us / places->back().cost.total_us;  // In the cache.
}

// Empty if no place is clearly cheaper. Plans are for cached partitions, so
// that the bits must be told for other places.
std::string PlaceAdvice(const TreePlan& plan) {
  constexpr double kClearly = 0.98;
  if (plan.cheapest_share > kClearly) return "";
  const std::string bits = absl::StrFormat("%.2f", plan.bits_per_key);
  return absl::StrCat(
      "; a get would take ", std::llround(100 * plan.cheapest_share),
      "% of its time with these filters, and indexes, in ",
      std::string(FilterPlaceName(plan.cheapest_place)),
      " and as much memory with the block cache: ",
      FilterPlaceOptions(plan.cheapest_place), ", and min_bits_per_key=", bits,
      ";max_bits_per_key=", bits, " of the policy");
}

void LogPlan(const rdb::FilterBuildingContext& context, const TreePlan& plan,
             double bits_before, const TotalMemoryPlan& before,
             const TotalMemoryPlan& now) {
  if (context.info_log == nullptr) return;
  const GetRates gets = plan.gets.value_or(GetRates());
  rdb::Log(
      rdb::InfoLogLevel::INFO_LEVEL, context.info_log,
      "[%s] rowbloom plans filters of %.2f bits per key (%s), before %.2f: "
      "%.3f reads a get expected, before %.3f; %.0f keys, %.1f%% of gets "
      "absent, Zipf %.2f of ranges of %.0f keys, %.0f%% of the cache; "
      "counted for a get: %.2f filter blocks, %.3f read; %.3f data blocks "
      "read%s",
      context.column_family_name.c_str(), plan.bits_per_key,
      plan.mode == BudgetMode::kFixed ? "the same everywhere" : "by run",
      bits_before, now.cost.reads(), before.cost.reads(), plan.key_count,
      100 * plan.missing_share, plan.popularity.zipf_exponent,
      plan.popularity.range_keys, 100 * plan.popularity.cache_share,
      gets.filter_asks, gets.filter_reads, gets.data_reads,
      PlaceAdvice(plan).c_str());
}

// The limits of the average bits per key.
struct BitsRange {
  double least = 0;
  double most = 0;
};

// Plans for the gets that `view` has counted. Keeps the plan if it cannot.
void UpdatePlan(const rdb::FilterBuildingContext& context,
                const LiveTree::View& view, const FilterCost& cost,
                double cache_bytes, const FilterBudgetOptions& budget,
                const BitsRange& range, TreePlan* plan) {
  const auto keys = static_cast<double>(view.live.key_count);
  const bool had_plan = plan->key_count > 0;
  TotalMemoryOptions total;
  total.mode = budget.mode;
  total.min_bits_per_key = range.least;
  total.max_bits_per_key = range.most;
  total.get = GetOptionsFor(context.table_options, view, budget);
  total.get.cache_bytes = static_cast<uint64_t>(cache_bytes);
  total.get.high_priority_share = HighPriorityShare(context.table_options);
  if (view.gets.has_value()) {
    const absl::Status fitted =
        FitCountedGets(context.table_options, view, cost, *plan, &total.get);
    if (!fitted.ok()) return;
  }
  // Gets may change before compactions have written new filters. Where all are
  // absent, the last bits save few reads; once keys are found, they push data
  // out of the cache. Where all find their key, a large cache has room for some
  // bits, without which absent keys read a block of each run.
  constexpr double kLeastShare = 0.02;
  total.get.missing_share =
      std::clamp(total.get.missing_share, kLeastShare, 1 - kLeastShare);
  absl::StatusOr<TotalMemoryPlan> now =
      PlanTotalMemory(cost, view.live.runs, total);
  if (!now.ok()) return;
  const auto within = [&range](double bits_per_key) {
    return std::clamp(bits_per_key, range.least, range.most);
  };
  const double bits_before =
      within(had_plan ? plan->bits_per_key : 8 * view.filter_bytes / keys);
  const absl::StatusOr<TotalMemoryPlan> before = PlanFilterMemory(
      cost, view.live.runs, total, FilterMemory::BitsPerKey(bits_before));
  if (!before.ok()) return;
  if (had_plan && now->cost.total_us > kClearGain * before->cost.total_us) {
    // A plan spends a little less than it may.
    now = *before;
    now->filters.bits_per_key = bits_before;
  }
  *plan = {keys,
           cache_bytes,
           within(now->filters.bits_per_key),
           now->mode,
           budget.missing_share,
           {total.get.range_keys, total.get.zipf_exponent,
            static_cast<double>(total.get.cache_bytes) / cache_bytes},
           view.gets,
           now->cost.reads(),
           /*is_of_live=*/false};
  if (view.gets.has_value()) SetPlace(view, total.get, *now, plan);
  if (now->filters.bits_per_key != bits_before) {
    LogPlan(context, *plan, bits_before, *before, *now);
  }
}

absl::Status ValidateLimitOfBits(const char* option, double bits_per_key) {
  if (bits_per_key >= 0 && bits_per_key <= kMaxBudgetBitsPerKey) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      option, " ", bits_per_key, " is not within 0 to ", kMaxBudgetBitsPerKey));
}

}  // namespace

double SharedCacheBytes(const rdb::BlockBasedTableOptions& table) {
  // Without cache_index_and_filter_blocks only the top-level indexes are in the
  // table readers.
  if (table.block_cache == nullptr || table.no_block_cache ||
      !table.partition_filters ||
      table.metadata_cache_options.partition_pinning ==
          rdb::PinningTier::kAll) {
    return 0;
  }
  // The cache also has blocks of deleted SSTs, and to plan for more filters
  // than fit costs far more than to plan for fewer.
  constexpr double kLiveShare = 0.9;
  constexpr double kUnlimited = 1e18;
  return std::min(
      kLiveShare * static_cast<double>(table.block_cache->GetCapacity()),
      kUnlimited);
}

// The comparisons are written so that NaN fails, too.

absl::Status ValidateBudgetBits(const char* option, double bits_per_key) {
  if (bits_per_key > 0 && bits_per_key <= kMaxBudgetBitsPerKey) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(option, " ", bits_per_key,
                                                 " is not above 0 and at most ",
                                                 kMaxBudgetBitsPerKey));
}

absl::Status ValidateMissingShare(double missing_share) {
  constexpr double kMin = FilterBudgetOptions::kMinMissingShare;
  if (missing_share >= kMin && missing_share <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("missing_share ", missing_share, " is not within ", kMin,
                   " to 1; for gets that never miss there is hits_only"));
}

absl::Status ValidateMinBits(double bits_per_key) {
  return ValidateLimitOfBits("min_bits_per_key", bits_per_key);
}

absl::Status ValidateMaxBits(double bits_per_key) {
  return ValidateLimitOfBits("max_bits_per_key", bits_per_key);
}

absl::Status ValidateBudgetOptions(const RocksDbBudgetOptions& options) {
  absl::Status status = ValidateMissingShare(options.missing_share);
  const double least = options.min_bits_per_key;
  const double most = options.max_bits_per_key;
  if (status.ok()) status = ValidateMinBits(least);
  if (status.ok()) status = ValidateMaxBits(most);
  if (!status.ok()) return status;
  if (least > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        "min_bits_per_key ", least, " is above max_bits_per_key ", most));
  }
  const RocksDbBudgetOptions defaults;
  if (!options.auto_bits && (least != defaults.min_bits_per_key ||
                             most != defaults.max_bits_per_key)) {
    return absl::InvalidArgumentError(
        "min_bits_per_key and max_bits_per_key are limits of auto_bits, which "
        "is false");
  }
  return absl::OkStatus();
}

FilterSetting TreeBudget::SettingFor(const rdb::FilterBuildingContext& context,
                                     const FilterCost& cost,
                                     const RocksDbBudgetOptions& options,
                                     double bits_per_key, BudgetMode mode) {
  if (options.auto_bits) {  // There may be no plan.
    bits_per_key = std::clamp(bits_per_key, options.min_bits_per_key,
                              options.max_bits_per_key);
  }
  FileBudgetOptions of_file;
  of_file.budget.memory = MemoryOf(bits_per_key, options);
  of_file.budget.mode = mode;
  of_file.budget.missing_share = options.missing_share;
  FileFacts facts;
  facts.is_flush = context.reason == rdb::TableFileCreationReason::kFlush ||
                   context.reason == rdb::TableFileCreationReason::kRecovery;
  facts.is_bottommost = context.is_bottommost;
  std::shared_ptr<const LiveTree> tree;
  std::optional<LiveTree::View> view;
  // FIFO's SSTs are all alike, flushes or not.
  const bool is_fifo = context.compaction_style == rdb::kCompactionStyleFIFO;
  if (context.level_at_creation >= 0 && !is_fifo) {
    facts.level = context.level_at_creation;
    tree = LiveTrees::Find(DatabaseOf(context), context.column_family_name);
    if (tree != nullptr) view = tree->ViewFor({*facts.level, facts.is_flush});
  }
  if (view.has_value()) {
    FollowPlan(context, tree, *view, cost, options, &of_file.budget);
  } else if (is_fifo || mode != BudgetMode::kHitsOnly) {
    // The level alone does not say how many keys an SST's run has, nor whether
    // a move will make it part of another one. The average of kHitsOnly may be
    // too small for any filter.
    of_file.budget.mode = BudgetMode::kFixed;
  }
  absl::StatusOr<FileBudget> budget = FileBudget::Create(cost, of_file);
  if (!budget.ok()) return {};
  if (view.has_value()) {
    // Until compactions have been seen, all SSTs of flushes are taken to be
    // moved, and no others: RocksDB does not report all of CompactFiles().
    view->live.moved_share =
        view->live.moved_share.value_or(facts.is_flush ? 1 : 0);
    if (budget->SetLive(view->live).ok()) {
      facts.level_count = view->level_count;
      facts.run_share = view->run_share;
    }
  }
  return budget->ForFile(facts);
}

std::optional<TreePlan> TreeBudget::PlanOf(
    const std::shared_ptr<const LiveTree>& tree) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto kept = plans_.find(tree);
  if (kept == plans_.end() || kept->second.plan.is_of_live) return std::nullopt;
  return kept->second.plan;
}

void TreeBudget::FollowPlan(const rdb::FilterBuildingContext& context,
                            const std::shared_ptr<const LiveTree>& tree,
                            const LiveTree::View& view, const FilterCost& cost,
                            const RocksDbBudgetOptions& options,
                            FilterBudgetOptions* budget) {
  if (!options.auto_bits) return;
  if (view.gets.has_value()) {
    budget->missing_share = std::max(view.gets->missing_share,
                                     FilterBudgetOptions::kMinMissingShare);
  }
  double cache_bytes = SharedCacheBytes(context.table_options);
  const auto keys = static_cast<double>(view.live.key_count);
  const bool has_keys = keys > 0 && view.estimator.sums().key_count > 0;
  if (cache_bytes == 0 || !has_keys) return;
  // Only now, as it looks at all trees of the process.
  cache_bytes *=
      LiveTrees::ShareOf(DatabaseOf(context), context.column_family_name,
                         context.table_options.block_cache.get());
  const double most =
      MemoryOf(options.max_bits_per_key, options).BitsPerKeyOf(keys);
  const double least = std::min(options.min_bits_per_key, most);
  const bool waits_for_gets = view.has_statistics && !view.gets.has_value();
  std::unique_lock<std::mutex> lock(mutex_);
  if (plans_.find(tree) == plans_.end()) {
    for (auto it = plans_.begin(); it != plans_.end();) {
      it = it->first.expired() ? plans_.erase(it) : std::next(it);
    }
  }
  KeptPlan& kept = plans_[tree];
  if (waits_for_gets) {
    // The live filters are what an earlier plan wrote, or what the user chose,
    // unless he had no policy. Later ones have their average, and not that of
    // one another, which would rise by rounding each time.
    const bool has_plan = kept.plan.key_count > 0 && !kept.is_guess;
    if (!has_plan && view.policy_bits > 0) {
      kept.plan.key_count = keys;
      kept.plan.bits_per_key = view.policy_bits;
      kept.plan.mode = budget->mode;
      kept.is_guess = view.has_unknown;
    }
  } else if (!kept.is_in_work &&
             IsOutdated(kept.plan, keys, cache_bytes, view.gets)) {
    kept.is_in_work = true;
    TreePlan plan = kept.plan;
    lock.unlock();
    UpdatePlan(context, view, cost, cache_bytes, *budget, {least, most}, &plan);
    lock.lock();
    // Another tree's plan may have come or gone, not this one's.
    kept = {plan, false};
  }
  if (kept.plan.key_count == 0) return;
  // The tree may have grown since the plan, and its limit in bytes has not.
  budget->memory =
      FilterMemory::BitsPerKey(std::clamp(kept.plan.bits_per_key, least, most));
  budget->mode = kept.plan.mode;
}

}  // namespace rowbloom::plugin
