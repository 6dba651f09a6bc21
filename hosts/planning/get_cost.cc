// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/get_cost.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "planning/block_rates.h"
#include "planning/cache_lives.h"
#include "planning/check_range.h"
#include "util/check.h"

namespace rowbloom {

namespace {

using planning::BlockKeys;
using planning::CachedKind;
using planning::CacheLives;
using planning::CheckRange;

// 100% - block_size_deviation.
constexpr double kFilterPartitionFill = 0.9;
// More bits, or the same bits in all runs, must save 0.1% of the time.
constexpr double kClearly = 0.999;

absl::Status CheckGetOptions(const GetCostOptions& options) {
  constexpr double kMaxBytes = 1e9;
  constexpr double kMaxUs = 1e9;
  constexpr double kMaxCount = 1e9;
  const struct {
    const char* name;
    double value;
    double least;
    double most;
  } ranges[] = {
      {"high_priority_share", options.high_priority_share, 0, 1},
      {"entry_bytes", options.entry_bytes, 1, kMaxBytes},
      {"key_bytes", options.key_bytes, 0, options.entry_bytes},
      {"data_block_bytes", options.data_block_bytes, 1, kMaxBytes},
      {"metadata_block_bytes", options.metadata_block_bytes, 1, kMaxBytes},
      {"block_overhead_bytes", options.block_overhead_bytes, 0, kMaxBytes},
      {"missing_share", options.missing_share, 0, 1},
      {"zipf_exponent", options.zipf_exponent, 0,
       GetCostOptions::kMaxZipfExponent},
      {"range_keys", options.range_keys, 1, kMaxCount},
      {"scan_seeks", options.scan_seeks, 0, kMaxCount},
      {"scan_data_reads", options.scan_data_reads, 0, kMaxCount},
      {"read_us", options.read_us, 0, kMaxUs},
      {"get_cpu_us", options.get_cpu_us, 0, kMaxUs},
      {"filter_cpu_us", options.filter_cpu_us, 0, kMaxUs},
      {"search_cpu_us", options.search_cpu_us, 0, kMaxUs},
      {"read_cpu_us", options.read_cpu_us, 0, kMaxUs},
  };
  for (const auto& range : ranges) {
    if (absl::Status status =
            CheckRange(range.name, range.value, range.least, range.most);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

absl::Status CheckTree(absl::Span<const TreeRun> runs,
                       absl::Span<const FilterSetting> filters) {
  if (runs.size() != filters.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        filters.size(), " filter settings for ", runs.size(), " runs"));
  }
  for (const TreeRun& run : runs) {
    if (!run.absent_asks.has_value()) continue;
    if (absl::Status status = CheckRange("absent_asks", *run.absent_asks, 0, 1);
        !status.ok()) {
      return status;
    }
  }
  for (const FilterSetting& filter : filters) {
    constexpr double kMaxBits = 1e6;
    if (absl::Status status =
            CheckRange("bits_per_key", filter.bits_per_key, 0, kMaxBits);
        !status.ok()) {
      return status;
    }
    if (absl::Status status = CheckRange("fpr", filter.fpr, 0, 1);
        !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

double AllKeys(absl::Span<const TreeRun> runs) {
  double sum = 0;
  for (const TreeRun& run : runs) sum += static_cast<double>(run.key_count);
  return sum;
}

// A run's keys, and the gets that ask it for a key that it does not have.
struct RunAsks {
  double own_share = 0;    // The run's keys, as a share of all keys.
  double older_share = 0;  // Keys of older runs, as a share of all keys.
  // How many of the gets of older and absent keys ask the run: all, unless
  // absent_asks says otherwise.
  double asking_share = 1;
};

std::vector<RunAsks> AsksOfRuns(absl::Span<const TreeRun> runs,
                                double missing_share) {
  const double all = AllKeys(runs);
  std::vector<RunAsks> asks(runs.size());
  double older = 0;
  for (size_t i = runs.size(); i-- > 0;) {
    const auto own = static_cast<double>(runs[i].key_count);
    asks[i].own_share = own / all;
    asks[i].older_share = older / all;
    older += own;
    const double all_ask =
        missing_share + (1 - missing_share) * asks[i].older_share;
    if (runs[i].absent_asks.has_value() && all_ask > 0) {
      asks[i].asking_share = *runs[i].absent_asks / all_ask;
    }
  }
  return asks;
}

// The blocks of one kind in a run. All are 0 if the run has none.
struct RunBlocks {
  double block_count = 0;
  double block_bytes = 0;  // With the cache's overhead.
  double keys = 0;         // The number of keys per block.
  double key_share = 1;    // The share of the run's keys in these blocks.
};

RunBlocks BlocksOfKeys(double key_count, double keys_per_block,
                       double key_bytes, double overhead_bytes) {
  const double keys = std::clamp(keys_per_block, 1.0, key_count);
  return {key_count / keys, keys * key_bytes + overhead_bytes, keys};
}

// The blocks that one run keeps, by kind. The short ones are those of
// PartitionCuts::kCoupledTwice.
struct RunLayout {
  RunBlocks data;
  RunBlocks filter;
  RunBlocks index;
  RunBlocks short_filter;
  RunBlocks short_index;
};

// Partitions of `full_keys`, each followed by one of `short_keys`.
void SetPartitionPairs(double key_count, double full_keys, double short_keys,
                       double key_bytes, double overhead_bytes, RunBlocks* full,
                       RunBlocks* shorter) {
  const double share = full_keys / (full_keys + short_keys);
  *full = BlocksOfKeys(share * key_count, full_keys, key_bytes, overhead_bytes);
  full->key_share = share;
  *shorter = BlocksOfKeys((1 - share) * key_count, short_keys, key_bytes,
                          overhead_bytes);
  shorter->key_share = 1 - share;
}

RunLayout LayoutOf(double key_count, double bits_per_key,
                   const GetCostOptions& options) {
  const double overhead = options.block_overhead_bytes;
  RunLayout layout;
  layout.data =
      BlocksOfKeys(key_count, options.data_block_bytes / options.entry_bytes,
                   options.entry_bytes, overhead);
  const double index_key_bytes =
      (options.key_bytes + GetCostOptions::kIndexEntryExtraBytes) /
      layout.data.keys;
  double index_keys = std::max(layout.data.keys,
                               options.metadata_block_bytes / index_key_bytes);
  if (bits_per_key > 0) {
    const double filter_key_bytes = bits_per_key / 8;
    double filter_keys =
        kFilterPartitionFill * options.metadata_block_bytes / filter_key_bytes;
    if (options.partition_cuts != PartitionCuts::kDecoupled) {
      const bool filter_cuts = filter_keys < index_keys;
      index_keys =
          std::max(layout.data.keys, std::min(index_keys, filter_keys));
      filter_keys = index_keys;
      if (options.partition_cuts == PartitionCuts::kCoupledTwice &&
          filter_cuts && filter_keys + layout.data.keys < key_count) {
        SetPartitionPairs(key_count, filter_keys, layout.data.keys,
                          filter_key_bytes, overhead, &layout.filter,
                          &layout.short_filter);
        SetPartitionPairs(key_count, index_keys, layout.data.keys,
                          index_key_bytes, overhead, &layout.index,
                          &layout.short_index);
        return layout;
      }
    }
    layout.filter =
        BlocksOfKeys(key_count, filter_keys, filter_key_bytes, overhead);
  }
  layout.index = BlocksOfKeys(key_count, index_keys, index_key_bytes, overhead);
  return layout;
}

BlockUse SumOf(absl::Span<const BlockUse> uses) {
  BlockUse sum;
  double missing_bytes = 0;
  for (const BlockUse& use : uses) {
    sum.bytes += use.bytes;
    sum.asks += use.asks;
    sum.reads += use.reads;
    sum.block_count += use.block_count;
    missing_bytes += use.bytes * use.miss_share;
  }
  if (sum.bytes > 0) sum.miss_share = missing_bytes / sum.bytes;
  return sum;
}

// The blocks of one kind in all runs.
BlockUse SumOf(const std::vector<RunGetCost>& runs,
               BlockUse RunGetCost::*kind) {
  std::vector<BlockUse> uses;
  uses.reserve(runs.size());
  for (const RunGetCost& run : runs) uses.push_back(run.*kind);
  return SumOf(uses);
}

// The blocks of all runs and how often gets ask for them.
class CacheModel {
 public:
  CacheModel(absl::Span<const TreeRun> runs,
             absl::Span<const FilterSetting> filters,
             const GetCostOptions& options)
      : options_(options),
        popularity_(planning::ZipfRanges(AllKeys(runs), options.range_keys,
                                         options.zipf_exponent)) {
    const std::vector<RunAsks> asks = AsksOfRuns(runs, options.missing_share);
    for (size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].key_count == 0) {
        kinds_.resize(kinds_.size() + kKindsOfRun);
        continue;
      }
      const bool has_filter = filters[i].bits_per_key > 0;
      const RunLayout layout = LayoutOf(static_cast<double>(runs[i].key_count),
                                        filters[i].bits_per_key, options);
      const double fpr = has_filter ? filters[i].fpr : 1;
      const double seeks = options.scan_seeks;
      AddKind(layout.data, asks[i], fpr, 0, false);
      AddKind(layout.filter, asks[i], 1, 0, true);
      AddKind(layout.index, asks[i], fpr, seeks, true);
      AddKind(layout.short_filter, asks[i], 1, 0, true);
      AddKind(layout.short_index, asks[i], fpr, seeks, true);
    }
  }

  // The search for the lives of blocks begins at *hint, and sets it.
  GetCost Cost(CacheLives* hint) const {
    GetCost cost;
    cost.resident_bytes = ResidentBytes();
    const CacheLives lives = LivesBeside(cost.resident_bytes, *hint);
    *hint = lives;
    for (size_t i = 0; i < kinds_.size(); i += kKindsOfRun) {
      cost.runs.push_back(
          {UseOfKind(i, lives),
           SumOf({UseOfKind(i + 1, lives), UseOfKind(i + 3, lives)}),
           SumOf({UseOfKind(i + 2, lives), UseOfKind(i + 4, lives)})});
    }
    cost.data = SumOf(cost.runs, &RunGetCost::data);
    cost.filter = SumOf(cost.runs, &RunGetCost::filter);
    cost.index = SumOf(cost.runs, &RunGetCost::index);
    cost.cpu_us = options_.get_cpu_us +
                  options_.filter_cpu_us * cost.filter.asks +
                  options_.search_cpu_us * (cost.data.asks + cost.index.asks) +
                  options_.read_cpu_us * cost.reads();
    cost.total_us = cost.cpu_us + options_.read_us * cost.reads();
    return cost;
  }

 private:
  // `fpr`: the probability that a get of a key that is not in the run asks for
  // a block of this kind. `seeks`: of scans that do, per get.
  void AddKind(const RunBlocks& blocks, const RunAsks& asks, double fpr,
               double seeks, bool is_high_priority) {
    CachedKind& kind = kinds_.emplace_back();
    if (blocks.block_count == 0) return;
    kind.block_bytes = blocks.block_bytes;
    kind.block_count = blocks.block_count;
    kind.is_high_priority = is_high_priority;
    BlockKeys keys;
    keys.block_count = blocks.block_count;
    keys.own_keys = blocks.keys;
    keys.spanned_keys = blocks.keys / asks.own_share;
    const double other_share =
        blocks.key_share * std::min(1.0, fpr * asks.asking_share);
    keys.older_key_share = asks.older_share * other_share;
    keys.absent_key_share = other_share;
    kind.groups =
        planning::BlockRates(keys, popularity_, options_.missing_share);
    if (seeks == 0) return;
    kind.scan_asks = seeks * blocks.key_share / blocks.block_count;
    double not_asked = blocks.block_count;
    for (planning::BlockGroup& group : kind.groups) {
      group.asks += kind.scan_asks;
      not_asked -= group.block_count;
    }
    if (not_asked > 0) kind.groups.push_back({not_asked, kind.scan_asks});
  }

  // True for filters and indexes that never leave memory.
  bool IsResident(size_t index) const {
    return options_.place != FilterPlace::kCachedPartitions &&
           index % kKindsOfRun != 0;
  }

  double ResidentBytes() const {
    // Table readers hold one block of each SST and no entry of a cache.
    const double saved_bytes = options_.place == FilterPlace::kTableReaders
                                   ? options_.block_overhead_bytes
                                   : 0;
    double bytes = 0;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (!IsResident(i)) continue;
      bytes += kinds_[i].block_count * (kinds_[i].block_bytes - saved_bytes);
    }
    return bytes;
  }

  // The lives of the blocks that share what resident ones leave.
  CacheLives LivesBeside(double resident_bytes, const CacheLives& hint) const {
    const auto all = static_cast<double>(options_.cache_bytes);
    const double left = std::max(0.0, all - resident_bytes);
    double pool_share = options_.high_priority_share;
    // The pool is a share of the capacity, pinned blocks included.
    if (options_.place == FilterPlace::kPinnedPartitions && left > 0) {
      pool_share = std::min(1.0, pool_share * all / left);
    }
    std::vector<CachedKind> cached;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (!IsResident(i)) cached.push_back(kinds_[i]);
    }
    const double scanned_bytes =
        options_.scan_data_reads *
        (options_.data_block_bytes + options_.block_overhead_bytes);
    return planning::LivesOf(cached, left, pool_share, scanned_bytes, hint);
  }

  BlockUse UseOfKind(size_t index, const CacheLives& lives) const {
    const CachedKind& kind = kinds_[index];
    BlockUse use;
    use.block_count = kind.block_count;
    use.bytes = kind.block_count * kind.block_bytes;
    double cached = 0;
    for (const planning::BlockGroup& group : kind.groups) {
      const planning::CacheOdds odds =
          IsResident(index)
              ? planning::CacheOdds{1, 0}
              : planning::OddsOf(group.asks, kind.is_high_priority, lives);
      const double asks = group.block_count * (group.asks - kind.scan_asks);
      use.asks += asks;
      use.reads += asks * odds.miss;
      cached += group.block_count * odds.hit;
    }
    if (IsResident(index)) {
      use.miss_share = 0;
    } else if (kind.block_count > 0) {
      use.miss_share = std::clamp(1 - cached / kind.block_count, 0.0, 1.0);
    }
    return use;
  }

  const GetCostOptions& options_;
  const planning::Popularity popularity_;
  // The kinds of a RunLayout, for each run in turn.
  static constexpr size_t kKindsOfRun = 5;
  std::vector<CachedKind> kinds_;
};

GetCost CostOfGet(absl::Span<const TreeRun> runs,
                  absl::Span<const FilterSetting> filters,
                  const GetCostOptions& options, CacheLives* lives_hint) {
  if (AllKeys(runs) > 0) {
    return CacheModel(runs, filters, options).Cost(lives_hint);
  }
  GetCost cost;
  cost.runs.resize(runs.size());
  cost.cpu_us = options.get_cpu_us;
  cost.total_us = cost.cpu_us;
  return cost;
}

absl::Status CheckTotalMemory(const TotalMemoryOptions& options) {
  if (absl::Status status = CheckGetOptions(options.get); !status.ok()) {
    return status;
  }
  constexpr double kMaxBits = 100;
  if (absl::Status status =
          CheckRange("step_bits", options.step_bits,
                     TotalMemoryOptions::kMinStepBits, kMaxBits);
      !status.ok()) {
    return status;
  }
  if (absl::Status status =
          CheckRange("max_bits_per_key", options.max_bits_per_key, 0, kMaxBits);
      !status.ok()) {
    return status;
  }
  return CheckRange("min_bits_per_key", options.min_bits_per_key, 0,
                    options.max_bits_per_key);
}

// Microseconds of a false positive: it searches an index partition and a data
// block.
double FalsePositiveUs(const RunGetCost& run, const GetCostOptions& options) {
  return 2 * options.search_cpu_us +
         (run.data.miss_share + run.index.miss_share) *
             (options.read_us + options.read_cpu_us);
}

bool IsAsCheap(const TotalMemoryPlan& plan, double least_us) {
  return kClearly * plan.cost.total_us <= least_us;
}

std::vector<FilterSetting> SettingsOf(const FilterBudgetPlan& plan) {
  std::vector<FilterSetting> settings;
  settings.reserve(plan.runs.size());
  for (const RunBudget& run : plan.runs) settings.push_back(run.setting);
  return settings;
}

// Plans by run begin with the prices of the last one. The prices of a run and
// the bits that they lead to depend on each other little: two rounds are
// enough.
class MemoryPlanner {
 public:
  MemoryPlanner(const FilterCost& cost, absl::Span<const TreeRun> runs,
                const TotalMemoryOptions& options)
      : cost_(cost),
        runs_(runs),
        options_(options),
        priced_(runs.begin(), runs.end()) {
    for (TreeRun& run : priced_) run.block_miss_share = 1;
  }

