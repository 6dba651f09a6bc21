// SPDX-License-Identifier: Apache-2.0
//
// One RocksDB database of fixed shape under one filter policy. Levels 1 to
// level_count are filled, the deepest first, each through memtable flushes and
// a compaction into it; L0 and the memtable are left empty. What a level holds
// is the caller's, so the data blocks of all policies are the same.
//
//   Tree tree(options, fill_level, policy, directory, &progress);
//   if (tree.levels() != other.levels()) ...     // may not happen
//   tree.db()->Get(...);                         // indexes, filters in memory
//
// Errors are thrown as std::runtime_error. The destructor closes the database
// and, unless it is to be kept, removes it.

#ifndef ROWBLOOM_BENCH_POINT_GET_TREE_H_
#define ROWBLOOM_BENCH_POINT_GET_TREE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/progress.h"
#include "policies.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"

namespace rowbloom::point_get {

struct TreeOptions {
  int level_count = 4;
  uint64_t file_size_bytes = 8 << 20;
  uint64_t block_size_bytes = 4096;
  rocksdb::CompactionStyle compaction_style = rocksdb::kCompactionStyleLevel;
  bool direct_reads = false;
  bool keep_database = false;
  // For data blocks alone. Null: a cache that stays empty if gets do not fill
  // it.
  std::shared_ptr<rocksdb::Cache> block_cache;
  rocksdb::Env* env = nullptr;  // Null: the default. Not owned.
};

// Gives each cell of a level to `put`, in the order in which it is written.
using PutCell =
    std::function<void(const rocksdb::Slice& key, const rocksdb::Slice& value)>;
using FillLevel = std::function<void(int level, const PutCell& put)>;

struct LevelShape {
  int level = 0;
  uint64_t file_count = 0;
  uint64_t cell_count = 0;
  uint64_t data_block_count = 0;
  uint64_t data_bytes = 0;

  friend bool operator==(const LevelShape& a, const LevelShape& b) {
    return a.level == b.level && a.file_count == b.file_count &&
           a.cell_count == b.cell_count &&
           a.data_block_count == b.data_block_count &&
           a.data_bytes == b.data_bytes;
  }
};

struct FilterSize {
  uint64_t bytes = 0;          // As stored in the live files.
  uint64_t key_count = 0;      // Filter keys, as the policy counts them.
  uint64_t cell_count = 0;     // Cells of the files.
  uint64_t files_without = 0;  // Files that have no filter.
};

class Tree {
 public:
  Tree(const TreeOptions& options, const FillLevel& fill, const Policy& policy,
       const std::string& path, bench::Progress* progress);
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  rocksdb::DB* db() const { return db_.get(); }
  const std::vector<LevelShape>& levels() const { return levels_; }
  FilterSize filter_size() const;
  const std::map<int, FilterSize>& filter_size_by_level() const {
    return filter_size_by_level_;
  }
  // Processor time of the process in flushes and compactions.
  double build_cpu_seconds() const { return build_cpu_seconds_; }

 private:
  void Open();
  void Write(const FillLevel& fill, int level, bench::Progress* progress);
  void CompactLevel0Into(int level);
  void ReadProperties();

  const std::string path_;
  const TreeOptions options_;
  rocksdb::Options rocksdb_options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<LevelShape> levels_;
  std::map<int, FilterSize> filter_size_by_level_;
  double build_cpu_seconds_ = 0;
};

}  // namespace rowbloom::point_get

#endif  // ROWBLOOM_BENCH_POINT_GET_TREE_H_
