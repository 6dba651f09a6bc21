// SPDX-License-Identifier: Apache-2.0
//
// The filters that make a get of a RocksDB database cheapest, by the model of
// get_cost.h.
//
//   auto candidates = CandidatesFor(tree, ModelOf(tree));
//   OptionText(Best(*candidates), missing_share, KeyLayoutOption(tree));
//   auto places = PlacesFor(tree, *candidates, ModelOf(tree));

#ifndef ROWBLOOM_TOOLS_ROCKSDB_ADVICE_H_
#define ROWBLOOM_TOOLS_ROCKSDB_ADVICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/filter_place.h"
#include "rowbloom/get_cost.h"
#include "tools/rocksdb/read_counts.h"
#include "tools/rocksdb/tree.h"
#include "tools/text/output.h"

namespace rowbloom::tools {

// Filters of all runs, and the gets that the model expects with them.
struct Candidate {
  std::string name;
  // As they are in the tables, in the order of the runs.
  std::vector<FilterSetting> settings;
  GetCost cost;
  BudgetMode mode = BudgetMode::kBalanced;  // The plan's.
  // Filters take the first; a policy that is asked for the second writes them.
  double bits_per_key = 0;
  double asked_bits_per_key = 0;
  double wasted_reads = 0;  // ExpectedWastedReads()

  Json Row() const;
};

// The sizes of blocks and entries are the tree's; the workload is the default.
GetCostOptions ModelOf(const RocksDbTree& tree);

// The memory of data, filters and indexes: options.cache_bytes, and what table
// readers hold beside that cache.
absl::StatusOr<uint64_t> MemoryOf(const RocksDbTree& tree,
                                  const GetCostOptions& options);

// Sets the popularity of keys and the blocks of scans in `options` to those
// that explain the reads that were counted with a block cache of this size.
// Returns false, and sets nothing, if the counts or the tree do not tell.
absl::StatusOr<bool> FitToCounts(const RocksDbTree& tree,
                                 const ReadCounts& counts,
                                 uint64_t block_cache_bytes,
                                 GetCostOptions* options);

// The filters that the tree has, then the best of each kind, if all share
// options.cache_bytes with the data.
absl::StatusOr<std::vector<Candidate>> CandidatesFor(
    const RocksDbTree& tree, const GetCostOptions& options);

// The cheapest one. One that is less than 2% cheaper than one before it does
// not count: the model is not as exact as that.
const Candidate& Best(const std::vector<Candidate>& candidates);

// The options of rowbloom's own policy that say which parts of a key its
// filters hold, as "key_codec=ordered;bloom_type=ROW": those of the newest
// filters that it wrote. Empty if it wrote none: the defaults are meant.
std::string KeyLayoutOption(const RocksDbTree& tree);

// The option of the block based table that gives new SSTs these filters; empty
// for the filters that the tree has. `key_layout` is a KeyLayoutOption().
std::string OptionText(const Candidate& best, double missing_share,
                       const std::string& key_layout);

// The DBOptions that the policy of OptionText() needs to hold its budget; empty
// if it needs none.
std::string ListenersText(const Candidate& best);

// Where filters may live, and what a get costs there.
struct PlaceAdvice {
  // Data, filters and indexes have it together.
  uint64_t memory_bytes = 0;
  std::vector<FilterPlaceCost> places;
  FilterPlace cheapest = FilterPlace::kCachedPartitions;
  // The table options of the cheapest place; empty if the filters are there, or
  // where a get is less than 2% more expensive.
  std::string option;

  Json Rows() const;
  // Sentences about the cheapest place.
  Json Notes() const;
};

// The places of the Best() candidate. `options` are those of CandidatesFor().
absl::StatusOr<PlaceAdvice> PlacesFor(const RocksDbTree& tree,
                                      const std::vector<Candidate>& candidates,
                                      const GetCostOptions& options);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_ROCKSDB_ADVICE_H_
