// SPDX-License-Identifier: Apache-2.0
//
// The live SSTs of a column family, as a listener has learned of them, and the
// facts that follow for the filter of the next SST. The listener and the filter
// policy find each other in LiveTrees: RocksDB gives a policy what
// database_id.h names and the name of the column family, and nothing that leads
// from there to a listener.
//
//   std::shared_ptr<LiveTree> tree =
//       LiveTrees::Find(DatabaseOf(context), context.column_family_name);
//   if (tree != nullptr) view = tree->ViewFor({level, is_flush});
//
// Thread-safe. No lock is held while RocksDB is called, so RocksDB may call
// with any of its own locks held.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_LIVE_TREE_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_LIVE_TREE_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "budget/database_id.h"
#include "budget/observed_gets.h"
#include "rdb.h"
#include "rowbloom/filter_budget.h"
#include "rowbloom/get_cost.h"

namespace ROCKSDB_NAMESPACE {
class ColumnFamilyHandle;
class DB;
class Logger;
struct ColumnFamilyMetaData;
struct TableProperties;
}  // namespace ROCKSDB_NAMESPACE

namespace rowbloom::plugin {

// From the table properties.
struct FileFilter {
  static FileFilter Of(const rdb::TableProperties& properties);

  uint64_t entry_count = 0;
  uint64_t key_count = 0;  // Filter keys; 0 without a filter.
  uint64_t size_bytes = 0;
  uint64_t raw_key_bytes = 0;
  uint64_t raw_value_bytes = 0;
  uint64_t data_block_count = 0;
  uint64_t index_bytes = 0;
  // False if the SST was written without a filter policy: no plan chose it.
  bool has_policy = true;
};

struct LiveFile {
  int level = 0;
  uint64_t order = 0;  // In level 0, a larger one is newer.
  uint64_t size_bytes = 0;
  std::optional<FileFilter> filter;  // Unset: unknown.
  // The bytes of its filter when it is written again, if that is planned.
  std::optional<uint64_t> planned_filter_bytes;
  std::string path;        // The path of the SST; may be empty.
  bool was_taken = false;  // By LiveTree::TakeUnknown().
};
using LiveFiles = std::map<uint64_t, LiveFile>;  // By file number.

// The listed files; their filters are unknown.
LiveFiles FilesOf(const rdb::ColumnFamilyMetaData& column_family);

// Keys and filter bytes of SSTs; unknown ones are estimated from the known
// SSTs.
class FilterEstimator {
 public:
  struct Estimate {
    double keys = 0;
    double bytes = 0;
  };

  FilterEstimator() = default;  // Knows nothing.
  explicit FilterEstimator(const LiveFiles& files);

  bool is_known() const { return is_known_; }  // If any filter is known.
  // The sums over the known SSTs. The filter keys of those without a filter are
  // estimated.
  const TableSums& sums() const { return sums_; }
  Estimate Of(const LiveFile& file) const;

 private:
  bool is_known_ = false;
  double keys_per_entry_ = 1;
  double keys_per_byte_ = 0;
  double filter_bytes_per_byte_ = 0;
  TableSums sums_;
};

class LiveTree {
 public:
  // The SST that a policy is asked for, by the thread that writes it.
  struct Output {
    uint32_t level = 0;
    bool is_flush = false;
  };
  struct View {
    LiveFilters live;
    // The keys of each run by the bits per key of their filters, which differ
    // until the last plan has written all SSTs.
    std::vector<std::map<double, double>> run_bits;
    double filter_bytes = 0;  // With those of SSTs that compactions read.
    // The average of the SSTs that a filter policy wrote or will, 0 if none is
    // known.
    double policy_bits = 0;
    std::optional<GetRates> gets;     // Unset: not known yet.
    bool has_statistics = false;      // Gets will be known.
    bool has_unknown = true;          // TakeUnknown() will return SSTs.
    uint32_t level_count = 0;         // 1 + the deepest level with SSTs.
    std::optional<double> run_share;  // The share of the output's run.
    FilterEstimator estimator;
  };
  // nullopt if no filter is known. Keys are filter keys; for SSTs without a
  // filter they are estimated from the entries by the others. With very many
  // SSTs the view may lack the last few changes.
  std::optional<View> ViewFor(const Output& output) const;

  // Threads may report these in any order: an input of a compaction may be a
  // file that was not reported yet.
  void FlushCompleted(uint64_t number, LiveFile file);
  void CompactionBegan(int job, uint32_t output_level, LiveFiles inputs);
  // `outputs` come without order, which is set from the inputs. An input that
  // was moved keeps its filter.
  void CompactionCompleted(int job, bool is_ok,
                           const std::vector<uint64_t>& inputs,
                           LiveFiles outputs);
  void LearnFilter(uint64_t number, const FileFilter& filter);
  // The bytes of filters by the number of their SSTs, which will be written
  // again: budgets are spent as if they were. Replaces an earlier plan.
  void PlanFilters(const std::map<uint64_t, uint64_t>& bytes);
  // The counts of the database's gets, as now.
  void ObserveGets(const GetCounts& counts);

