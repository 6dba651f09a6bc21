// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_budget.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rowbloom {

namespace {

// Beyond these, every run has no filter or the strongest.
constexpr double kLowestPrecision = -64;
constexpr double kHighestPrecision = 256;

absl::Status CheckShare(const char* name, double value, double least) {
  // Written so that NaN fails, too.
  if (value >= least && value <= 1) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " ", value, " is not within ", least, " to 1"));
}

absl::Status CheckOptions(const FilterBudgetOptions& options) {
  if (!(options.max_bits_per_key > 0 &&
        std::isfinite(options.max_bits_per_key))) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_bits_per_key ", options.max_bits_per_key,
                     " is not above 0 and finite"));
  }
  const double bits = options.memory.BitsPerKeyOf(1);
  if (!(bits >= 0 && std::isfinite(bits))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a budget of ", bits, " bits per key: must be 0 or more and finite"));
  }
  if (options.mode != BudgetMode::kBalanced) {
    return CheckShare("missing_share", options.missing_share, 0);
  }
  absl::Status status = CheckShare("missing_share", options.missing_share,
                                   FilterBudgetOptions::kMinMissingShare);
  if (status.ok() ||
      !(options.missing_share >= 0 && options.missing_share <= 1)) {
    return status;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      status.message(), "; for gets that never miss there is hits_only"));
}

absl::Status CheckRuns(absl::Span<const TreeRun> runs) {
  for (const TreeRun& run : runs) {
    absl::Status status =
        CheckShare("block_miss_share", run.block_miss_share, 0);
    if (status.ok() && run.absent_asks.has_value()) {
      status = CheckShare("absent_asks", *run.absent_asks, 0);
    }
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

double KeyCount(absl::Span<const TreeRun> runs) {
  double sum = 0;
  for (const TreeRun& run : runs) sum += static_cast<double>(run.key_count);
  return sum;
}

// False for NaN, too.
bool IsKnown(std::optional<double> run_share) {
  return run_share.has_value() && *run_share > 0;
}

// The formula of filter_budget.h; `weight` is q m.
double TargetFpr(double share, double weight, double precision) {
  if (share <= 0 || weight <= 0) return 1;
  return std::min(1.0, std::exp2(-precision) * share / weight);
}

FilterSetting SettingFor(const FilterCost& cost, double fpr,
                         double max_bits_per_key) {
  const FilterSetting setting = cost.ForFpr(fpr);
  return setting.bits_per_key <= max_bits_per_key
             ? setting
             : cost.ForBits(max_bits_per_key);
}

double MissingShare(const FilterBudgetOptions& options) {
  return options.mode == BudgetMode::kHitsOnly ? 0 : options.missing_share;
}

// Finds the precision that spends the budget, and gives each run its setting.
class Spender {
 public:
  Spender(const FilterCost& cost, absl::Span<const TreeRun> runs,
          double budget_bits_per_key, double max_bits_per_key,
          std::vector<RunBudget>* budgets)
      : cost_(cost),
        runs_(runs),
        budget_(budget_bits_per_key),
        max_bits_(max_bits_per_key),
        budgets_(*budgets),
        is_settled_(runs.size(), false) {}

  double Spend() {
    const double precision = SpendOnce();
    // A run may have stopped at a gap of the cost curve. The bits that its next
    // setting would need are left for other runs.
    while (SettleRunsAtGaps()) SpendOnce();
    return precision;
  }

 private:
  void SetAll(double precision) {
    for (size_t i = 0; i < budgets_.size(); ++i) {
      if (is_settled_[i]) continue;
      RunBudget& run = budgets_[i];
      run.target_fpr =
          TargetFpr(run.key_share, run.absent_asks * runs_[i].block_miss_share,
                    precision);
      run.setting = SettingFor(cost_, run.target_fpr, max_bits_);
    }
  }

  bool IsWithinBudget(double precision, double tolerance = 0) {
    SetAll(precision);
    double bits = 0;
    for (const RunBudget& run : budgets_) {
      bits += run.key_share * run.setting.bits_per_key;
    }
    return bits <= budget_ * (1 + tolerance);
  }

  double SpendOnce() {
    low_ = kLowestPrecision;
    high_ = kHighestPrecision;
    // The shares of runs may add up to more than 1.
    constexpr double kRounding = 1e-12;
    if (IsWithinBudget(high_, kRounding)) {
      low_ = high_;
      return high_;
    }
    constexpr int kHalvings = 60;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low_ + high_) / 2;
      (IsWithinBudget(middle) ? low_ : high_) = middle;
    }
    SetAll(low_);
    return low_;
  }

  // Settles the runs that would take clearly more bits for a little more
  // precision. Returns false if there are none.
  bool SettleRunsAtGaps() {
    if (low_ == high_) return false;
    const std::vector<RunBudget> low = budgets_;
    SetAll(high_);
    bool any = false;
    for (size_t i = 0; i < low.size(); ++i) {
      constexpr double kGap = 1e-6;
      if (budgets_[i].setting.bits_per_key >
          low[i].setting.bits_per_key + kGap) {
        is_settled_[i] = true;
        any = true;
      }
    }
    budgets_ = low;
    return any;
  }

  const FilterCost& cost_;
  const absl::Span<const TreeRun> runs_;
  const double budget_;
  const double max_bits_;
  std::vector<RunBudget>& budgets_;
  std::vector<bool> is_settled_;
  double low_ = 0;   // Within the budget.
  double high_ = 0;  // Beyond it.
};

