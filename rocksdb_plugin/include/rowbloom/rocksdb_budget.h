// SPDX-License-Identifier: Apache-2.0
//
// A budget for the filters of a column family that follows the live tree: a
// listener tells filter policies which SSTs are live.
//
//   rowbloom::RocksDbOptions rows;
//   rows.filter_spec = rowbloom::FilterSpec::BitsPerKey("compact", 10);
//   rows.budget = rowbloom::BudgetMode::kBalanced;
//   table_options.filter_policy = rowbloom::NewRocksDbFilterPolicy(rows);
//   auto listener = rowbloom::NewRocksDbBudgetListener(&status);
//   if (listener == nullptr) return status;  // RocksDB crashes on a null one.
//   options.listeners.push_back(listener);
//
// The policy learns from it the share of keys in the run that an SST will be
// part of, and the total size of filters. Without a listener all SSTs have the
// same bits (kHitsOnly: those of their level), as SSTs of SstFileWriter and
// under FIFO compaction always have.

#ifndef ROWBLOOM_ROCKSDB_BUDGET_H_
#define ROWBLOOM_ROCKSDB_BUDGET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/get_cost.h"
#include "rowbloom/get_fit.h"
#include "rowbloom/rocksdb_verify.h"

namespace ROCKSDB_NAMESPACE {
class ColumnFamilyHandle;
class DB;
class EventListener;
}  // namespace ROCKSDB_NAMESPACE

namespace ROWBLOOM_EXPORT rowbloom {

// Serves all column families whose policy has a budget, native or composed. Any
// number of databases may share a listener, and column families a policy: each
// family has the whole budget. Its name in an OPTIONS file is
// "rowbloom.BudgetListener".
//
// It learns of flushes, compactions and ingested files as they happen. It reads
// the list of live SSTs at the first of these, after ingestion, and once a
// minute, when it learns of CompactFiles() and DeleteFilesInRange(); at most a
// thousandth of the time is spent on that. For SSTs from before the open it
// reads table properties, 8 at each event and some 64 for each level. Late
// knowledge costs reads, never rows.
//
// Databases are told apart by their DBOptions::info_log: RocksDB makes one for
// each. If databases share one, their filters may get each other's bits, unless
// FilterBuildingContext of the release has a db_name.
//
// nullptr if the loaded RocksDB is of another release than rowbloom was
// compiled for (rocksdb.h); *error, if given, names both. Never put nullptr
// into DBOptions::listeners: RocksDB calls it, and crashes.
std::shared_ptr<ROCKSDB_NAMESPACE::EventListener> NewRocksDbBudgetListener(
    ROCKSDB_NAMESPACE::Status* error = nullptr);

// --- Memory of filters and waste of gets ------------------------------------

struct RocksDbBudgetFile {
  std::string path;
  int level = 0;
  // Filter keys; without a filter, estimated from the entries by other SSTs.
  uint64_t key_count = 0;
  uint64_t filter_bytes = 0;
  double expected_fpr = 1;
  // Per get of the whole tree: asks for keys that the SST lacks, and those that
  // read it. RocksDB counts what happens by level only.
  double absent_asks = 0;
  double expected_wasted_reads = 0;

  double bits_per_key() const;  // 0 without keys.
};

struct RocksDbBudgetLevel {
  int level = 0;
  uint64_t file_count = 0;
  uint64_t run_count = 0;  // In level 0, each SST is one.
  uint64_t key_count = 0;
  uint64_t filter_bytes = 0;
  double bits_per_key = 0;
  double expected_fpr = 1;           // Mean over the keys.
  double expected_wasted_reads = 0;  // Per get, by all of its runs.
  FilterStatsSnapshot observed;      // All 0 without FilterStats.
};

// The bits that auto_bits (rocksdb_budget_options.h) gives to new SSTs, and the
// gets that they are planned for.
struct RocksDbBitsPlan {
  double bits_per_key = 0;
  double reads_per_get = 0;    // Data and filter blocks, as expected.
  bool has_counts = false;     // False: gets are assumed, not counted.
  double missing_share = 0.5;  // A get that a memtable answers does not count.
  GetPopularity popularity;
  // Where filters of these bits, and indexes, make a get cheapest at the same
  // memory, and its time there as a share of that in the cache: filter_place.h
  // has the options. Plans are for cached partitions: elsewhere set the limits
  // of the bits to these. Cached partitions and 1 without counts.
  FilterPlace cheapest_place = FilterPlace::kCachedPartitions;
  double cheapest_share = 1;
};

struct RocksDbBudgetReport {
  std::string column_family;
  std::string filter;  // FilterCost::name() of the optimum.
  double missing_share = 0.5;
  std::vector<RocksDbBudgetFile> files;    // By level; in 0, newest first.
  std::vector<RocksDbBudgetLevel> levels;  // The levels that have SSTs.
  uint64_t key_count = 0;
  uint64_t filter_bytes = 0;
  TreeWaste waste;  // Its runs are SSTs of level 0, newest first, and levels.
  // Set once the policy of an open database has planned for this tree.
  std::optional<RocksDbBitsPlan> plan;
};

// Reports on the live SSTs by their properties: no filter is read. Rates are
// those of the policy's filters at their actual size. FailedPrecondition for a
// policy that is neither ours nor RocksDB's own, and if the loaded RocksDB is
// of another release (rocksdb.h). Gets are assumed uniform and nothing cached;
// missing_share is that of the policy, 0.5 if it has none. `stats`, if given,
// is the target of a RocksDbLookupSample (rocksdb_stats.h).
//
//   const auto report =
//       rowbloom::ReportRocksDbBudget(db, db->DefaultColumnFamily(), &stats);
//   if (report.ok()) std::printf("%g%%\n", report->waste.percent_of_optimum());
absl::StatusOr<RocksDbBudgetReport> ReportRocksDbBudget(
    ROCKSDB_NAMESPACE::DB* db,
    ROCKSDB_NAMESPACE::ColumnFamilyHandle* column_family,
    const FilterStats* stats = nullptr);

// Reports on filters that were read, with their own rates. A filter that the
// configured policy does not read denies nothing. FailedPrecondition if no SST
// has a filter whose cost is known.
absl::StatusOr<RocksDbBudgetReport> ReportRocksDbBudget(
    const RocksDbFilterReport& verified);

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_BUDGET_H_
