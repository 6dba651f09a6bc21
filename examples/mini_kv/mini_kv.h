// SPDX-License-Identifier: Apache-2.0
//
// A small key-value store whose SSTs have rowbloom filters, written to be read:
// README.md names the order of the files.
//
//   auto store = MiniKv::Open(options, directory);
//   if (!store.ok()) return store.status();
//   (*store)->Put("user17", "email", "user17@example.org");
//   auto value = (*store)->Get("user17", "email");    // StatusOr of optional
//   auto exists = (*store)->RowExists("user18");
//   exists = (*store)->PrefixExists("acme/");         // Options::filter
//
// One thread. Flushes and compactions run within the write that makes them due.
// Only one process can have a directory open.
//
// Errors: Open() is strict: DataLoss for a damaged manifest, log or SST. It
// only cuts off a torn tail of the log, which was never acknowledged. Reads
// return DataLoss for damaged cells, never a wrong answer. A damaged filter is
// not an error: Stats::unreadable_filters counts it. After a write, flush or
// compaction failed, the store only reads until it is opened again.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_MINI_KV_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_MINI_KV_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell.h"
#include "compaction.h"
#include "files.h"
#include "memtable.h"
#include "options.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_stats.h"
#include "sst_reader.h"
#include "wal.h"

namespace mini_kv {

// A column of a row.
struct Column {
  std::string qualifier;
  std::string value;
};

// Counters since Open(). They exclude index blocks and the tails of filter
// blocks, which Open() and flushes read.
struct Stats {
  // Reads by Get(), GetRow(), RowExists() and scans.
  ReadStats reads;
  // SSTs whose key range includes the key or prefix of a get, and those among
  // them that the filter ruled out.
  uint64_t ssts_considered = 0;
  uint64_t ssts_skipped = 0;
  uint64_t memtable_skips = 0;  // Gets for which its filter said "no".
  uint64_t flushes = 0;         // Started.
  uint64_t compactions = 0;     // Started.
  uint64_t cut_wal_bytes = 0;
  uint64_t unreadable_filters = 0;  // Among live SSTs.
  rowbloom::FilterStatsSnapshot filters;
};

struct LevelStats {
  uint64_t ssts = 0;
  uint64_t cells = 0;
  uint64_t data_blocks = 0;
  uint64_t data_bytes = 0;
  uint64_t filter_bytes = 0;
};

class MiniKv {
 public:
  static absl::StatusOr<std::unique_ptr<MiniKv>> Open(
      const Options& options, const std::string& directory);
  ~MiniKv();
  MiniKv(const MiniKv&) = delete;
  MiniKv& operator=(const MiniKv&) = delete;

  // InvalidArgument for a cell that is too large (cell.h).
  absl::Status Put(std::string_view row, std::string_view qualifier,
                   std::string_view value);
  absl::Status Delete(std::string_view row, std::string_view qualifier);

  // nullopt if there is no such cell.
  absl::StatusOr<std::optional<std::string>> Get(std::string_view row,
                                                 std::string_view qualifier);
  // In order of their qualifiers; empty if there is no such row.
  absl::StatusOr<std::vector<Column>> GetRow(std::string_view row);
  absl::StatusOr<bool> RowExists(std::string_view row);
  // The same for all rows that begin with the prefix. Filters rule out SSTs for
  // the longest key level of their key_codec that the prefix holds whole.
  absl::Status ScanPrefix(std::string_view prefix,
                          const std::function<bool(const Cell&)>& visit);
  absl::StatusOr<bool> PrefixExists(std::string_view prefix);
  // Visits all cells from the first one of `first_row` on, in order, until
  // `visit` returns false. `visit` must not write. Filters do not help here.
  absl::Status Scan(std::string_view first_row,
                    const std::function<bool(const Cell&)>& visit);

  // Flushes the memtable to level 0, and runs the compactions that are then
  // due.
  absl::Status Flush();
  // Flushes and merges everything into one level.
  absl::Status Compact();
  // Reads all SSTs and checks everything, filters too.
  absl::Status Verify() const;

  Stats stats() const;
  std::vector<LevelStats> levels() const;
  // The reads that gets waste with the present filters, if half of the gets ask
  // for absent keys, and the least waste that the same memory allows.
  absl::StatusOr<rowbloom::TreeWaste> FilterWaste() const;

 private:
  MiniKv(const Options& options, const std::string& directory);

  // Open().
  absl::Status Recover();
  absl::Status Create();
  absl::Status RemoveUnnamedFiles() const;

  // Writes.
  absl::Status Write(const Cell& cell);
  absl::Status WriteCell(const Cell& cell);
  absl::Status FlushMemtable();
  absl::Status CompactWhileDue();
  absl::Status RunCompaction(const Compaction& compaction);
  absl::StatusOr<uint64_t> CreateWal();
  absl::StatusOr<Level> OpenSsts(const std::vector<uint64_t>& numbers,
                                 size_t level);
  absl::Status CommitManifest(const Levels& levels, uint64_t wal_number);
  absl::Status KeepError(const absl::Status& status);
  // Reports the live filters to the budget.
  absl::Status TellBudget();
  // The filter options, with the budget's bits for such SSTs if it is set.
  rowbloom::FilterOptions FilterFor(const rowbloom::FileFacts& facts) const;

  // Reads.
  // Visits the cells of one row, or of all rows with a prefix.
  absl::Status VisitRows(const rowbloom::FilterKey& rows,
                         const std::function<bool(const Cell&)>& visit);
  absl::StatusOr<bool> AnyExists(const rowbloom::FilterKey& rows);

  std::string Path(FileKind kind, uint64_t number) const;

  Options options_;
  const std::string directory_;
  Files system_files_;
  std::unique_ptr<rowbloom::FilterCache> own_cache_;
  rowbloom::FilterStats filter_stats_;
  std::optional<rowbloom::FileBudget> filter_budget_;
  std::unique_ptr<DirectoryLock> lock_;

  uint64_t next_file_number_ = 1;
  uint64_t wal_number_ = 0;
  std::unique_ptr<Wal> wal_;
  Memtable memtable_;
  Levels levels_;  // Readers must be destroyed before the cache.

  absl::Status write_status_;  // The first error of a write.
  Stats stats_;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_MINI_KV_H_