// The share of the largest run. It is the oldest, unless files were ingested
// far below it, or the oldest is new and will be the largest.
double OldestShare(const std::vector<RunBudget>& runs) {
  double share = 0;
  for (const RunBudget& run : runs) share = std::max(share, run.key_share);
  return share == 0 ? 1 : share;
}

// The runs of a leveled tree that is so large that rounding keys is no matter.
std::vector<TreeRun> LeveledRuns(double size_ratio, uint32_t level_count) {
  constexpr double kKeysOfLastLevel = 1e18;
  std::vector<TreeRun> runs(level_count);
  double key_count = kKeysOfLastLevel;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    run->key_count = static_cast<uint64_t>(std::llround(key_count));
    key_count /= size_ratio;
  }
  return runs;
}

absl::Status CheckFileOptions(const FileBudgetOptions& options) {
  if (absl::Status status = CheckOptions(options.budget); !status.ok()) {
    return status;
  }
  const bool is_valid =
      options.size_ratio > 1 && options.size_ratio <= kMaxSizeRatio &&
      options.level_count > 0 && options.level_count <= kMaxTreeRuns;
  if (is_valid) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "size_ratio ", options.size_ratio, " must be above 1, at most ",
      kMaxSizeRatio, "; level_count ", options.level_count,
      " above 0, at most ", kMaxTreeRuns));
}

}  // namespace

double FilterMemory::BitsPerKeyOf(double key_count) const {
  if (!(key_count > 0)) return bits_per_key_;
  return std::min(bits_per_key_, 8 * bytes_ / key_count);
}

std::vector<double> AbsentAsks(absl::Span<const TreeRun> runs,
                               double missing_share) {
  const double all = KeyCount(runs);
  double older = all;
  std::vector<double> asks;
  asks.reserve(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    older -= static_cast<double>(runs[i].key_count);
    // Exactly 0 for the oldest run, despite rounding.
    const double found_later =
        i + 1 == runs.size() || all <= 0 ? 0 : std::max(0.0, older / all);
    asks.push_back(runs[i].absent_asks.value_or(
        missing_share + (1 - missing_share) * found_later));
  }
  return asks;
}

absl::StatusOr<FilterBudgetPlan> PlanFilterBudget(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const FilterBudgetOptions& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  if (absl::Status status = CheckRuns(runs); !status.ok()) return status;
  const double key_count = KeyCount(runs);
  const std::vector<double> asks = AbsentAsks(runs, MissingShare(options));
  FilterBudgetPlan plan;
  plan.runs.resize(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    plan.runs[i].absent_asks = asks[i];
    if (key_count == 0) continue;
    plan.runs[i].key_share = static_cast<double>(runs[i].key_count) / key_count;
  }
  const double budget = options.memory.BitsPerKeyOf(key_count);
  if (options.mode == BudgetMode::kFixed) {
    for (RunBudget& run : plan.runs) {
      if (run.key_share == 0) continue;
      run.setting = cost.ForBits(std::min(budget, options.max_bits_per_key));
      run.target_fpr = run.setting.fpr;
    }
  } else {
    plan.precision =
        Spender(cost, runs, budget, options.max_bits_per_key, &plan.runs)
            .Spend();
  }
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunBudget& run = plan.runs[i];
    if (run.key_share == 0) continue;
    plan.bits_per_key += run.key_share * run.setting.bits_per_key;
    plan.wasted_reads +=
        run.absent_asks * runs[i].block_miss_share * run.setting.fpr;
  }
  return plan;
}

