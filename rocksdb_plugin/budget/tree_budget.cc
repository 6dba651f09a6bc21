// SPDX-License-Identifier: Apache-2.0

#include "budget/tree_budget.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "budget/live_tree.h"
#include "rocksdb/cache.h"
#include "rocksdb/env.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "rowbloom/get_cost.h"
#include "rowbloom/tree_shape.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

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

// The filter blocks that gets read because they are new: partitions of new
// SSTs, of which each one's last is short, and what leads to them.
double NewFilterBlocks(const GetRates& rates, double metadata_block_bytes) {
  return 2 * rates.new_ssts + rates.new_filter_bytes / metadata_block_bytes;
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

// Returns how many data blocks scans ask for: one in each run, and those that
// they read on.
double ScanAsks(const GetRates& rates, size_t run_count,
                double data_block_bytes) {
  return rates.seeks * static_cast<double>(run_count) +
         rates.scanned_bytes / data_block_bytes;
}

// True if flushes put data blocks into the cache, too.
bool CountsFlushedBlocks(const rdb::BlockBasedTableOptions& table) {
  return table.prepopulate_block_cache !=
         rdb::BlockBasedTableOptions::PrepopulateBlockCache::kDisable;
}

// Reads of a get, by the model and counted.
struct GetReads {
  double expected = 0;
  double counted = 0;
  double expected_of_filters = 0;
  double counted_of_filters = 0;
  double tolerance = 0;

  bool AreExplained() const {
    return std::abs(expected - counted) <= tolerance &&
           std::abs(expected_of_filters - counted_of_filters) <= tolerance;
  }
};

// Compares the reads that the model expects with the live filters to what gets
// have counted.
class GetModel {
 public:
  GetModel(const rdb::BlockBasedTableOptions& table, const LiveTree::View& view,
           const FilterCost& cost, const GetCostOptions& get)
      : view_(view),
        rates_(*view.gets),
        counts_flushed_blocks_(CountsFlushedBlocks(table)),
        scan_asks_(
            ScanAsks(rates_, view.live.runs.size(), get.data_block_bytes)),
        counted_of_filters_(std::max(
            0.0, rates_.filter_reads -
                     NewFilterBlocks(rates_, get.metadata_block_bytes))) {
    for (const auto& bits : view.run_bits) {
      filters_.push_back(MeanOf(bits, cost));
    }
  }

  // Both have the counted asks of filters, which depend on how many runs the
  // tree had when gets asked. Sets scan_seeks and scan_data_reads: where scans
  // ask for many data blocks, or more blocks enter the cache than gets ask for,
  // those that the model does not expect of gets are of others, and tell
  // nothing of gets.
  GetReads ReadsOf(GetCostOptions* get) const {
    constexpr double kMostOtherAsks = 0.3;
    get->scan_seeks = 0;
    get->scan_data_reads = 0;
    GetCost model = CostOf(*get);
    const double others = kMostOtherAsks * model.data.asks;
    const bool are_of_gets = !counts_flushed_blocks_ && scan_asks_ <= others &&
                             rates_.data_reads <= model.data.asks + others;
    if (!are_of_gets) {
      get->scan_data_reads =
          std::max(0.0, rates_.data_reads - model.data.reads);
      if (scan_asks_ > 0) {
        get->scan_seeks =
            rates_.seeks * std::min(1.0, get->scan_data_reads / scan_asks_);
      }
      model = CostOf(*get);
    }
    constexpr double kFewReads = 0.02;
    constexpr double kFewOfAll = 0.05;
    constexpr double kMostReads = 0.15;
    GetReads reads;
    reads.tolerance = std::min(
        kMostReads,
        kFewReads + kFewOfAll * (rates_.filter_reads + rates_.data_reads));
    // The counted filters may be gone since.
    if (model.filter.asks > 0) {
      reads.expected_of_filters =
          rates_.filter_asks * (1 - model.filter.hit_rate());
      reads.counted_of_filters = counted_of_filters_;
    }
    reads.expected = reads.expected_of_filters;
    reads.counted = reads.counted_of_filters;
    if (!are_of_gets && rates_.filter_asks > 0) return reads;
    const double miss_share = 1 - model.data.hit_rate();
    const double asks = std::min(model.data.asks, rates_.data_asks);
    const double all_asks =
        std::min(model.data.asks + scan_asks_, rates_.data_asks);
    reads.counted += std::min(rates_.data_reads, all_asks);
    reads.expected =
        std::clamp(reads.counted, reads.expected_of_filters + asks * miss_share,
                   reads.expected_of_filters + all_asks * miss_share);
    return reads;
  }

 private:
  GetCost CostOf(const GetCostOptions& get) const {
    return ExpectedGetCost(view_.live.runs, filters_, get).value_or(GetCost());
  }

  const LiveTree::View& view_;
  const GetRates& rates_;
  const bool counts_flushed_blocks_;
  const double scan_asks_;
  const double counted_of_filters_;
  std::vector<FilterSetting> filters_;
};

// Sets the popularity of keys, cache_bytes and what scans read so that the
// model expects the reads that were counted with the live filters. Gets have
// the whole cache and the popularity of `plan`, or what `plan` found, if these
// explain them. Else the skew does; keys that are popular in ranges make gets
// read few filters and much data. If even keys that are all asked for alike
// would read less, other databases have a part of the cache, and gets have the
// rest.
void FitGets(const GetModel& model, const TreePlan& plan, uint64_t cache_bytes,
             GetCostOptions* get) {
  const auto reads_of = [&](double range_keys, double zipf_exponent,
                            double share) {
    get->range_keys = range_keys;
    get->zipf_exponent = zipf_exponent;
    get->cache_bytes =
        static_cast<uint64_t>(share * static_cast<double>(cache_bytes));
    return model.ReadsOf(get);
  };
  const auto explains = [&](double share) {
    return reads_of(plan.range_keys, plan.zipf_exponent, share).AreExplained();
  };
  if (explains(1) || (plan.cache_share < 1 && explains(plan.cache_share))) {
    return;
  }
  // Returns the value within the range where the model's reads, which fall with
  // it, are the counted ones.
  const auto fit = [](double low, double high, const auto& reads_with) {
    constexpr int kHalvings = 8;
    double middle = (low + high) / 2;
    for (int i = 0; i < kHalvings; ++i) {
      const GetReads reads = reads_with(middle);
      (reads.expected > reads.counted ? low : high) = middle;
      middle = (low + high) / 2;
    }
    return middle;
  };
  const GetReads most = reads_of(1, 0, 1);
  if (most.expected <= most.counted) {
    // Many databases may share the cache.
    constexpr double kLeastShare = 0.005;
    reads_of(1, 0, fit(kLeastShare, 1, [&](double share) {
               return reads_of(1, 0, share);
             }));
    return;
  }
  // Single keys, some data blocks, some filter partitions: one range may have
  // nearly all gets. Reads of filters alone do not tell these apart.
  constexpr double kSameReads = 0.005;
  struct Range {
    double keys;
    double most_skew;
  };
  constexpr Range kRanges[] = {{1, 1.3}, {256, 2}, {16384, 4}};
  double best_range = 1;
  double best_skew = 0;
  double least_error = std::numeric_limits<double>::infinity();
  for (const Range& range : kRanges) {
    const double skew = fit(0, range.most_skew, [&](double zipf_exponent) {
      return reads_of(range.keys, zipf_exponent, 1);
    });
    const GetReads reads = reads_of(range.keys, skew, 1);
    const double error =
        std::abs(reads.expected - reads.counted) +
        std::abs(reads.expected_of_filters - reads.counted_of_filters);
    if (error > least_error - kSameReads) continue;
    least_error = error;
    best_range = range.keys;
    best_skew = skew;
  }
  reads_of(best_range, best_skew, 1);
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
      "counted for a get: %.2f filter blocks, %.3f read; %.3f data blocks read",
      context.column_family_name.c_str(), plan.bits_per_key,
      plan.mode == BudgetMode::kFixed ? "the same everywhere" : "by run",
      bits_before, now.cost.reads(), before.cost.reads(), plan.key_count,
      100 * plan.missing_share, plan.zipf_exponent, plan.range_keys,
      100 * plan.cache_share, gets.filter_asks, gets.filter_reads,
      gets.data_reads);
}

