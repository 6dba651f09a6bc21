// SPDX-License-Identifier: Apache-2.0
//
// Tells LiveTrees of flushes, compactions and ingested files. Made by
// NewRocksDbBudgetListener(), or from an options string by its name.
//
// RocksDB calls it without its own mutex, on whatever thread does the work; its
// methods call back into the database, and hold nothing while they do.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_BUDGET_LISTENER_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_BUDGET_LISTENER_H_

#include "rdb.h"
#include "rocksdb/listener.h"

namespace rowbloom::plugin {

class BudgetListener final : public rdb::EventListener {
 public:
  static const char* kClassName() { return "rowbloom.BudgetListener"; }

  const char* Name() const noexcept override { return kClassName(); }
  void OnFlushBegin(rdb::DB* db,
                    const rdb::FlushJobInfo& info) noexcept override;
  void OnFlushCompleted(rdb::DB* db,
                        const rdb::FlushJobInfo& info) noexcept override;
  void OnCompactionBegin(rdb::DB* db,
                         const rdb::CompactionJobInfo& info) noexcept override;
  void OnCompactionCompleted(
      rdb::DB* db, const rdb::CompactionJobInfo& info) noexcept override;
  void OnExternalFileIngested(
      rdb::DB* db,
      const rdb::ExternalFileIngestionInfo& info) noexcept override;
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_BUDGET_LISTENER_H_
