// SPDX-License-Identifier: Apache-2.0
//
// A budget for the filters of a column family, by the live tree: a listener
// that tells filter policies what is live.
//
//   rowbloom::RocksDbOptions rows;
//   rows.policy = rowbloom::FilterPolicy::BitsPerKey("compact", 10);
//   rows.budget = rowbloom::BudgetMode::kBalanced;
//   table_options.filter_policy = rowbloom::NewRocksDbFilterPolicy(rows);
//   options.listeners.push_back(rowbloom::NewRocksDbBudgetListener());
//
// Without a listener a policy knows of an SST what RocksDB tells of it: level,
// bottommost or not. That holds the budget in leveled trees. With one it knows
// the share of keys in the run that the SST will be part of, and what filters
// take in all: universal trees and budgets in bytes need it, and leveled trees
// come nearer to the optimum (docs/memory_budget.md).

#ifndef ROWBLOOM_ROCKSDB_BUDGET_H_
#define ROWBLOOM_ROCKSDB_BUDGET_H_

#include <memory>

#include "rocksdb/rocksdb_namespace.h"

namespace ROCKSDB_NAMESPACE {
class EventListener;
}  // namespace ROCKSDB_NAMESPACE

namespace rowbloom {

// Serves all column families whose policy has a budget, native or composed; any
// number of databases may share it, and column families a policy: each has the
// whole budget for itself. In an OPTIONS file, "rowbloom.BudgetListener".
//
// It learns of flushes, compactions and ingested files as they happen, and
// reads the list of live SSTs when a database is opened, after ingestion, and
// once a minute, with at most a thousandth of the time spent on that; table
// properties of SSTs from before the open, 16 at each event. What it is not
// told of in time costs reads, never rows.
//
// Databases are told apart by their DBOptions::info_log: RocksDB makes one for
// each. Of databases that are given the same, filters may get the bits of one
// another's.
std::shared_ptr<ROCKSDB_NAMESPACE::EventListener> NewRocksDbBudgetListener();

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_BUDGET_H_
