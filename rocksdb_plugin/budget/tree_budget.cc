// SPDX-License-Identifier: Apache-2.0

#include "budget/tree_budget.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
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
#include "rowbloom/get_cost.h"
#include "rowbloom/tree_shape.h"

namespace rowbloom::plugin {

namespace {

// If levels grow tenfold, several files of a hundred are in the last level.
constexpr size_t kFilesOfEach = 1000;
constexpr size_t kMostTrees = 1000;

// A plan is made again, in some 20 ms, if the number of keys has changed by
// this share, or a share of gets by this difference and this part of it.
constexpr double kKeyCountChange = 0.1;
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

// The capacity of the cache that filter partitions share with data blocks; 0 if
// they do not.
double SharedCacheBytes(const rdb::BlockBasedTableOptions& table) {
  if (table.block_cache == nullptr || table.no_block_cache ||
      !table.cache_index_and_filter_blocks || !table.partition_filters ||
      table.metadata_cache_options.partition_pinning ==
          rdb::PinningTier::kAll) {
    return 0;
  }
  return static_cast<double>(table.block_cache->GetCapacity());
}

// The share of the cache's high-priority pool, which RocksDB tells in the text
// of options alone; 0 for other caches than LRUCache, and for none.
double HighPriorityShare(const rdb::Cache* cache) {
  if (cache == nullptr) return 0;
  const std::string options = cache->GetPrintableOptions();
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
  SetEntrySizes(view.estimator.sums(), &get);
  get.data_block_bytes = static_cast<double>(table.block_size);
  get.metadata_block_bytes = static_cast<double>(table.metadata_block_size);
  get.partition_cuts = CutsOf(table, 0);
  get.missing_share = budget.missing_share;
  return get;
}

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

bool IsOutdated(const TreePlan& plan, double keys,
                const std::optional<GetRates>& gets) {
  if (!(std::abs(plan.key_count - keys) <= kKeyCountChange * keys)) return true;
  if (!gets.has_value() || !plan.gets.has_value()) {
    return gets.has_value() != plan.gets.has_value();
  }
  const auto differs = [](double a, double b) {
    return std::abs(a - b) > kShareChange + kPartOfShare * std::max(a, b);
  };
  return differs(plan.gets->missing_share, gets->missing_share) ||
         differs(Share(plan.gets->filter_reads, plan.gets->filter_asks),
                 Share(gets->filter_reads, gets->filter_asks)) ||
         differs(Share(plan.gets->data_reads, plan.gets->data_asks),
                 Share(gets->data_reads, gets->data_asks));
}

// Keeps zipf_exponent and cache_bytes if the model expects the hit rate that
// was counted with the live filters. Else sets the skew at which it does. If
// even keys that are all asked for alike would hit more often in `cache_bytes`,
// scans and compactions have a part of the cache: sets cache_bytes to the rest.
void FitGets(const LiveTree::View& view, const FilterCost& cost,
             uint64_t cache_bytes, GetCostOptions* get) {
  const GetRates& rates = *view.gets;
  std::vector<FilterSetting> filters;
  for (const double bits : view.run_bits) filters.push_back(cost.ForBits(bits));
  // Gets ask for few more data blocks than the model says. If there are many
  // more, these are of scans and compactions, and tell nothing of gets.
  constexpr double kMostDataAsks = 1.3;
  // The share of asks that are reads: of filter and data blocks, by the model
  // and counted. Both have the counted asks, which depend on how many runs the
  // tree had when gets asked.
  const auto miss_share = [&] {
    const absl::StatusOr<GetCost> expected =
        ExpectedGetCost(view.live.runs, filters, *get);
    if (!expected.ok()) return std::pair(0.0, 0.0);
    double asks = rates.filter_asks;
    double counted = rates.filter_reads;
    double reads = asks * (1 - expected->filter.hit_rate());
    if (rates.data_asks <= kMostDataAsks * expected->data.asks || asks == 0) {
      asks += rates.data_asks;
      counted += rates.data_reads;
      reads += rates.data_asks * (1 - expected->data.hit_rate());
    }
    return std::pair(Share(reads, asks), Share(counted, asks));
  };
  constexpr int kHalvings = 8;
  // Sets a value within the range to where the model's share, which falls with
  // it, is the counted one.
  const auto fit = [&](double low, double high, const auto& set) {
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      set(middle);
      const auto [expected, counted] = miss_share();
      (expected > counted ? low : high) = middle;
    }
  };
  const auto [expected, counted] = miss_share();
  if (std::abs(expected - counted) <= kShareChange) return;
  const auto all = static_cast<double>(cache_bytes);
  get->cache_bytes = cache_bytes;
  get->zipf_exponent = 0;
  const auto [most, of_all] = miss_share();
  if (most > of_all) {
    constexpr double kMostSkew = 1.3;
    fit(0, kMostSkew, [&](double skew) { get->zipf_exponent = skew; });
  } else {
    constexpr double kLeastShare = 0.1;
    fit(kLeastShare, 1, [&](double share) {
      get->cache_bytes = static_cast<uint64_t>(share * all);
    });
  }
}

const TotalMemoryPlan& NearestPlan(const std::vector<TotalMemoryPlan>& sweep,
                                   double bits_per_key) {
  return *std::min_element(
      sweep.begin(), sweep.end(),
      [bits_per_key](const TotalMemoryPlan& a, const TotalMemoryPlan& b) {
        return std::abs(a.filters.bits_per_key - bits_per_key) <
               std::abs(b.filters.bits_per_key - bits_per_key);
      });
}

void LogPlan(const rdb::FilterBuildingContext& context, const TreePlan& plan,
             double bits_before, const TotalMemoryPlan& before,
             const TotalMemoryPlan& now) {
  if (context.info_log == nullptr) return;
  const GetRates gets = plan.gets.value_or(GetRates());
  rdb::Log(rdb::InfoLogLevel::INFO_LEVEL, context.info_log,
           "[%s] rowbloom plans filters of %.2f bits per key (%s), before "
           "%.2f: %.3f reads a get expected, before %.3f; %.0f keys, %.1f%% of "
           "gets absent, Zipf %.2f, %.0f%% of the cache; counted for a get: "
           "%.2f filter blocks, %.3f read, %.2f data blocks, %.3f read",
           context.column_family_name.c_str(), plan.bits_per_key,
           plan.mode == BudgetMode::kFixed ? "the same everywhere" : "by run",
           bits_before, now.cost.reads(), before.cost.reads(), plan.key_count,
           100 * plan.missing_share, plan.zipf_exponent, 100 * plan.cache_share,
           gets.filter_asks, gets.filter_reads, gets.data_asks,
           gets.data_reads);
}

}  // namespace

