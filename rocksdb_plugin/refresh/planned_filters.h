// SPDX-License-Identifier: Apache-2.0
//
// The filter that the policy of a column family would give each of its SSTs, if
// RocksDB wrote it again at its level.
//
//   BudgetTeller teller(db, column_family);
//   const auto planned =
//       PlanFilters({*db, options, listed, files, keys, cost}, &teller);
//   planned.at(number).bits_per_key;

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_REFRESH_PLANNED_FILTERS_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_REFRESH_PLANNED_FILTERS_H_

#include <cstdint>
#include <map>

#include "budget/live_tree.h"
#include "rdb.h"
#include "refresh/budget_teller.h"
#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rowbloom/filter_cost.h"

namespace rowbloom::plugin {

struct TreeToPlan {
  const rdb::DB& db;
  const rdb::Options& options;  // Its table is block based, with a policy.
  const rdb::ColumnFamilyMetaData& listed;
  const LiveFiles& files;                    // The listed ones.
  const std::map<uint64_t, uint64_t>& keys;  // Filter keys by file number.
  const FilterCost& cost;                    // The policy's.
};

// The bytes of a filter of so many keys.
double FilterBytes(const FilterSetting& setting, uint64_t key_count);

// By file number. Tells `teller` of compactions that then do not happen, and
// leaves it with this plan.
std::map<uint64_t, FilterSetting> PlanFilters(const TreeToPlan& tree,
                                              BudgetTeller* teller);

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_REFRESH_PLANNED_FILTERS_H_