// Plans for the gets that `view` has counted, if auto_bits asks for that, with
// filters of at most `most_bits` on average. Keeps the plan if it cannot.
void UpdatePlan(const rdb::FilterBuildingContext& context,
                const LiveTree::View& view, const FilterCost& cost,
                const RocksDbBudgetOptions& options, double cache_bytes,
                const FilterBudgetOptions& budget, double most_bits,
                TreePlan* plan) {
  const auto keys = static_cast<double>(view.live.key_count);
  const bool had_plan = plan->key_count > 0;
  TotalMemoryOptions total;
  total.mode = budget.mode;
  total.max_bits_per_key = budget.max_bits_per_key;
  total.get = GetOptionsFor(context.table_options, view, budget);
  const auto all_bytes = static_cast<uint64_t>(cache_bytes);
  total.get.cache_bytes = all_bytes;
  if (options.auto_bits) {
    constexpr double kAutoStepBits = 0.5;
    total.step_bits = kAutoStepBits;
    total.get.high_priority_share = HighPriorityShare(context.table_options);
    if (view.gets.has_value()) {
      FitGets(GetModel(context.table_options, view, cost, total.get), *plan,
              all_bytes, &total.get);
    }
    // Where all gets are absent today, the last bits save few reads; once keys
    // are found, they would push data out of the cache until compactions have
    // written new filters.
    constexpr double kLeastFound = 0.02;
    total.get.missing_share =
        std::min(total.get.missing_share, 1 - kLeastFound);
  }
  absl::StatusOr<std::vector<TotalMemoryPlan>> sweep =
      SweepTotalMemory(cost, view.live.runs, total);
  if (!sweep.ok()) return;
  while (sweep->size() > 1 && sweep->back().filters.bits_per_key > most_bits) {
    sweep->pop_back();
  }
  const double bits_before = std::min(
      most_bits, had_plan
                     ? plan->bits_per_key
                     : 8 * static_cast<double>(view.live.filter_bytes) / keys);
  const auto plan_of = [&](double bits_per_key) {
    return PlanFilterMemory(cost, view.live.runs, total,
                            FilterMemory::BitsPerKey(bits_per_key));
  };
  TotalMemoryPlan now = CheapestPlan(*sweep);
  const absl::StatusOr<TotalMemoryPlan> before = plan_of(bits_before);
  if (!before.ok()) return;
  if (options.auto_bits) {
    const double middle = now.filters.bits_per_key;
    const double half_step = total.step_bits / 2;
    for (const double bits_per_key : {middle - half_step, middle + half_step}) {
      const absl::StatusOr<TotalMemoryPlan> beside =
          plan_of(std::min(bits_per_key, most_bits));
      if (beside.ok() && beside->cost.total_us < now.cost.total_us) {
        now = *beside;
      }
    }
    if (had_plan && now.cost.total_us > kClearGain * before->cost.total_us) {
      // A plan spends a little less than it may.
      now = *before;
      now.filters.bits_per_key = bits_before;
    }
  }
  *plan = {keys,
           cache_bytes,
           now.filters.bits_per_key,
           now.mode,
           budget.missing_share,
           total.get.zipf_exponent,
           total.get.range_keys,
           static_cast<double>(total.get.cache_bytes) / cache_bytes,
           options.auto_bits ? view.gets : std::nullopt,
           now.cost.reads()};
  if (now.filters.bits_per_key != bits_before) {
    LogPlan(context, *plan, bits_before, *before, now);
  }
}

}  // namespace