  using Clock = std::chrono::steady_clock;

  // True if the list of live SSTs should be read now, because some came or went
  // unreported, or as a precaution. Once true, false for a while.
  bool WantsFiles(Clock::time_point now);
  // All live SSTs, as they were when changes() was `changes`, and how long it
  // took to list them. Ignores the list if there has been a change since. Known
  // filters stay known.
  void SetFiles(uint64_t changes, LiveFiles files, Clock::duration took);
  uint64_t changes() const;
  double file_bytes() const;  // The sum over all SSTs.
  void SetStale();

  // Up to `count` SSTs with unknown filters, each only once. Skips levels with
  // kSampledFiles known ones: their other SSTs are assumed to be alike.
  LiveFiles TakeUnknown(size_t count);
  static constexpr size_t kSampledFiles = 64;

 private:
  struct Job {
    uint32_t output_level = 0;
    std::set<uint64_t> inputs;
    std::thread::id thread;
  };
  // Sums over all files. The newest run is first: SSTs of level 0, then levels.
  struct Sums {
    uint64_t changes = 0;  // changes_ + learned_.
    FilterEstimator estimator;
    struct Run {
      double keys = 0;
      std::map<double, double> bits;
    };
    std::map<std::pair<int, uint64_t>, Run> runs;
    double keys = 0;
    double bytes = 0;  // Filters; planned ones where there is a plan.
    FilterEstimator::Estimate of_policy;  // SSTs that a policy wrote.
    double file_bytes = 0;
    int deepest_level = 0;
  };
  const Sums& UpToDateSums() const;
  // Counts the keys that a compaction brought into its output level.
  void CountEntries(const std::vector<uint64_t>& inputs,
                    const LiveFiles& outputs);
  // The share of the keys of an output that will reach the deepest level with
  // their SST; nullopt if no compaction is known.
  std::optional<double> MovedShare(const Output& output,
                                   const Sums& sums) const;
  std::optional<double> OutputKeys(const Output& output,
                                   const Sums& sums) const;
  // Takes filters that compactions replace out of live->filter_bytes.
  void LeaveOutInputs(const Sums& sums, LiveFilters* live) const;

  mutable std::mutex mutex_;
  mutable std::unique_ptr<Sums> sums_;  // Made when they are needed.
  LiveFiles files_;
  std::map<int, Job> jobs_;
  // The SSTs that compactions consumed last. A thread may report that it wrote
  // one only later, even if a list has named it before.
  std::set<uint64_t> gone_;
  std::optional<LiveFile> last_flush_;
  // Keys that entered a level with their SST, and rewritten. Both are halved
  // when their sum reaches a quarter of the keys of the tree.
  struct Entries {
    double moved = 0;
    double rewritten = 0;
  };
  std::map<int, Entries> entries_;  // By level.
  ObservedGets gets_;
  bool has_statistics_ = false;
  // Since the gets were observed.
  double written_keys_ = 0;
  Written written_;
  uint64_t changes_ = 0;
  uint64_t learned_ = 0;  // Calls of LearnFilter().
  bool may_have_unknown_ = true;
  bool is_stale_ = true;
  Clock::time_point not_before_;  // WantsFiles() is false before,
  Clock::time_point at_latest_;   // and true after this.
};

// The trees of all open databases with a listener. A database has its logger
// from its open to its close.
class LiveTrees {
 public:
  // nullptr if no listener has reported it.
  static std::shared_ptr<LiveTree> Find(const DatabaseId& database,
                                        const std::string& column_family_name);
  static std::shared_ptr<LiveTree> Find(
      const rdb::DB& db, const rdb::ColumnFamilyHandle& column_family);
  // Makes a tree if there is none, or if the present one belongs to a dropped
  // column family, whose id differs if known. Forgets trees of closed
  // databases. `logger` is the one of `database`.
  static std::shared_ptr<LiveTree> FindOrAdd(
      const DatabaseId& database, const std::shared_ptr<rdb::Logger>& logger,
      const std::string& column_family_name,
      std::optional<uint32_t> column_family_id = std::nullopt);
  // Forgets the column families of a database whose name is not among these.
  static void KeepOnly(const DatabaseId& database,
                       const std::set<std::string>& column_family_names);
  // The share of a column family in the bytes of those SSTs of the database
  // whose blocks are in the same cache. Others use theirs from their first call
  // on; until then they are taken to share it.
  static double ShareOf(const DatabaseId& database,
                        const std::string& column_family_name,
                        const void* block_cache);
  // LiveTree::changes() of each tree of a database.
  static std::map<std::string, uint64_t> Changes(const DatabaseId& database);
};

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_BUDGET_LIVE_TREE_H_