  absl::StatusOr<TotalMemoryPlan> Plan(FilterMemory memory) {
    absl::StatusOr<TotalMemoryPlan> plan = PlanInMode(options_.mode, memory);
    if (options_.mode != BudgetMode::kBalanced || !plan.ok()) return plan;
    absl::StatusOr<TotalMemoryPlan> fixed =
        PlanInMode(BudgetMode::kFixed, memory);
    if (!fixed.ok()) return fixed;
    return fixed->cost.total_us < kClearly * plan->cost.total_us ? fixed : plan;
  }

 private:
  absl::StatusOr<TotalMemoryPlan> PlanInMode(BudgetMode mode,
                                             FilterMemory memory) {
    FilterBudgetOptions budget;
    budget.memory = memory;
    budget.mode = mode;
    budget.missing_share = options_.get.missing_share;
    if (mode == BudgetMode::kBalanced) {
      budget.missing_share =
          std::max(budget.missing_share, FilterBudgetOptions::kMinMissingShare);
    }
    TotalMemoryPlan plan;
    plan.mode = mode;
    const int rounds = mode == BudgetMode::kFixed ? 1 : 2;
    for (int round = 0; round < rounds; ++round) {
      absl::StatusOr<FilterBudgetPlan> filters =
          PlanFilterBudget(cost_, priced_, budget);
      if (!filters.ok()) return filters.status();
      plan.filters = *std::move(filters);
      plan.cost = CostOfGet(runs_, SettingsOf(plan.filters), options_.get,
                            &last_lives_);
      if (mode != BudgetMode::kFixed) SetPrices(plan.cost);
    }
    SetWaste(&plan);
    return plan;
  }

