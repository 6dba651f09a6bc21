// SPDX-License-Identifier: Apache-2.0
//
// Filter memory of a whole LSM tree, spent where it saves most reads: from a
// budget and the shape of the tree to a rate and bits per key for each run, or
// for each SST when it is written.
//
//   FilterCost cost = *FilterCost::OfFamily("compact");
//   FilterBudgetOptions options;                   // 10 bits per key
//   auto plan = PlanFilterBudget(cost, {{1000}, {10000}, {100000}}, options);
//   plan->runs[0].setting.bits_per_key;            // 17.2: the newest run
//   plan->wasted_reads;                            // of a get, expected
//
// A run is what a get asks once: a level of a leveled tree, an SST of level 0.
// With s the share of keys in a run, q that of gets which ask it for a key that
// is not there, and m that of data blocks which are not in a cache, a get
// wastes the sum of q m fpr of reads. Where memory is in proportion to
// log2(1 / fpr), that is least for
//
//   fpr = min(1, s / (q m) / 2^precision)
//
// with the one `precision` that spends the budget (docs/memory_budget.md has
// the derivation). Rates are turned into bits by a FilterCost; none of them is
// quite in proportion, which costs about 1% of the optimum.
//
// Arithmetic only: no I/O, no clock, no chance. Values: any thread, one at a
// time.

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
  // The lesser of this and so many bytes.
  FilterMemory AtMostBytes(uint64_t bytes) const {
    return FilterMemory(bits_per_key_,
                        std::min(bytes_, static_cast<double>(bytes)));
  }

  // With so many keys in the tree. Bytes for no keys are infinitely many.
  double BitsPerKeyOf(double key_count) const;

 private:
  FilterMemory(double bits_per_key, double bytes)
      : bits_per_key_(bits_per_key), bytes_(bytes) {}

  double bits_per_key_;
  double bytes_;
};

enum class BudgetMode : uint8_t {
  // Spends the budget where it saves most reads, of hits and of misses.
  kBalanced,
  // The same, if no get ever misses: the oldest run has no filter. A get of an
  // absent key then always reads a data block of it. Never chosen by itself.
  kHitsOnly,
  // The same bits per key everywhere.
  kFixed,
};

struct FilterBudgetOptions {
  FilterMemory memory = FilterMemory::BitsPerKey(10);
  BudgetMode mode = BudgetMode::kBalanced;
  // Share of gets whose key is nowhere in the tree. The others find theirs in
  // each run in proportion to its keys. If in doubt 0.5: where all gets miss it
  // wastes about 1% more reads than the right one. kBalanced: at least
  // kMinMissingShare; kHitsOnly takes it for 0.
  double missing_share = 0.5;
  static constexpr double kMinMissingShare = 0.01;
  // No filter takes more.
  double max_bits_per_key = 24;
};

struct TreeRun {
  uint64_t key_count = 0;
  // m: of the data blocks that gets ask of this run, the share that is read
  // from storage. 0 to 1.
  double block_miss_share = 1;
  // q, if known: 0 to 1. Otherwise it follows from missing_share.
  std::optional<double> absent_asks = std::nullopt;
};

struct RunBudget {
  double key_share = 0;    // s
  double absent_asks = 0;  // q
  double target_fpr = 1;   // By the formula; of kFixed, the setting's.
  FilterSetting setting;   // What comes nearest.
};

struct FilterBudgetPlan {
  std::vector<RunBudget> runs;  // As given.
  double bits_per_key = 0;      // Of all keys, expected.
  double wasted_reads = 0;      // Of a get, expected.
  // That of the formula. Not for kFixed.
  double precision = 0;
};

// `runs`: the newest first. InvalidArgument for values out of range.
// Runs without keys have no filter. All the budget is spent, but for what
// neither a gap in the cost nor max_bits_per_key lets be spent.
absl::StatusOr<FilterBudgetPlan> PlanFilterBudget(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const FilterBudgetOptions& options);

// The plan with the fewest bits per key that wastes at most so many reads of a
// get: what memory a goal takes. options.memory is not looked at. OutOfRange if
// filters of max_bits_per_key waste more.
absl::StatusOr<FilterBudgetPlan> PlanForWastedReads(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const FilterBudgetOptions& options, double wasted_reads);