// The cache also has blocks of deleted SSTs, and to plan for more filters than
// fit costs far more than to plan for fewer.
double SharedCacheBytes(const rdb::BlockBasedTableOptions& table) {
  if (table.block_cache == nullptr || table.no_block_cache ||
      !table.cache_index_and_filter_blocks || !table.partition_filters ||
      table.metadata_cache_options.partition_pinning ==
          rdb::PinningTier::kAll) {
    return 0;
  }
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

absl::StatusOr<FileShare> TreeBudget::ShareOf(
    const rdb::FilterBuildingContext& context, const FilterCost& cost,
    const RocksDbBudgetOptions& options, FileBudgetOptions file_options) {
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
    FollowPlan(context, tree, *view, cost, options, &file_options.budget);
  } else if (is_fifo || file_options.budget.mode != BudgetMode::kHitsOnly) {
    // The level alone does not say how many keys an SST's run has, nor whether
    // a move will make it part of another one. The average of kHitsOnly may be
    // too small for any filter.
    file_options.budget.mode = BudgetMode::kFixed;
  }
  absl::StatusOr<FileBudget> budget = FileBudget::Create(cost, file_options);
  if (!budget.ok()) return budget.status();
  FileShare share = {facts, *std::move(budget)};
  if (!view.has_value()) return share;
  // Until compactions have been seen, all SSTs of flushes are taken to be
  // moved, and no others: RocksDB does not report all of CompactFiles().
  view->live.moved_share =
      view->live.moved_share.value_or(facts.is_flush ? 1 : 0);
  if (!share.budget.SetLive(view->live).ok()) return share;
  share.facts.level_count = view->level_count;
  share.facts.run_share = view->run_share;
  return share;
}

