// SPDX-License-Identifier: Apache-2.0
//
// The expected reads and microseconds of a get where data blocks, index
// partitions and filter partitions share one block cache, and the bits per key
// that make a get cheapest.
//
//   TotalMemoryOptions options;
//   options.get.cache_bytes = uint64_t{4} << 30;
//   options.get.entry_bytes = 120;
//   auto plan = PlanTotalMemory(cost, *RunsOf(shape), options);
//   plan->filters.bits_per_key;                // What memory wants
//   plan->cost.total_us;                       // Of a get, expected
//
// The modeled engine is RocksDB with partitioned filters, partitioned indexes
// and cache_index_and_filter_blocks, or with its filters and indexes in another
// FilterPlace (filter_place.h compares them). A get asks the runs from the
// newest to the one that has its key: in each of them one filter partition and,
// if the filter says maybe, one index partition and one data block. Top-level
// indexes are pinned. A run without a filter asks for the index and the data
// only.
//
// A cached block stays until gets, and scans, have asked for other blocks for a
// time T, its life (H. Che, Y. Tung, Z. Wang, Hierarchical Web Caching Systems,
// 2002). A block that is asked for a times per get is cached with probability
//
//   1 - exp(-a T)
//
// and T follows from the capacity: the expected size of all cached blocks is
// the size of the cache. RocksDB's LRUCache has two lives, of its high-priority
// pool and of the rest (docs/memory_budget.md has the equations). How often a
// block is asked for follows from the popularity of its keys, 1 / rank^e, or of
// ranges of keys, at random places in the tree.
//
// Arithmetic only: no I/O, no clock, no randomness; PlanTotalMemory() takes
// 1 ms, for popular keys 10 ms. Microseconds are "us", sizes are
// bytes, and all counts are for each get. Values: any thread, one at a time.

#ifndef ROWBLOOM_GET_COST_H_
#define ROWBLOOM_GET_COST_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cost.h"

namespace ROWBLOOM_EXPORT rowbloom {

// Where RocksDB ends the partitions of an index and of a filter.
enum class PartitionCuts {
  // Both end where one of them is full, between two data blocks: RocksDB before
  // 9.6.
  kCoupled,
  // As kCoupled, but where the filter was full, a partition of a single data
  // block follows: RocksDB from 9.6 on.
  kCoupledTwice,
  // Each ends where it is full: decouple_partitioned_filters, RocksDB's default
  // from 10.6 on.
  kDecoupled,
};

// Where filters and indexes live.
enum class FilterPlace {
  // Whole, outside of the block cache: RocksDB's default.
  kTableReaders,
  // In partitions that never leave the block cache: partition_pinning kAll.
  kPinnedPartitions,
  // In partitions that compete with data blocks for the block cache.
  kCachedPartitions,
};

struct GetCostOptions {
  // The block cache, and the table readers' filters and indexes. 0: no block is
  // cached.
  uint64_t cache_bytes = uint64_t{1} << 30;
  FilterPlace place = FilterPlace::kCachedPartitions;
  // high_pri_pool_ratio of RocksDB's LRUCache, whose high-priority pool takes
  // index and filter partitions, and data blocks from their second use on.
  // 0: one LRU list for all blocks. 0 to 1.
  double high_priority_share = 0.5;
  // Key and value, in a data block as the cache has it: uncompressed.
  double entry_bytes = 120;
  // The key of an index entry, at most entry_bytes. RocksDB shortens it to what
  // separates two blocks: if keys differ in their first bytes, give that many.
  // The entry is longer: 2 bytes are lengths, its handle takes 6, its restart
  // point 4 (RocksDB's block_builder.cc, with index_block_restart_interval 1).
  double key_bytes = 20;
  static constexpr double kIndexEntryExtraBytes = 2 + 6 + 4;
  double data_block_bytes = 4096;
  // The size of an index partition; a filter partition has at most nine tenths
  // of it (RocksDB's block_size_deviation).
  double metadata_block_bytes = 4096;
  // The cache's own bytes for each block: its handle, its key, the object that
  // parses the block. RocksDB 7.8 takes about 180.
  double block_overhead_bytes = 180;
  PartitionCuts partition_cuts = PartitionCuts::kCoupled;
  // Share of gets whose key is nowhere in the tree. 0 to 1.
  double missing_share = 0.5;
  // The key of rank r is asked for in proportion to 1 / r^zipf_exponent. There
  // are as many absent keys as present ones, of the same popularity. 0: all
  // keys are asked for equally often. 0 to kMaxZipfExponent.
  double zipf_exponent = 0;
  static constexpr double kMaxZipfExponent = 4;
  // Keys side by side that are equally popular, absent ones among them: ranges
  // of that many have the ranks. The number of ranges is rounded. 1: popular
  // keys are anywhere, each on its own. 1 to 1e9.
  double range_keys = 1;
  // Seeks of scans, and the data blocks that these put into the cache, for each
  // get; scans that put none there do not count. A seek asks for an index
  // partition in each run; nobody asks for its data blocks again. No cost has
  // the reads of scans. 0 to 1e9.
  double scan_seeks = 0;
  double scan_data_reads = 0;