// The comparisons are written so that NaN fails, too.

absl::Status ValidateBudgetBits(const char* option, double bits_per_key) {
  if (bits_per_key > 0 && bits_per_key <= kMaxBudgetBitsPerKey) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(option, " ", bits_per_key,
                                                 " is not above 0 and at most ",
                                                 kMaxBudgetBitsPerKey));
}

absl::Status ValidateSizeRatio(double size_ratio) {
  if (size_ratio > 1 && size_ratio <= kMaxSizeRatio) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "size_ratio ", size_ratio, " is not above 1, at most ", kMaxSizeRatio));
}

absl::Status ValidateMissingShare(double missing_share) {
  constexpr double kMin = FilterBudgetOptions::kMinMissingShare;
  if (missing_share >= kMin && missing_share <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("missing_share ", missing_share, " is not within ", kMin,
                   " to 1; for gets that never miss there is hits_only"));
}

FileFacts TreeBudget::FactsOf(const rdb::FilterBuildingContext& context) {
  FileFacts facts;
  facts.is_flush = context.reason == rdb::TableFileCreationReason::kFlush ||
                   context.reason == rdb::TableFileCreationReason::kRecovery;
  facts.is_bottommost = context.is_bottommost;
  if (context.level_at_creation < 0) return facts;
  facts.level = context.level_at_creation;
  // An SST that is not bottommost has another level below. RocksDB calls no
  // flush bottommost.
  const uint32_t level_count =
      *facts.level + (facts.is_flush || facts.is_bottommost ? 1 : 2);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (files_ > kFilesOfEach * level_counts_.size() ||
      level_counts_.size() >= kMostTrees) {
    level_counts_before_ = std::move(level_counts_);
    level_counts_.clear();
    files_ = 0;
  }
  ++files_;
  const TreeName key = {DatabaseOf(context), context.column_family_name};
  uint32_t& most = level_counts_[key];
  most = std::max(most, level_count);
  const auto before = level_counts_before_.find(key);
  facts.level_count = before == level_counts_before_.end()
                          ? most
                          : std::max(most, before->second);
  return facts;
}

absl::StatusOr<FileShare> TreeBudget::ShareOf(
    const rdb::FilterBuildingContext& context, const FilterCost& cost,
    const RocksDbBudgetOptions& options, FileBudgetOptions file_options) {
  // FIFO's SSTs are all alike, flushes or not.
  const bool is_fifo = context.compaction_style == rdb::kCompactionStyleFIFO;
  if (is_fifo) file_options.budget.mode = BudgetMode::kFixed;
  const FileFacts facts = is_fifo ? FileFacts() : FactsOf(context);
  std::optional<LiveTree::View> view;
  if (facts.level.has_value()) {
    const std::shared_ptr<const LiveTree> tree =
        LiveTrees::Find(DatabaseOf(context), context.column_family_name);
    if (tree != nullptr) view = tree->ViewFor({*facts.level, facts.is_flush});
  }
  if (view.has_value()) {
    if (options.auto_bits && view->gets.has_value()) {
      file_options.budget.missing_share = std::max(
          view->gets->missing_share, FilterBudgetOptions::kMinMissingShare);
    }
    const double cache_bytes =
        options.total_memory_bytes > 0
            ? static_cast<double>(options.total_memory_bytes)
        : options.auto_bits ? SharedCacheBytes(context.table_options) *
                                  LiveTrees::ShareOf(DatabaseOf(context),
                                                     context.column_family_name)
                            : 0;
    if (cache_bytes > 0) {
      FollowPlan(context, *view, cost, options, cache_bytes,
                 &file_options.budget);
    }
  }
  absl::StatusOr<FileBudget> budget = FileBudget::Create(cost, file_options);
  if (!budget.ok()) return budget.status();
  FileShare share = {facts, *std::move(budget)};
  if (!view.has_value()) {
    // The filters of a new tree are what auto_bits goes on from.
    if (!options.auto_bits) return share;
    const absl::Status status = share.budget.SetLive({0, 0, {}, 1});
    if (!status.ok()) return status;
    return share;
  }
  // Until compactions have been seen, all SSTs are taken to be moved.
  view->live.moved_share = view->live.moved_share.value_or(1);
  if (!share.budget.SetLive(view->live).ok()) return share;
  share.facts.level_count = view->level_count;
  share.facts.run_share = view->run_share;
  return share;
}