std::optional<TreePlan> TreeBudget::PlanOf(
    const std::shared_ptr<const LiveTree>& tree) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto kept = plans_.find(tree);
  if (kept == plans_.end() || kept->second.plan.reads == 0) return std::nullopt;
  return kept->second.plan;
}

void TreeBudget::FollowPlan(const rdb::FilterBuildingContext& context,
                            const std::shared_ptr<const LiveTree>& tree,
                            const LiveTree::View& view, const FilterCost& cost,
                            const RocksDbBudgetOptions& options,
                            FilterBudgetOptions* budget) {
  if (options.auto_bits && view.gets.has_value()) {
    budget->missing_share = std::max(view.gets->missing_share,
                                     FilterBudgetOptions::kMinMissingShare);
  }
  const double cache_bytes =
      options.total_memory_bytes > 0
          ? static_cast<double>(options.total_memory_bytes)
      : options.auto_bits ? SharedCacheBytes(context.table_options) *
                                LiveTrees::ShareOf(DatabaseOf(context),
                                                   context.column_family_name)
                          : 0;
  const auto keys = static_cast<double>(view.live.key_count);
  const bool has_keys = keys > 0 && view.estimator.sums().key_count > 0;
  if (cache_bytes == 0 || !has_keys) return;
  FilterMemory memory = budget->memory;
  if (options.auto_bits) {
    memory = FilterMemory::BitsPerKey(budget->max_bits_per_key);
    if (options.budget_bytes > 0) {
      memory = memory.AtMostBytes(options.budget_bytes);
    }
  }
  const double most = memory.BitsPerKeyOf(keys);
  const bool waits_for_gets =
      options.auto_bits && view.has_statistics && !view.gets.has_value();
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
             IsOutdated(kept.plan, keys, cache_bytes,
                        options.auto_bits ? view.gets : std::nullopt)) {
    kept.is_in_work = true;
    TreePlan plan = kept.plan;
    lock.unlock();
    UpdatePlan(context, view, cost, options, cache_bytes, *budget, most, &plan);
    lock.lock();
    // Another tree's plan may have come or gone, not this one's.
    kept = {plan, false};
  }
  if (kept.plan.key_count == 0) return;
  // The tree may have grown since the plan, and its limit in bytes has not.
  budget->memory =
      FilterMemory::BitsPerKey(std::min(kept.plan.bits_per_key, most));
  budget->mode = kept.plan.mode;
}

}  // namespace rowbloom::plugin