  // Read of one block from the device.
  double read_us = 100;
  // CPU time: a get without any block; a search in a filter partition, with its
  // lookup in the cache; a search in an index partition or data block, with its
  // lookup; and what a read adds: the system call, checksum, decompression and
  // insertion.
  double get_cpu_us = 1;
  double filter_cpu_us = 0.3;
  double search_cpu_us = 0.7;
  double read_cpu_us = 5;
};

// Sums over the SSTs of a RocksDB tree, by their table properties.
struct TableSums {
  double entry_count = 0;       // num_entries
  double key_count = 0;         // Filter keys.
  double raw_key_bytes = 0;     // raw_key_size
  double raw_value_bytes = 0;   // raw_value_size
  double data_block_count = 0;  // num_data_blocks; 0 if not known.
  double index_bytes = 0;       // index_size
};
// Sets entry_bytes and key_bytes to the means of these SSTs; changes nothing if
// there are no entries or no keys. The number of data blocks, of
// data_block_bytes each, shows how many bytes of keys shared prefixes save.
void SetEntrySizes(const TableSums& sums, GetCostOptions* options);

// The blocks of one kind.
struct BlockUse {
  double bytes = 0;  // The size of all blocks, block_overhead_bytes included.
  double asks = 0;   // How many of them a get asks the cache for, expected.
  double reads = 0;  // How many of those the cache does not have.
  // The probability that the cache does not have a block that is chosen
  // without regard to its popularity.
  double miss_share = 1;
  double block_count = 0;

  // 1 if no get asks.
  double hit_rate() const { return asks > 0 ? 1 - reads / asks : 1; }
};

struct RunGetCost {
  BlockUse data;
  BlockUse filter;
  BlockUse index;
};

struct GetCost {
  BlockUse data;
  BlockUse filter;
  BlockUse index;
  std::vector<RunGetCost> runs;  // In the order of the argument.
  // Filters and indexes that never leave memory. If they exceed cache_bytes, no
  // data is cached, and the memory is exceeded.
  double resident_bytes = 0;
  double cpu_us = 0;
  double total_us = 0;  // CPU and reads.

  double reads() const { return data.reads + filter.reads + index.reads; }
};

// `runs`: the newest first. `filters`: the setting of each run; 0 bits mean no
// filter. Uses key_count and absent_asks of a run; its block_miss_share follows
// from the cache. InvalidArgument for values out of range.
absl::StatusOr<GetCost> ExpectedGetCost(absl::Span<const TreeRun> runs,
                                        absl::Span<const FilterSetting> filters,
                                        const GetCostOptions& options);

struct TotalMemoryOptions {
  GetCostOptions get;
  // How bits are spread over the runs. kBalanced also tries kFixed, which reads
  // less where the cache holds a small part of the filters. kHitsOnly is for
  // gets that never miss.
  BudgetMode mode = BudgetMode::kBalanced;
  // The limits of the average, each within 0 to 100. A filter has at most
  // FilterBudgetOptions::max_bits_per_key.
  double min_bits_per_key = 0;
  double max_bits_per_key = 24;
  // How far apart the averages are that SweepTotalMemory() tries; in the end
  // PlanTotalMemory() tries some that are at most twice as far. At least
  // kMinStepBits.
  double step_bits = 0.25;
  static constexpr double kMinStepBits = 0.01;
};

struct TotalMemoryPlan {
  // How the bits are spread: kFixed or the mode of the options.
  BudgetMode mode = BudgetMode::kBalanced;
  // A run without a filter has 0 bits: no filter is a possible plan, too.
  // wasted_reads are the expected data reads in runs that do not have the key.
  FilterBudgetPlan filters;
  GetCost cost;
};

// The data reads of a get in runs that do not have its key: of false positives,
// and all of them where a run has no filter. `cost` is the ExpectedGetCost() of
// these runs, filters and options.
double ExpectedWastedReads(absl::Span<const TreeRun> runs,
                           absl::Span<const FilterSetting> filters,
                           double missing_share, const GetCost& cost);

// The plan for a given memory of filters; it ignores the limits and the step.
// PlanFilterBudget() spreads it by the price of a false positive in each run:
// the CPU time, and the reads that the cache does not save.
absl::StatusOr<TotalMemoryPlan> PlanFilterMemory(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const TotalMemoryOptions& options, FilterMemory memory);

// Plans of min_bits_per_key, min_bits_per_key + step_bits, ... up to
// max_bits_per_key.
absl::StatusOr<std::vector<TotalMemoryPlan>> SweepTotalMemory(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const TotalMemoryOptions& options);

// The plan with the fewest bits of those whose microseconds are at most 0.1%
// more than the fewest. `sweep` is not empty; its memory rises.
const TotalMemoryPlan& CheapestPlan(absl::Span<const TotalMemoryPlan> sweep);

// A plan nearly as cheap as the CheapestPlan() of SweepTotalMemory(), of far
// fewer plans: averages that are half a bit apart, or a quarter of themselves,
// and then, around the cheapest of them and below it, others in steps of half
// the size.
absl::StatusOr<TotalMemoryPlan> PlanTotalMemory(
    const FilterCost& cost, absl::Span<const TreeRun> runs,
    const TotalMemoryOptions& options);

}  // namespace rowbloom

#endif  // ROWBLOOM_GET_COST_H_
