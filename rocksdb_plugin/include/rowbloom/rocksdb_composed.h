// SPDX-License-Identifier: Apache-2.0
//
// Composed mode: RocksDB's own filters, with bits for each SST from one budget
// for the tree. It needs RocksDB's public API alone.
//
//   rowbloom::RocksDbComposedOptions o;              // 10 bits per key, Ribbon
//   o.bits_per_key = 8;
//   table_options.filter_policy = rowbloom::NewRocksDbComposedPolicy(o);
//
// Or from an options string, after RegisterRocksDb():
//   filter_policy={id=rowbloom.Composed;bits_per_key=8;filter=bloom}
//
// With the listener of rocksdb_budget.h, SSTs of the oldest run, which hold
// most keys, get somewhat less than the budget, and newer ones more, since each
// run costs a get the same read (filter_budget.h). Without it all get the same.
//
// The filters are RocksDB's, under its own CompatibilityName: RocksDB without
// rowbloom reads them, and this policy reads RocksDB's. Immutable and
// thread-safe.

#ifndef ROWBLOOM_ROCKSDB_COMPOSED_H_
#define ROWBLOOM_ROCKSDB_COMPOSED_H_

#include <cstdint>
#include <memory>

#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/rocksdb_budget_options.h"

namespace ROCKSDB_NAMESPACE {
class FilterPolicy;
}  // namespace ROCKSDB_NAMESPACE

namespace ROWBLOOM_EXPORT rowbloom {

enum class RocksDbFilter : uint8_t {
  kBloom,
  // 30% smaller at the same rate; slower to build, and with more memory during
  // the build.
  kRibbon,
};

struct RocksDbComposedOptions : RocksDbBudgetOptions {
  // Filter memory for each key of the tree: above 0, at most 24. FileBudget has
  // the limits for one SST.
  double bits_per_key = 10;
  RocksDbFilter filter = RocksDbFilter::kRibbon;
  // kHitsOnly: no filter at the bottom, for gets that never miss. kFixed: the
  // same bits everywhere.
  BudgetMode budget = BudgetMode::kBalanced;
};

// nullptr if the options are invalid, or the loaded RocksDB is of another
// release than rowbloom was compiled for (rocksdb.h); *error, if given, says
// why.
std::shared_ptr<const ROCKSDB_NAMESPACE::FilterPolicy> NewRocksDbComposedPolicy(
    const RocksDbComposedOptions& options,
    ROCKSDB_NAMESPACE::Status* error = nullptr);

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_COMPOSED_H_
