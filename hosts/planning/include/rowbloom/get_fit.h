// SPDX-License-Identifier: Apache-2.0
//
// The workload that explains counted reads: how popular keys are, what scans
// put into the cache, and how much of the cache gets have. Where it is fitted,
// the model of get_cost.h expects the reads that were counted.
//
//   GetRates rates;                  // Counted while `filters` were live.
//   rates.filter_asks = 2.9;         // For each get, as all of them.
//   GetCostOptions options;          // The tree, its cache, missing_share.
//   absl::Status status = FitGets(runs, filters, rates, {}, &options);
//   PlanTotalMemory(cost, runs, {options});
//
// Arithmetic only; takes about as long as 40 calls of ExpectedGetCost(). Counts
// are for each get, sizes are bytes. Values: any thread, one at a time.

#ifndef ROWBLOOM_GET_FIT_H_
#define ROWBLOOM_GET_FIT_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/get_cost.h"

namespace ROWBLOOM_EXPORT rowbloom {

// Counts, divided by the gets that asked SSTs.
struct GetRates {
  // Fewer gets than this tell little.
  static constexpr uint64_t kFewestGets = 500;

  double missing_share = 0;  // The gets that found nothing.
  // Filter partitions asked of the block cache, and those that it did not have.
  // 0 asks: filters are not in the cache, and only data tells of gets.
  double filter_asks = 0;
  double filter_reads = 0;
  // Data blocks, also those that scans and compactions ask for.
  double data_asks = 0;
  // Data blocks that entered the cache.
  double data_reads = 0;
  // Seeks of iterators, and the bytes of the entries that they returned.
  double seeks = 0;
  double scanned_bytes = 0;
  // SSTs that were written meanwhile, and the bytes of their filters: each is
  // read once because it is new.
  double new_ssts = 0;
  double new_filter_bytes = 0;
  // True if flushes put data blocks into the cache, which data_reads has.
  bool counts_flushed_blocks = false;
};

// Keys are popular as GetCostOptions has it, and gets have a part of its cache.
struct GetPopularity {
  double range_keys = 1;
  double zipf_exponent = 0;
  double cache_share = 1;  // 0 to 1; other databases have the rest.
};

// Sets the popularity of keys, cache_bytes, scan_seeks and scan_data_reads of
// `options`, whose cache_bytes are those of all databases. If `known` explains
// the counts, with the whole cache or its share of it, it is kept. Else gets
// have the whole cache and the skew that explains them: keys that are popular
// side by side make gets read few filters and much data. Ranges of the known
// size are tried first, then single keys. If even keys that are all asked for
// alike would read less, others have a part of the cache.
//
// `filters`: the mean settings of the runs while reads were counted.
// InvalidArgument as ExpectedGetCost(), and for rates below 0.
absl::Status FitGets(absl::Span<const TreeRun> runs,
                     absl::Span<const FilterSetting> filters,
                     const GetRates& rates, const GetPopularity& known,
                     GetCostOptions* options);

}  // namespace rowbloom

#endif  // ROWBLOOM_GET_FIT_H_
