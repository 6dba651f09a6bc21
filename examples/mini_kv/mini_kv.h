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
//
// One thread. Flushes and compactions run within the write that makes them due.
// Only one process can have a directory open.
//
// The directory has the file LOG and the SSTs that it names, 12.sst and so on.
// The log's first record is the tree of SSTs, the others are the cells written
// since. A flush or a compaction renames a new log into place, LOG.tmp, and so
// takes effect at one moment.
//
// Errors: Open() returns DataLoss for a damaged SST or list of SSTs, and ends
// the log at a damaged cell (log.h). Reads return DataLoss for damaged cells,
// never a wrong answer. A damaged filter is not an error:
// Stats::unreadable_filters counts it. After a write, flush or compaction
// failed, the store only reads until it is opened again.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_MINI_KV_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_MINI_KV_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell.h"
#include "compaction.h"
#include "log.h"
#include "memtable.h"
#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/filter_stats.h"
#include "sst.h"

namespace mini_kv {

// Options are not persisted: a store may be opened with others each time.
struct Options {
  // One filter for rows and for cells.
  Options() { filter.bloom_type = rowbloom::BloomType::kRowCol; }

  // For new SSTs. Bloom type NONE writes no filters; existing filters are used
  // all the same.
  rowbloom::FilterOptions filter;
  // If set, one budget for all SSTs decides the bits of each filter (of the
  // family of `filter`). nullopt: the bits of `filter`.
  std::optional<rowbloom::FileBudgetOptions> filter_budget;
  // Many stores may share it; it must outlive them. nullptr: the store has its
  // own of 32 MiB.
  rowbloom::FilterCache* filter_cache = nullptr;

  size_t memtable_size_bytes = 1 << 20;  // Flushed at this size.
  size_t block_size_bytes = 4096;        // Data blocks; the last cell may pass.
  // Level i >= 1 is compacted when its data blocks exceed
  // level1_size_bytes * level_ratio^(i-1).
  uint64_t level1_size_bytes = 8 << 20;
  uint64_t level_ratio = 10;
};

// Counters since Open(). They exclude the tails of SSTs and of filter blocks,
// which Open() and flushes read.
struct Stats {
  // Reads by gets, scans and RowExists().
  ReadStats reads;
  // SSTs whose key range includes the row of a get, and those among them that
  // the filter ruled out.
  uint64_t ssts_considered = 0;
  uint64_t ssts_skipped = 0;
  uint64_t memtable_skips = 0;      // Gets for which its filter said "no".
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

  absl::Status Put(std::string_view row, std::string_view qualifier,
                   std::string_view value);
  absl::Status Delete(std::string_view row, std::string_view qualifier);

  // nullopt if there is no such cell.
  absl::StatusOr<std::optional<std::string>> Get(std::string_view row,
                                                 std::string_view qualifier);
  // True if there is a cell of the row.
  absl::StatusOr<bool> RowExists(std::string_view row);
  // Scans visit cells in order until `visit`, which must not write, returns
  // false. Filters rule out SSTs for the row; a scan of all rows asks none.
  absl::Status ScanRow(std::string_view row, const CellVisitor& visit);
  absl::Status Scan(const CellVisitor& visit);

  // Flushes the memtable to level 0, and runs the compactions that are then
  // due.
  absl::Status Flush();
  // Flushes and merges everything into the last level.
  absl::Status Compact();

  Stats stats() const;
  std::vector<LevelStats> levels() const;

 private:
  MiniKv(const Options& options, const std::string& directory);

  absl::Status Recover();
  absl::Status OpenTree(std::string_view payload);

  absl::Status Write(const Cell& cell);
  // Writes one SST of the cells of the compaction and of `sources`, which are
  // newer, with a filter of exactly these.
  absl::Status Run(const Compaction& compaction, CellIterators sources);
  // For an SST of that level.
  rowbloom::FilterReaderOptions ReaderOptions(int level);
  // The new tree takes effect, with an empty log.
  absl::Status Commit(const Tree& tree);
  // Makes the log's name durable, reports the live filters to the budget, and
  // removes the SSTs that the log does not name: merged ones, and those that a
  // dead process was writing.
  absl::Status Settle();
  absl::Status SyncDirectory() const;
  // The filter options, with the budget's bits for such SSTs if it is set.
  rowbloom::FilterOptions FilterFor(const rowbloom::FileFacts& facts) const;

  // The SSTs, newest first, whose key range and filter do not rule the key out.
  // One call asks all filters: missing chunks are read at once.
  std::vector<const SstReader*> SstsToRead(const rowbloom::FilterKey& key);

  Options options_;
  const std::string directory_;
  int directory_fd_ = -1;  // Locked.
  std::unique_ptr<rowbloom::FilterCache> own_cache_;
  rowbloom::FilterStats filter_stats_;
  std::optional<rowbloom::FileBudget> filter_budget_;

  // Gets that asked SSTs, and those among them that found no cell. Older ones
  // weigh half as much after each flush or compaction.
  struct AskedGets {
    double asked = 0;
    double missed = 0;
    // Unset if there are too few.
    std::optional<double> TakeMissingShare();
  };
  AskedGets gets_;

  uint64_t next_number_ = 1;
  std::unique_ptr<Log> log_;
  Memtable memtable_;
  Tree tree_;  // Readers must be destroyed before the cache.

  // The first error of a write, flush or compaction: nothing may follow it.
  absl::Status write_status_;
  Stats stats_;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_MINI_KV_H_