  // The formula of filter_budget.h needs shares of the highest price only.
  void SetPrices(const GetCost& cost) {
    double highest = 0;
    for (const RunGetCost& run : cost.runs) {
      highest = std::max(highest, FalsePositiveUs(run, options_.get));
    }
    if (highest == 0) return;
    for (size_t i = 0; i < priced_.size(); ++i) {
      priced_[i].block_miss_share =
          FalsePositiveUs(cost.runs[i], options_.get) / highest;
    }
  }

  void SetWaste(TotalMemoryPlan* plan) const {
    const double missing_share = options_.get.missing_share;
    const std::vector<double> asks = AbsentAsks(runs_, missing_share);
    for (size_t i = 0; i < runs_.size(); ++i) {
      plan->filters.runs[i].absent_asks = asks[i];
    }
    plan->filters.wasted_reads = ExpectedWastedReads(
        runs_, SettingsOf(plan->filters), missing_share, plan->cost);
  }

  const FilterCost& cost_;
  const absl::Span<const TreeRun> runs_;
  const TotalMemoryOptions& options_;
  std::vector<TreeRun> priced_;
  CacheLives last_lives_;
};

}  // namespace

void SetEntrySizes(const TableSums& sums, GetCostOptions* options) {
  if (!(sums.entry_count > 0 && sums.key_count > 0)) return;
  // A data block stores 3 lengths for an entry; an index block stores keys
  // without the sequence number and type.
  constexpr double kLengths = 3;
  constexpr double kSequence = 8;
  const double without_keys =
      sums.raw_value_bytes + kLengths * sums.entry_count;
  double bytes = sums.raw_key_bytes + without_keys;
  double key_bytes =
      std::max(1.0, sums.raw_key_bytes / sums.entry_count - kSequence);
  if (sums.data_block_count > 0) {
    // Blocks of few entries may be much larger or smaller than they should, and
    // old ones may have had another size.
    constexpr double kManyEntries = 4;
    const double block_bytes =
        sums.data_block_count * options->data_block_bytes;
    if (sums.entry_count > kManyEntries * sums.data_block_count) {
      bytes = std::min(bytes, std::max(block_bytes, without_keys));
    }
    key_bytes = std::clamp(sums.index_bytes / sums.data_block_count -
                               GetCostOptions::kIndexEntryExtraBytes,
                           0.0, key_bytes);
  }
  options->entry_bytes = bytes / sums.key_count;
  options->key_bytes = std::min(key_bytes, options->entry_bytes);
}

absl::StatusOr<GetCost> ExpectedGetCost(absl::Span<const TreeRun> runs,
                                        absl::Span<const FilterSetting> filters,
                                        const GetCostOptions& options) {
  if (absl::Status status = CheckGetOptions(options); !status.ok()) {
    return status;
  }
  if (absl::Status status = CheckTree(runs, filters); !status.ok()) {
    return status;
  }
  CacheLives no_hint;
  return CostOfGet(runs, filters, options, &no_hint);
}

double ExpectedWastedReads(absl::Span<const TreeRun> runs,
                           absl::Span<const FilterSetting> filters,
                           double missing_share, const GetCost& cost) {
  const std::vector<double> asks = AbsentAsks(runs, missing_share);
  double reads = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].key_count == 0) continue;
    const double fpr = filters[i].bits_per_key > 0 ? filters[i].fpr : 1;
    reads += asks[i] * fpr * cost.runs[i].data.miss_share;
  }
  return reads;
}

