// SPDX-License-Identifier: Apache-2.0
//
// Chooses the SSTs whose filters are furthest from what the policy would write.
//
//   BudgetTeller teller(db, column_family);
//   auto plan = PlanRefresh(db, column_family, options, &teller);
//   for (const PlannedSst& sst : plan->ssts) Rewrite(sst);

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_REFRESH_REFRESH_PLAN_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_REFRESH_REFRESH_PLAN_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "budget/live_tree.h"
#include "rdb.h"
#include "refresh/budget_teller.h"
#include "rocksdb/db.h"
#include "rowbloom/rocksdb_refresh.h"

namespace rowbloom::plugin {

struct RefreshPlan {
  RocksDbRefreshReport report;
  // The planned ones among report.files, which are first.
  std::vector<std::pair<uint64_t, LiveFile>> ssts;
};

// Leaves `teller` with the filters of this plan. Errors as of
// RefreshRocksDbFilters().
absl::StatusOr<RefreshPlan> PlanRefresh(rdb::DB* db,
                                        rdb::ColumnFamilyHandle* column_family,
                                        const RocksDbRefreshOptions& refresh,
                                        BudgetTeller* teller);

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_REFRESH_REFRESH_PLAN_H_