absl::StatusOr<FilterBudgetPlan> PlanForWastedReads(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const FilterBudgetOptions& options, double wasted_reads) {
  const auto plan_of = [&](double bits_per_key) {
    FilterBudgetOptions with_memory = options;
    with_memory.memory = FilterMemory::BitsPerKey(bits_per_key);
    return PlanFilterBudget(cost, runs, with_memory);
  };
  double low = 0;
  double high = std::min(options.max_bits_per_key, cost.ForFpr(0).bits_per_key);
  absl::StatusOr<FilterBudgetPlan> best = plan_of(high);
  if (!best.ok()) return best;
  if (!(best->wasted_reads <= wasted_reads)) {
    return absl::OutOfRangeError(absl::StrCat(
        wasted_reads, " wasted reads of a get: the strongest filters of ",
        cost.name(), " waste ", best->wasted_reads));
  }
  constexpr int kHalvings = 30;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    absl::StatusOr<FilterBudgetPlan> plan = plan_of(middle);
    if (plan.ok() && plan->wasted_reads <= wasted_reads) {
      high = middle;
      best = std::move(plan);
    } else {
      low = middle;
    }
  }
  return best;
}

double TreeWaste::percent_of_optimum() const {
  if (wasted_reads <= least_wasted_reads) return 100;
  return 100 * least_wasted_reads / wasted_reads;
}

absl::StatusOr<TreeWaste> MeasureWaste(const FilterCost& cost,
                                       absl::Span<const RunFilters> runs,
                                       double missing_share) {
  absl::Status status = CheckShare("missing_share", missing_share, 0);
  if (!status.ok()) return status;
  std::vector<TreeRun> tree;
  for (const RunFilters& filters : runs) {
    status = CheckShare("fpr", filters.fpr, 0);
    if (!status.ok()) return status;
    if (!(filters.bits_per_key >= 0 && std::isfinite(filters.bits_per_key))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "bits_per_key ", filters.bits_per_key, " is not 0 or more"));
    }
    tree.push_back(filters.run);
  }
  status = CheckRuns(tree);
  if (!status.ok()) return status;
  const std::vector<double> asks = AbsentAsks(tree, missing_share);
  const double key_count = KeyCount(tree);
  TreeWaste waste;
  for (size_t i = 0; i < runs.size(); ++i) {
    TreeWaste::Run& run = waste.runs.emplace_back();
    run.absent_asks = asks[i];
    if (tree[i].key_count == 0) continue;
    run.key_share = static_cast<double>(tree[i].key_count) / key_count;
    run.wasted_reads = asks[i] * tree[i].block_miss_share * runs[i].fpr;
    waste.bits_per_key += run.key_share * runs[i].bits_per_key;
    waste.wasted_reads += run.wasted_reads;
  }
  // These also hold where gets miss less often than options can say.
  for (size_t i = 0; i < tree.size(); ++i) tree[i].absent_asks = asks[i];
  FilterBudgetOptions options;
  options.memory = FilterMemory::BitsPerKey(waste.bits_per_key);
  const absl::StatusOr<FilterBudgetPlan> plan =
      PlanFilterBudget(cost, tree, options);
  if (!plan.ok()) return plan.status();
  waste.least_wasted_reads = plan->wasted_reads;
  return waste;
}

absl::StatusOr<FileBudget> FileBudget::Create(
    const FilterCost& cost, const FileBudgetOptions& options) {
  if (absl::Status status = CheckFileOptions(options); !status.ok()) {
    return status;
  }
  FileBudget budget(cost, options);
  if (absl::Status status = budget.SetLive({}); !status.ok()) return status;
  return budget;
}