// q of each run, the newest first: z + (1 - z) (1 - share of keys in this and
// newer runs), z = missing_share.
std::vector<double> AbsentAsks(absl::Span<const TreeRun> runs,
                               double missing_share);

// Filters that are there, of one run.
struct RunFilters {
  TreeRun run;
  double bits_per_key = 0;
  double fpr = 1;  // Mean over the keys of its SSTs; 1 without filters.
};

// What gets waste with them, beside the least of the same memory.
struct TreeWaste {
  struct Run {
    double key_share = 0;
    double absent_asks = 0;
    double wasted_reads = 0;  // Of a get, expected.
  };
  std::vector<Run> runs;  // As given.
  double bits_per_key = 0;
  double wasted_reads = 0;
  // With filters of `cost`, spread by PlanFilterBudget().
  double least_wasted_reads = 0;

  // 100 where nothing is wasted, and where the plan is the worse by a little.
  double percent_of_optimum() const;
};

// `runs`: the newest first. InvalidArgument for values out of range.
//
//   auto waste = MeasureWaste(cost, {{{1000}, 17, 0.00001}, ...}, 0.5);
//   waste->percent_of_optimum();
absl::StatusOr<TreeWaste> MeasureWaste(const FilterCost& cost,
                                       absl::Span<const RunFilters> runs,
                                       double missing_share);

// What the builder's host knows of an SST before it is written. What it does
// not know it leaves as it is here.
struct FileFacts {
  bool is_flush = false;
  // No older version of any of its keys lies deeper.
  bool is_bottommost = false;
  // Where it will be; 0 is the newest.
  std::optional<uint32_t> level;
  // One more than the deepest level that has SSTs; if that is not known, than
  // the deepest that SSTs were written to. Not the levels there could be.
  std::optional<uint32_t> level_count;
  // Of all keys of the tree, those in the run that it will be part of.
  std::optional<double> run_share;
};

struct FileBudgetOptions {
  FilterBudgetOptions budget;
  // The tree that is assumed where nothing better is known: leveled, each level
  // so many times the one above. Of a tiered tree the runs of a level, of a
  // universal tree 2.
  double size_ratio = 10;
  uint32_t level_count = 4;
  // An SST may become part of the oldest run as it is, by a move. Therefore one
  // takes at most so many bits per key more than the budget has on average, and
  // those of flushes, where few others are, so many times that average:
  // above 1. While live filters are within the budget, flushes are held to the
  // former; where nothing is known of live filters, to the latter. Only in
  // kBalanced: the small budgets of kHitsOnly leave no room for moves.
  double max_extra_bits = 6;
  double flush_ratio = 1.3;
  // Control of the total: bits of precision for each bit per key that live
  // filters are below the budget, and how far it goes either way.
  double control_gain = 0.5;
  double control_limit = 2;
};

// What is live in the tree, for control. Only what the host knows.
struct LiveFilters {
  uint64_t key_count = 0;
  uint64_t filter_bytes = 0;
  // The newest first; empty if not known.
  std::vector<TreeRun> runs;
};

// The same for SSTs one by one, when they are written. An SST counts for the
// run that it will be part of: the oldest if it is bottommost or nothing is
// known of it, else by run_share, else by its level. Bottommost comes first
// since a move changes levels, and leaves that as it is. The oldest run is
// taken to be as large as the largest that is live.
//
//   auto budget = FileBudget::Create(cost, options);
//   budget->SetLive(live);                     // Whenever the tree changed.
//   FilterSetting setting = budget->ForFile(facts);
class FileBudget {
 public:
  static absl::StatusOr<FileBudget> Create(const FilterCost& cost,
                                           const FileBudgetOptions& options);

  // InvalidArgument for runs out of range, and then nothing changes.
  absl::Status SetLive(const LiveFilters& live);

  FilterSetting ForFile(const FileFacts& facts) const;
  // No SST of a flush, or of another kind, gets more now.
  double MaxBitsPerKey(bool is_flush) const;

  // The formula's, corrected by control.
  double precision() const { return precision_; }

 private:
  FileBudget(const FilterCost& cost, const FileBudgetOptions& options)
      : cost_(cost), options_(options) {}

  double NewerRunShare(const FileFacts& facts) const;

  FilterCost cost_;
  FileBudgetOptions options_;
  double bits_per_key_ = 0;
  std::optional<double> live_bits_per_key_;
  double precision_ = 0;
  double oldest_share_ = 1;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_BUDGET_H_
