// SPDX-License-Identifier: Apache-2.0
//
// Tells the budget listener of a database, if it has one, of compactions by
// CompactFiles(), of which RocksDB tells no listener.
//
//   BudgetTeller teller(db, column_family);
//   const int job = teller.Begin(number, file);
//   status = db->CompactFiles(..., &info);
//   teller.End(job, status, info);
//
// For one thread: between Begin() and End() the policy knows the SST that this
// thread writes. `db` and `column_family` must outlive it.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_REFRESH_BUDGET_TELLER_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_REFRESH_BUDGET_TELLER_H_

#include <cstdint>
#include <map>
#include <memory>

#include "budget/live_tree.h"
#include "rdb.h"
#include "rocksdb/listener.h"
#include "rocksdb/status.h"

namespace ROCKSDB_NAMESPACE {
class ColumnFamilyHandle;
class DB;
}  // namespace ROCKSDB_NAMESPACE

namespace rowbloom::plugin {

class BudgetListener;

class BudgetTeller {
 public:
  BudgetTeller(rdb::DB* db, rdb::ColumnFamilyHandle* column_family);
  // No filters are planned from then on.
  ~BudgetTeller() { PlanFilters({}); }
  BudgetTeller(const BudgetTeller&) = delete;
  BudgetTeller& operator=(const BudgetTeller&) = delete;

  bool has_listener() const { return listener_ != nullptr; }

  // The filters of live SSTs, of which the listener would read a sample.
  void LearnFilters(const LiveFiles& files);
  // As LiveTree::PlanFilters().
  void PlanFilters(const std::map<uint64_t, uint64_t>& bytes);

  // An SST is about to be rewritten into its own level.
  int Begin(uint64_t number, const LiveFile& file);
  // `info` is RocksDB's; it is not read if the status is not OK.
  void End(int job, const rdb::Status& status, rdb::CompactionJobInfo info);

 private:
  std::shared_ptr<LiveTree> Tree() const;

  rdb::DB* const db_;
  rdb::ColumnFamilyHandle* const column_family_;
  std::shared_ptr<rdb::EventListener> owner_;  // It owns listener_.
  BudgetListener* listener_ = nullptr;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_REFRESH_BUDGET_TELLER_H_