absl::StatusOr<TotalMemoryPlan> PlanFilterMemory(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const TotalMemoryOptions& options, FilterMemory memory) {
  if (absl::Status status = CheckTotalMemory(options); !status.ok()) {
    return status;
  }
  return MemoryPlanner(cost, runs, options).Plan(memory);
}

absl::StatusOr<std::vector<TotalMemoryPlan>> SweepTotalMemory(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const TotalMemoryOptions& options) {
  if (absl::Status status = CheckTotalMemory(options); !status.ok()) {
    return status;
  }
  MemoryPlanner planner(cost, runs, options);
  std::vector<TotalMemoryPlan> plans;
  for (int step = 0;; ++step) {
    const double bits_per_key =
        options.min_bits_per_key + step * options.step_bits;
    if (bits_per_key > options.max_bits_per_key) return plans;
    absl::StatusOr<TotalMemoryPlan> plan =
        planner.Plan(FilterMemory::BitsPerKey(bits_per_key));
    if (!plan.ok()) return plan.status();
    plans.push_back(*std::move(plan));
  }
}

const TotalMemoryPlan& CheapestPlan(absl::Span<const TotalMemoryPlan> sweep) {
  RB_CHECK(!sweep.empty(), "CheapestPlan() of no plans");
  double least_us = sweep.front().cost.total_us;
  for (const TotalMemoryPlan& plan : sweep) {
    least_us = std::min(least_us, plan.cost.total_us);
  }
  return *std::find_if(
      sweep.begin(), sweep.end(),
      [&](const TotalMemoryPlan& plan) { return IsAsCheap(plan, least_us); });
}

