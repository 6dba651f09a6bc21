// SPDX-License-Identifier: Apache-2.0
//
// The live SSTs of a column family, as a listener has learned of them, and what
// follows for the filter of an SST that is about to be written. The listener
// and the filter policy find each other in LiveTrees: RocksDB tells a policy
// the logger of the database and the name of the column family, and nothing
// that leads from there to a listener.
//
//   std::shared_ptr<LiveTree> tree = LiveTrees::Find(context.info_log, name);
//   if (tree != nullptr) view = tree->ViewFor({level, is_flush});
//
// Thread-safe. No lock is held while RocksDB is called, so RocksDB may call
// with any of its own held.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_LIVE_TREE_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_LIVE_TREE_H_

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

#include "rocksdb/rocksdb_namespace.h"
#include "rowbloom/filter_budget.h"

namespace ROCKSDB_NAMESPACE {
class Logger;
struct ColumnFamilyMetaData;
struct TableProperties;
}  // namespace ROCKSDB_NAMESPACE

namespace rowbloom {

// From the table properties.
struct FileFilter {
  static FileFilter Of(const ROCKSDB_NAMESPACE::TableProperties& properties);

  uint64_t entry_count = 0;
  uint64_t key_count = 0;  // Filter keys; 0 without a filter.
  uint64_t size_bytes = 0;
};

struct LiveFile {
  int level = 0;
  uint64_t order = 0;  // Of two in level 0, the larger is the newer.
  uint64_t size_bytes = 0;
  std::optional<FileFilter> filter;  // Unset: not known.
  std::string path;                  // Where to look for it; may be empty.
  bool was_taken = false;            // By LiveTree::TakeUnknown().
};
using LiveFiles = std::map<uint64_t, LiveFile>;  // By file number.

// As listed; filters are not known.
LiveFiles FilesOf(const ROCKSDB_NAMESPACE::ColumnFamilyMetaData& column_family);

// Keys and filter bytes of SSTs; where they are not known, by what is known of
// others.
class FilterEstimator {
 public:
  struct Estimate {
    double keys = 0;
    double bytes = 0;
  };

  FilterEstimator() = default;  // Knows nothing.
  explicit FilterEstimator(const LiveFiles& files);

  bool is_known() const { return is_known_; }  // Anything.
  Estimate Of(const LiveFile& file) const;

 private:
  bool is_known_ = false;
  double keys_per_entry_ = 1;
  double keys_per_byte_ = 0;
  double filter_bytes_per_byte_ = 0;
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
    uint32_t level_count = 0;         // One more than the deepest with SSTs.
    std::optional<double> run_share;  // Of the output's run.
  };
  // Nothing if nothing is known. Keys are filter keys; of SSTs without a
  // filter, as many for each entry as the others have. Of very many SSTs
  // without the last few changes.
  std::optional<View> ViewFor(const Output& output) const;

  // In whatever order threads come to say so: an input of a compaction may be
  // a file that was not told of yet.
  void FlushCompleted(uint64_t number, LiveFile file);
  void CompactionBegan(int job, uint32_t output_level, LiveFiles inputs);
  // `outputs` without filters and order; those of inputs that were moved, and
  // `filters`, are taken.
  void CompactionCompleted(int job, bool is_ok,
                           const std::vector<uint64_t>& inputs,
                           LiveFiles outputs);
  void LearnFilter(uint64_t number, const FileFilter& filter);

  using Clock = std::chrono::steady_clock;

  // Whether to read the list of live SSTs now: because some came or went that
  // it was not told of, or to be sure. Once true, false for a while.
  bool WantsFiles(Clock::time_point now);
  // All live SSTs, as they were when changes() was `changes`, and how long it
  // took to list them. Nothing is done if there has been a change since.
  // Filters that are known stay known.
  void SetFiles(uint64_t changes, LiveFiles files, Clock::duration took);
  uint64_t changes() const;
  void SetStale();

  // Up to `count` SSTs of unknown filters, each only once, and none of levels
  // of which kSampledFiles are known: the others will be like them.
  LiveFiles TakeUnknown(size_t count);
  static constexpr size_t kSampledFiles = 64;

 private:
  struct Job {
    uint32_t output_level = 0;
    std::set<uint64_t> inputs;
    std::thread::id thread;
  };
  // Of all files. The newest run first: SSTs of level 0, and then levels.
  struct Sums {
    uint64_t changes = 0;  // And learned.
    FilterEstimator estimator;
    std::map<std::pair<int, uint64_t>, double> run_keys;
    double keys = 0;
    double bytes = 0;
    int deepest_level = 0;
  };
  const Sums& UpToDateSums() const;
  std::optional<double> OutputKeys(const Output& output,
                                   const Sums& sums) const;

  mutable std::mutex mutex_;
  mutable std::unique_ptr<Sums> sums_;  // Once they were asked for.
  LiveFiles files_;
  std::map<int, Job> jobs_;
  // The last that compactions took. Threads may tell of them only later, and
  // a list may have named them before that.
  std::set<uint64_t> gone_;
  std::optional<LiveFile> last_flush_;
  uint64_t changes_ = 0;
  uint64_t learned_ = 0;  // Calls of LearnFilter().
  bool may_have_unknown_ = true;
  bool is_stale_ = true;
  Clock::time_point not_before_;  // When it may want files again,
  Clock::time_point at_latest_;   // and when it will.
};

// Those of all open databases with a listener. A database is known by its
// logger, which it has from when it is opened until it is closed.
class LiveTrees {
 public:
  // nullptr if no listener has told of it.
  static std::shared_ptr<LiveTree> Find(const ROCKSDB_NAMESPACE::Logger* logger,
                                        const std::string& column_family_name);
  // Makes one if there is none, or that which is there is of a dropped column
  // family: of another id, if that is known. Forgets those of closed databases.
  static std::shared_ptr<LiveTree> FindOrAdd(
      const std::shared_ptr<ROCKSDB_NAMESPACE::Logger>& logger,
      const std::string& column_family_name,
      std::optional<uint32_t> column_family_id = std::nullopt);
  // Forgets the column families of a database that have none of these names.
  static void KeepOnly(const ROCKSDB_NAMESPACE::Logger& logger,
                       const std::set<std::string>& column_family_names);
  // Of the trees of a database, LiveTree::changes().
  static std::map<std::string, uint64_t> Changes(
      const ROCKSDB_NAMESPACE::Logger& logger);
};

}  // namespace rowbloom

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_LIVE_TREE_H_