absl::Status FileBudget::SetLive(const LiveFilters& live) {
  const double key_count = static_cast<double>(live.key_count);
  FilterBudgetOptions options = options_.budget;
  if (live.missing_share.has_value()) {
    absl::Status status = CheckShare("missing_share", *live.missing_share, 0);
    if (!status.ok()) return status;
    options.missing_share =
        std::max(*live.missing_share, FilterBudgetOptions::kMinMissingShare);
  }
  if (live.moved_share.has_value()) {
    absl::Status status = CheckShare("moved_share", *live.moved_share, 0);
    if (!status.ok()) return status;
  }
  const double missing_share = options.missing_share;
  const double bits_per_key = std::min(options.memory.BitsPerKeyOf(key_count),
                                       options.max_bits_per_key);
  options.memory = FilterMemory::BitsPerKey(bits_per_key);
  absl::StatusOr<FilterBudgetPlan> plan =
      PlanFilterBudget(cost_, live.runs, options);
  // If no live run may have a filter, they say nothing about future ones.
  if (plan.ok() && plan->bits_per_key == 0) {
    plan = PlanFilterBudget(
        cost_, LeveledRuns(options_.size_ratio, options_.level_count), options);
  }
  if (!plan.ok()) return plan.status();
  options_.budget.missing_share = missing_share;
  bits_per_key_ = bits_per_key;
  precision_ = plan->precision;
  oldest_share_ = OldestShare(plan->runs);
  knows_moves_ = live.moved_share.has_value();
  extra_bits_ = kMaxExtraBits;
  constexpr double kMaxExcess = 0.03;
  const double most_over = kMaxExcess * bits_per_key;
  if (extra_bits_ * live.moved_share.value_or(0) > most_over) {
    extra_bits_ = most_over / *live.moved_share;
  }
  if (live.key_count == 0) return absl::OkStatus();
  // Small filters take a little more than planned.
  constexpr double kOfPlan = 1.01;
  const double live_bits =
      (8 * static_cast<double>(live.filter_bytes) +
       kOfPlan * bits_per_key * static_cast<double>(live.written_key_count)) /
      key_count;
  constexpr double kControlLimit = 2;
  precision_ += std::clamp(kControlGain * (bits_per_key - live_bits),
                           -kControlLimit, kControlLimit);
  return absl::OkStatus();
}

double FileBudget::MaxBitsPerKey(bool is_flush) const {
  const double max_bits = options_.budget.max_bits_per_key;
  if (options_.budget.mode == BudgetMode::kFixed) return bits_per_key_;
  if (options_.budget.mode == BudgetMode::kHitsOnly) return max_bits;
  double most = bits_per_key_ + extra_bits_;
  constexpr double kFlushRatio = 1.02;
  if (is_flush && !knows_moves_) {
    most = std::min(most, kFlushRatio * bits_per_key_);
  }
  return std::min(max_bits, most);
}

double FileBudget::NewerRunShare(const FileFacts& facts) const {
  if (IsKnown(facts.run_share)) return std::min(*facts.run_share, 1.0);
  const uint32_t level = facts.level.value_or(0);
  uint32_t level_count = facts.level_count.value_or(options_.level_count);
  // A flush is not all of the tree even if no level is known yet.
  if (facts.is_flush) level_count = std::max(level_count, options_.level_count);
  const uint32_t deepest = std::max<uint32_t>(level_count, 1) - 1;
  const uint32_t levels_below = deepest - std::min(level, deepest);
  return (1 - 1 / options_.size_ratio) *
         std::pow(options_.size_ratio, -static_cast<double>(levels_below));
}

FilterSetting FileBudget::ForFile(const FileFacts& facts) const {
  if (options_.budget.mode == BudgetMode::kFixed) {
    return cost_.ForBits(bits_per_key_);
  }
  const bool is_known =
      facts.is_flush || facts.level.has_value() || IsKnown(facts.run_share);
  double share = oldest_share_;
  double found = 1;  // The share of all present keys that are in this or newer
                     // runs.
  if (is_known && !facts.is_bottommost) {
    share = NewerRunShare(facts);
    // Each newer run is smaller by the size ratio.
    found = std::min(1.0, share / (1 - 1 / options_.size_ratio));
  }
  const double missing_share = MissingShare(options_.budget);
  const double asks = missing_share + (1 - missing_share) * (1 - found);
  return SettingFor(cost_, TargetFpr(share, asks, precision_),
                    MaxBitsPerKey(facts.is_flush));
}

}  // namespace rowbloom