void TreeBudget::FollowPlan(const rdb::FilterBuildingContext& context,
                            const LiveTree::View& view, const FilterCost& cost,
                            const RocksDbBudgetOptions& options,
                            double cache_bytes, FilterBudgetOptions* budget) {
  const auto keys = static_cast<double>(view.live.key_count);
  if (keys == 0 || view.estimator.sums().key_count == 0) return;
  FilterMemory memory = budget->memory;
  if (options.auto_bits) {
    memory = FilterMemory::BitsPerKey(budget->max_bits_per_key);
    if (options.budget_bytes > 0) {
      memory = memory.AtMostBytes(options.budget_bytes);
    }
  }
  const double most = memory.BitsPerKeyOf(keys);
  const std::optional<GetRates> gets =
      options.auto_bits ? view.gets : std::nullopt;
  const TreeName name = {DatabaseOf(context), context.column_family_name};
  TreePlan plan = PlanOf(name.first, name.second);
  const double live_bits =
      8 * static_cast<double>(view.live.filter_bytes) / keys;
  if (options.auto_bits && view.has_statistics && !gets.has_value()) {
    // Nobody has asked yet. The live filters are what an earlier plan wrote, or
    // what the user chose. Later ones have their average, and not that of one
    // another, which would rise by rounding each time.
    if (live_bits == 0) return;
    if (plan.key_count == 0) {
      plan.key_count = keys;
      plan.bits_per_key = live_bits;
      plan.mode = budget->mode;
      Keep(name, plan);
    }
  } else if (IsOutdated(plan, keys, gets)) {
    TotalMemoryOptions total;
    total.mode = budget->mode;
    total.max_bits_per_key = budget->max_bits_per_key;
    total.get = GetOptionsFor(context.table_options, view, *budget);
    const auto all_bytes = static_cast<uint64_t>(cache_bytes);
    total.get.cache_bytes = all_bytes;
    if (options.auto_bits) {
      total.get.high_priority_share =
          HighPriorityShare(context.table_options.block_cache.get());
    }
    if (gets.has_value()) {
      total.get.zipf_exponent = plan.zipf_exponent;
      total.get.cache_bytes =
          static_cast<uint64_t>(plan.cache_share * cache_bytes);
      FitGets(view, cost, all_bytes, &total.get);
    }
    absl::StatusOr<std::vector<TotalMemoryPlan>> sweep =
        SweepTotalMemory(cost, view.live.runs, total);
    if (!sweep.ok()) return;
    while (sweep->size() > 1 && sweep->back().filters.bits_per_key > most) {
      sweep->pop_back();
    }
    const double bits_before =
        plan.key_count > 0 ? plan.bits_per_key : live_bits;
    const TotalMemoryPlan& before = NearestPlan(*sweep, bits_before);
    const TotalMemoryPlan* now = &CheapestPlan(*sweep);
    if (options.auto_bits && plan.key_count > 0 &&
        now->cost.total_us > kClearGain * before.cost.total_us) {
      now = &before;
    }
    plan = {keys,
            now->filters.bits_per_key,
            now->mode,
            total.get.missing_share,
            total.get.zipf_exponent,
            static_cast<double>(total.get.cache_bytes) / cache_bytes,
            gets};
    if (now != &before) LogPlan(context, plan, bits_before, before, *now);
    Keep(name, plan);
  }
  // The tree may have grown since the plan, and its limit in bytes has not.
  budget->memory = FilterMemory::BitsPerKey(std::min(plan.bits_per_key, most));
  budget->mode = plan.mode;
}

void TreeBudget::Keep(const TreeName& name, const TreePlan& plan) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (plans_.size() >= kMostTrees) plans_.clear();
  plans_[name] = plan;
}

TreePlan TreeBudget::PlanOf(const DatabaseId& database,
                            const std::string& column_family_name) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = plans_.find({database, column_family_name});
  return known == plans_.end() ? TreePlan() : known->second;
}

}  // namespace rowbloom::plugin
