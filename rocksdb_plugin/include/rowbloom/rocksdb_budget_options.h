// SPDX-License-Identifier: Apache-2.0
//
// The options of a budget that native mode (rocksdb.h) and composed mode
// (rocksdb_composed.h) share. As options strings they have the names of the
// fields.
//
//   rowbloom::RocksDbComposedOptions options;
//   options.auto_bits = true;
//   options.budget_bytes = 64 << 20;  // At most.
//   options.missing_share = 0.9;

#ifndef ROWBLOOM_ROCKSDB_BUDGET_OPTIONS_H_
#define ROWBLOOM_ROCKSDB_BUDGET_OPTIONS_H_

#include <cstdint>

#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

struct RocksDbBudgetOptions {
  // Chooses the average bits by what gets do: "rowbloom:auto" and
  // "rowbloom.Composed:auto". Where filters and indexes are partitioned and in
  // the block cache with the data, SSTs get the bits at which get_cost.h
  // expects the fewest reads in that cache, with the share of absent keys and
  // the reads that DBOptions::statistics has counted. Elsewhere filters
  // take no room from the data, and have the budget's average. A new plan must
  // be 1% cheaper; a line in the LOG says what it is and what it was made from.
  // Until gets are counted, also after an open, SSTs get the average of the
  // live filters. Needs a listener; without statistics it plans for
  // missing_share.
  bool auto_bits = false;
  // Limits of the average with auto_bits, 0 to 24: for gets that change sooner
  // than compactions write new filters. budget_bytes goes before
  // min_bits_per_key.
  double min_bits_per_key = 0;
  double max_bits_per_key = 24;
  // The limit for all filters of a column family, which needs a listener. New
  // SSTs get their bits as if all filters had that average. SSTs that are only
  // moved or ingested keep their filters, so a tree that is only appended to
  // exceeds the limit. 0: no limit.
  uint64_t budget_bytes = 0;
  // Share of gets whose key is nowhere (FilterBudgetOptions): 0.01 to 1.
  double missing_share = 0.5;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_BUDGET_OPTIONS_H_
