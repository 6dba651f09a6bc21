// SPDX-License-Identifier: Apache-2.0
//
// Spends the filter memory of a whole LSM tree where it saves the most reads:
// turns a budget and the shape of the tree into a rate and bits per key for
// each run, or for each SST when it is written.
//
//   FilterCost cost = *FilterCost::OfFamily("compact");
//   FilterBudgetOptions options;                   // 10 bits per key
//   auto plan = PlanFilterBudget(cost, {{1000}, {10000}, {100000}}, options);
//   plan->runs[0].setting.bits_per_key;            // 17.2: the newest run
//   plan->wasted_reads;                            // of a get, expected
//
// A run is what a get asks once: a level of a leveled tree, an SST of level 0.
// With s the share of keys in a run, q the share of gets that ask it for a key
// that it does not have, and m the share of its data blocks that are not in a
// cache, a get wastes the sum of q m fpr reads. If memory is proportional to
// log2(1 / fpr), the waste is least for
//
//   fpr = min(1, s / (q m) / 2^precision)
//
// with the one `precision` that spends the budget (docs/memory_budget.md has
// the derivation). A FilterCost turns rates into bits. No real filter is
// exactly proportional, which costs up to 3% of the optimum.
//
// Arithmetic only: no I/O, no clock, no randomness. Values: any thread, one at
// a time.

#ifndef ROWBLOOM_FILTER_BUDGET_H_
#define ROWBLOOM_FILTER_BUDGET_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_cost.h"

namespace ROWBLOOM_EXPORT rowbloom {

// Memory for all filters of a tree.
class FilterMemory {
 public:
  static FilterMemory BitsPerKey(double bits_per_key) {
    return FilterMemory(bits_per_key, std::numeric_limits<double>::infinity());
  }
  static FilterMemory Bytes(uint64_t bytes) {
    return BitsPerKey(std::numeric_limits<double>::infinity())
        .AtMostBytes(bytes);
  }
  // The smaller of this memory and this number of bytes.
  FilterMemory AtMostBytes(uint64_t bytes) const {
    return FilterMemory(bits_per_key_,
                        std::min(bytes_, static_cast<double>(bytes)));
  }

  // In a tree of key_count keys. Bytes for no keys are infinitely many.
  double BitsPerKeyOf(double key_count) const;

 private:
  FilterMemory(double bits_per_key, double bytes)
      : bits_per_key_(bits_per_key), bytes_(bytes) {}

  double bits_per_key_;
  double bytes_;
};

enum class BudgetMode : uint8_t {
  // Spends the budget where it saves the most reads, of hits and of misses.
  kBalanced,
  // Assumes that no get misses: the oldest run has no filter. A get of an
  // absent key then always reads a data block of it. The library never chooses
  // this mode.
  kHitsOnly,
  // The same bits per key everywhere.
  kFixed,
};

struct FilterBudgetOptions {
  FilterMemory memory = FilterMemory::BitsPerKey(10);
  BudgetMode mode = BudgetMode::kBalanced;
  // Share of gets whose key is nowhere in the tree. The others find their key
  // in a run in proportion to its keys. If in doubt use 0.5: in a tree where
  // all gets miss, it wastes 1.4% more reads than the right value.
  // kBalanced takes kMinMissingShare to 1; kHitsOnly uses 0.
  double missing_share = 0.5;
  static constexpr double kMinMissingShare = 0.01;
  // The limit for each filter.
  double max_bits_per_key = 24;
};

struct TreeRun {
  uint64_t key_count = 0;
  // m: the share of the data blocks requested from this run that are read from
  // storage. 0 to 1.
  double block_miss_share = 1;
  // q, if known: 0 to 1. Otherwise it follows from missing_share.
  std::optional<double> absent_asks = std::nullopt;
};

struct RunBudget {
  double key_share = 0;    // s
  double absent_asks = 0;  // q
  double target_fpr = 1;   // By the formula; for kFixed, setting.fpr.
  FilterSetting setting;   // The nearest setting.
};

struct FilterBudgetPlan {
  std::vector<RunBudget> runs;  // In the order of the argument.
  double bits_per_key = 0;      // Expected for all keys.
  double wasted_reads = 0;      // Expected for each get.
  // The formula's; 0 for kFixed.
  double precision = 0;
};

// `runs`: the newest first. InvalidArgument for values out of range. Runs
// without keys have no filter. Spends all of the budget, except what a gap in
// the cost curve or max_bits_per_key leaves over.
absl::StatusOr<FilterBudgetPlan> PlanFilterBudget(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const FilterBudgetOptions& options);

// The plan with the fewest bits per key that wastes at most `wasted_reads`
// reads per get: the memory that a goal takes. Ignores options.memory.
// OutOfRange if filters of max_bits_per_key waste more.
absl::StatusOr<FilterBudgetPlan> PlanForWastedReads(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const FilterBudgetOptions& options, double wasted_reads);

// q of each run, the newest first: z + (1 - z) (1 - share of keys in this and
// newer runs), with z = missing_share.
std::vector<double> AbsentAsks(absl::Span<const TreeRun> runs,
                               double missing_share);

// The existing filters of one run.
struct RunFilters {
  TreeRun run;
  double bits_per_key = 0;
  double fpr = 1;  // Mean over the keys of its SSTs; 1 without filters.
};

// The reads that gets waste with existing filters, and the least waste that the
// same memory allows.
struct TreeWaste {
  struct Run {
    double key_share = 0;
    double absent_asks = 0;
    double wasted_reads = 0;  // Expected for each get.
  };
  std::vector<Run> runs;  // In the order of the argument.
  double bits_per_key = 0;
  double wasted_reads = 0;
  // With filters of `cost`, spread by PlanFilterBudget().
  double least_wasted_reads = 0;

