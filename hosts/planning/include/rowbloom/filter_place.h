// SPDX-License-Identifier: Apache-2.0
//
// Where the filters and indexes of a RocksDB tree should live: the cost of a
// get with the same filters in each place, at the same memory.
//
//   GetCostOptions options;
//   options.cache_bytes = uint64_t{4} << 30;  // For cache, filters, indexes.
//   auto places = CompareFilterPlaces(runs, filters, options);
//   const FilterPlaceCost& best = CheapestPlace(*places);
//   FilterPlaceOptions(best.place);  // "partition_filters=false;..."
//
// Counts are for each get; sizes are bytes. Values and arithmetic: any thread.

#ifndef ROWBLOOM_FILTER_PLACE_H_
#define ROWBLOOM_FILTER_PLACE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/get_cost.h"

namespace ROWBLOOM_EXPORT rowbloom {

// "table readers", "pinned partitions", "cached partitions".
std::string_view FilterPlaceName(FilterPlace place);

struct FilterPlaceCost {
  FilterPlace place = FilterPlace::kCachedPartitions;
  // False if filters and indexes take more than the memory: the process would
  // exceed it, or cache no data.
  bool fits = true;
  // The block cache's part of the memory, pinned partitions included.
  uint64_t block_cache_bytes = 0;
  GetCost cost;
  // Instructions of a get, without those of the kernel, as counted in RocksDB
  // 7.8 (bench/README.md, reads_bench places). 5000 take a microsecond of the
  // cost.
  double instructions = 0;
};

// The places in the order of FilterPlace. The memory is options.cache_bytes.
// Ignores options.place and its CPU times. Errors are those of
// ExpectedGetCost().
absl::StatusOr<std::vector<FilterPlaceCost>> CompareFilterPlaces(
    absl::Span<const TreeRun> runs, absl::Span<const FilterSetting> filters,
    const GetCostOptions& options);

// The place of the fewest microseconds, of those that fit. `places` are those
// of CompareFilterPlaces().
const FilterPlaceCost& CheapestPlace(absl::Span<const FilterPlaceCost> places);

// The options of RocksDB's block based table for this place, without its block
// cache. Existing SSTs keep their partitions until they are compacted.
std::string FilterPlaceOptions(FilterPlace place);

}  // namespace rowbloom

#endif  // ROWBLOOM_FILTER_PLACE_H_