absl::StatusOr<TotalMemoryPlan> PlanTotalMemory(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const TotalMemoryOptions& options) {
  if (absl::Status status = CheckTotalMemory(options); !status.ok()) {
    return status;
  }
  MemoryPlanner planner(cost, runs, options);
  std::map<double, TotalMemoryPlan> plans;  // By the average they may spend.
  double cheapest = options.min_bits_per_key;
  absl::Status status;
  const auto add_plan = [&](double bits_per_key) {
    bits_per_key = std::clamp(bits_per_key, options.min_bits_per_key,
                              options.max_bits_per_key);
    if (!status.ok() || plans.count(bits_per_key) > 0) return;
    absl::StatusOr<TotalMemoryPlan> plan =
        planner.Plan(FilterMemory::BitsPerKey(bits_per_key));
    status = plan.status();
    if (!status.ok()) return;
    const double total_us = plan->cost.total_us;
    plans.emplace(bits_per_key, *std::move(plan));
    if (total_us < plans.at(cheapest).cost.total_us) cheapest = bits_per_key;
  };
  const auto step_at = [&](double bits_per_key) {
    return std::max({0.5, bits_per_key / 4, options.step_bits});
  };
  // The time may have more than one minimum: below one of them the largest run
  // has no filter.
  add_plan(options.min_bits_per_key);
  for (double bits_per_key = options.min_bits_per_key;
       status.ok() && bits_per_key < options.max_bits_per_key;) {
    bits_per_key += step_at(bits_per_key);
    add_plan(bits_per_key);
  }
  for (double step = step_at(cheapest);
       status.ok() && step > options.step_bits;) {
    step = std::max(step / 2, options.step_bits);
    const double middle = cheapest;
    add_plan(middle - step);
    add_plan(middle + step);
  }
  // The fewest bits that are as cheap may lie below a plan and above the next.
  while (status.ok()) {
    const double least_us = plans.at(cheapest).cost.total_us;
    auto chosen = plans.begin();
    while (!IsAsCheap(chosen->second, least_us)) ++chosen;
    if (chosen == plans.begin()) return chosen->second;
    const double below = std::prev(chosen)->first;
    if (chosen->first - below < 2 * options.step_bits) return chosen->second;
    add_plan((below + chosen->first) / 2);
  }
  return status;
}

}  // namespace rowbloom
