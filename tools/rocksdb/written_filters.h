// SPDX-License-Identifier: Apache-2.0
//
// The sizes of the filters that a policy writes, of which a plan knows the
// bits of large filters only: a partition has few keys, and bytes of its own.
//
//   auto settings = WrittenFilters(FilterWriter::kCompact, tree, plan, get);
//   settings->front().bits_per_key;  // What the newest run takes.

#ifndef ROWBLOOM_TOOLS_ROCKSDB_WRITTEN_FILTERS_H_
#define ROWBLOOM_TOOLS_ROCKSDB_WRITTEN_FILTERS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/get_cost.h"
#include "tools/rocksdb/tree.h"

namespace rowbloom::tools {

// rowbloom's own policy, or composed mode with RocksDB's Ribbon filters.
enum class FilterWriter { kCompact, kComposedRibbon };

// The filters of each run of the tree, in its order, if the policy has the
// budget of `plan`, for the gets `get`. bits_per_key has all bytes of a filter:
// its descriptor and its entry in the index over partitions included. A
// balanced budget is taken to have settled, with a listener.
absl::StatusOr<std::vector<FilterSetting>> WrittenFilters(
    FilterWriter writer, const RocksDbTree& tree, const TotalMemoryPlan& plan,
    const GetCostOptions& get);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_ROCKSDB_WRITTEN_FILTERS_H_