  // 100 if nothing is wasted, and if these filters are slightly better than the
  // plan.
  double percent_of_optimum() const;
};

// `runs`: the newest first. InvalidArgument for values out of range.
//
//   auto waste = MeasureWaste(cost, {{{1000}, 17, 0.00001}, ...}, 0.5);
//   waste->percent_of_optimum();
absl::StatusOr<TreeWaste> MeasureWaste(const FilterCost& cost,
                                       absl::Span<const RunFilters> runs,
                                       double missing_share);

// The facts that the builder's host knows about an SST before it is written.
// The host leaves the others at their defaults.
struct FileFacts {
  bool is_flush = false;
  // No deeper level holds an older version of any of its keys.
  bool is_bottommost = false;
  // The level that it is written to; 0 is the newest.
  std::optional<uint32_t> level = std::nullopt;
  // One more than the deepest level that has SSTs; if that is not known, than
  // the deepest level that SSTs were written to. Not the number of configured
  // levels.
  std::optional<uint32_t> level_count = std::nullopt;
  // The share of the tree's keys that are in the run this SST becomes part of:
  // above 0, or it is not known.
  std::optional<double> run_share = std::nullopt;
};

inline constexpr double kMaxSizeRatio = 1e6;
inline constexpr uint32_t kMaxTreeRuns = 10000;

struct FileBudgetOptions {
  FilterBudgetOptions budget;
  // The tree that is assumed where nothing better is known: leveled, each level
  // size_ratio times as large as the one above. For a tiered tree use the
  // number of runs in a level, for a universal tree 2.
  double size_ratio = 10;
  uint32_t level_count = 4;
};

// The live filters of the tree, for control, as far as the host knows them.
struct LiveFilters {
  uint64_t key_count = 0;
  uint64_t filter_bytes = 0;
  std::vector<TreeRun> runs = {};  // The newest first; empty if not known.
  // The share of the keys that enter the oldest run with the SST they were in,
  // which keeps its filter; 0 for a host that always rewrites.
  std::optional<double> moved_share = std::nullopt;
  // The share of gets whose key is nowhere, as counted; it replaces that of the
  // options.
  std::optional<double> missing_share = std::nullopt;
  // Keys of key_count whose filters are not in filter_bytes, because SSTs are
  // written that will replace them: they count with the budget's average.
  uint64_t written_key_count = 0;
};

// Gives each SST its setting when it is written. An SST counts for the run that
// it will be part of: the oldest if it is bottommost or nothing is known of it,
// else by run_share, else by its level. Bottommost comes first since a move
// changes levels but not that. The oldest run is assumed to be as large as the
// largest live run.
//
//   auto budget = FileBudget::Create(cost, options);
//   budget->SetLive(live);                     // Whenever the tree changed.
//   FilterSetting setting = budget->ForFile(facts);
class FileBudget {
 public:
  // A move may make an SST part of the oldest run without rewriting it.
  // Therefore an SST takes at most kMaxExtraBits bits per key more than the
  // budget's average, and only so many that moves exceed the budget by 3%. If
  // LiveFilters::moved_share is unset, an SST of a flush takes at most 1.02
  // times the average. Only in kBalanced: the small budgets of kHitsOnly leave
  // no room for moves.
  static constexpr double kMaxExtraBits = 6;
  // Control of the total: for each bit per key by which live filters are below
  // the budget so many bits of precision, at most 2 in both directions.
  static constexpr double kControlGain = 0.5;

  static absl::StatusOr<FileBudget> Create(const FilterCost& cost,
                                           const FileBudgetOptions& options);

  // InvalidArgument for values out of range; nothing changes then.
  absl::Status SetLive(const LiveFilters& live);

  FilterSetting ForFile(const FileFacts& facts) const;

  // The formula's, corrected by control.
  double precision() const { return precision_; }

 private:
  FileBudget(const FilterCost& cost, const FileBudgetOptions& options)
      : cost_(cost), options_(options) {}

  // The limit for an SST of a flush, or for any other SST.
  double MaxBitsPerKey(bool is_flush) const;
  double NewerRunShare(const FileFacts& facts) const;

  FilterCost cost_;
  FileBudgetOptions options_;
  double bits_per_key_ = 0;
  bool knows_moves_ = false;
  double extra_bits_ = 0;  // Above the average, of an SST that may be moved.
  double precision_ = 0;
  double oldest_share_ = 1;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_BUDGET_H_
