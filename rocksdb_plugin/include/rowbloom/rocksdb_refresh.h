// SPDX-License-Identifier: Apache-2.0
//
// Gives the SSTs of a column family the filters that its present filter policy
// would write, without waiting for compactions: after a change of policy or of
// bits, and where rowbloom was turned on for a database that is full.
//
//   rowbloom::RocksDbRefreshOptions options;
//   options.dry_run = true;  // Says what it would read, write and gain.
//   auto report = rowbloom::RefreshRocksDbFilters(
//       db, db->DefaultColumnFamily(), options);
//
// It reads all filters, and then rewrites one SST at a time into its own level
// by DB::CompactFiles(), on the calling thread: first those that save most
// wasted reads for their bytes. Size and compression are the column family's.
// Each SST is replaced atomically, so a run may end at any moment, also by a
// crash; the next one goes on. Reads, writes and compactions may run meanwhile,
// and so may another refresh.
//
// CompactFiles() is a compaction like any other: compaction filters, TTL and
// garbage collection of blobs take effect on the entries, and an SST with
// damaged data fails and leaves the database with RocksDB's background error.
// VerifyRocksDbFilters() with read_data_blocks finds such SSTs before.
//
// Errors: FailedPrecondition for a policy that is neither ours nor RocksDB's
// own, for FIFO compaction, which rewrites nothing, for a database that is open
// for reading only, except for a dry run, and if the loaded RocksDB is of
// another release (rocksdb.h). InvalidArgument for min_gain out of range.
// Unavailable and DataLoss for table properties that cannot be read. Nothing
// was rewritten then. The error of a single SST is in its entry.

#ifndef ROWBLOOM_ROCKSDB_REFRESH_H_
#define ROWBLOOM_ROCKSDB_REFRESH_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rowbloom/export.h"
#include "rowbloom/rocksdb_verify.h"

namespace ROCKSDB_NAMESPACE {
class ColumnFamilyHandle;
class DB;
}  // namespace ROCKSDB_NAMESPACE

namespace ROWBLOOM_EXPORT rowbloom {

struct RocksDbRefreshReport;

struct RocksDbRefreshOptions {
  // If true, nothing is rewritten.
  bool dry_run = false;
  // Bytes read and written per second, on average since the first SST. It waits
  // between SSTs. 0: no limit but DBOptions::rate_limiter.
  uint64_t max_bytes_per_second = 0;
  // An SST whose filter is as expected (RocksDbFilterState) is rewritten only
  // if it wastes more than the plan by this share of the plan's wasted reads.
  // Memory counts as the reads that it would save under the plan. 0.25 is about
  // one bit per key. At least 0.
  double min_gain = 0.25;
  // Called before each SST, and ten times a second while it waits. If it
  // returns false, the refresh ends. May be empty.
  std::function<bool(const RocksDbRefreshReport& so_far)> progress;
  // Called before the filters of each SST are read; may be empty.
  std::function<void(size_t done, size_t total)> reading;
};

enum class RocksDbRefreshResult : uint8_t {
  kPlanned,    // To be rewritten.
  kRewritten,  // Its new filter is `written_bits_per_key`.
  kSkipped,    // Another compaction has it or moved it, or its filters could
               // not be read: see `status`. A later refresh may rewrite it.
  kFailed,     // See `status`. The refresh has ended.
};
// For example "planned".
std::string_view RocksDbRefreshResultName(RocksDbRefreshResult result);

struct RocksDbRefreshFile {
  std::string path;
  int level = 0;
  RocksDbRefreshResult result = RocksDbRefreshResult::kPlanned;
  absl::Status status;
  RocksDbFilterState filter = RocksDbFilterState::kExpected;  // Before.
  std::string note;  // Why the filter is not the expected one, or empty.

  uint64_t size_bytes = 0;
  uint64_t key_count = 0;  // As in RocksDbBudgetFile.
  double bits_per_key = 0;
  double planned_bits_per_key = 0;
  double written_bits_per_key = 0;
  // Expected, per get of the whole tree, as in RocksDbBudgetFile.
  double wasted_reads = 0;
  double planned_wasted_reads = 0;
  // Expected, or counted by RocksDB if it was rewritten, without blobs. RocksDB
  // rewrites neighbours with it if they share a key or a range tombstone.
  uint64_t read_bytes = 0;
  uint64_t written_bytes = 0;
};

struct RocksDbRefreshReport {
  std::string column_family;
  // The SSTs to rewrite, the most wasted reads saved per byte first; then those
  // whose filters could not be read.
  std::vector<RocksDbRefreshFile> files;
  size_t done = 0;  // Files that were rewritten, skipped or failed.
  // The other SSTs have filters as planned.
  uint64_t kept_file_count = 0;
  uint64_t kept_bytes = 0;
  // Expected, per get of the whole tree: before, and after the whole plan.
  double wasted_reads = 0;
  double planned_wasted_reads = 0;

  uint64_t CountOf(RocksDbRefreshResult result) const;
  // Sums over the files with this result.
  uint64_t ReadBytes(RocksDbRefreshResult result) const;
  uint64_t WrittenBytes(RocksDbRefreshResult result) const;
};

// With a budget and its listener (rocksdb_budget.h) SSTs are planned for the
// tree as it is, and the budget is spent as if all of the plan were written.
// Without a listener all SSTs get the same bits.
absl::StatusOr<RocksDbRefreshReport> RefreshRocksDbFilters(
    ROCKSDB_NAMESPACE::DB* db,
    ROCKSDB_NAMESPACE::ColumnFamilyHandle* column_family,
    const RocksDbRefreshOptions& options = {});

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_REFRESH_H_
