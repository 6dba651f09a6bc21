// SPDX-License-Identifier: Apache-2.0
//
// One RocksDB database of a dataset under one filter policy. Levels 1 to
// level_count are filled, each level_ratio times larger than the one above,
// through memtable flushes and compactions; L0 and the memtable are left
// empty. Which cells a level holds depends on the dataset alone, so the data
// blocks of all policies are the same.
//
//   Tree tree(options, data, policy, directory, &progress);
//   if (tree.levels() != other.levels()) ...     // may not happen
//   tree.db()->Get(...);                         // indexes, filters in memory
//
// Errors are thrown as std::runtime_error. The destructor closes the database
// and, unless it is to be kept, removes it.

#ifndef ROWBLOOM_BENCH_POINT_GET_TREE_H_
#define ROWBLOOM_BENCH_POINT_GET_TREE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dataset.h"
#include "options.h"
#include "policies.h"
#include "progress.h"
#include "rocksdb/db.h"

namespace rowbloom::point_get {

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
  uint64_t bytes = 0;       // As stored in the live files.
  uint64_t key_count = 0;   // Filter keys, as the policy counts them.
  uint64_t cell_count = 0;  // Cells of the files.
};

class Tree {
 public:
  Tree(const Options& options, const Dataset& data, const Policy& policy,
       const std::string& path, Progress* progress);
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  rocksdb::DB* db() const { return db_.get(); }
  const std::vector<LevelShape>& levels() const { return levels_; }
  const FilterSize& filter_size() const { return filter_size_; }

 private:
  void Open();
  void FillLevel(const Options& options, const Dataset& data, int level,
                 Progress* progress);
  void CompactLevel0Into(int level, uint64_t file_size_bytes);
  void ReadProperties(const Policy& policy);

  const std::string path_;
  const bool keep_;
  rocksdb::Options rocksdb_options_;
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<LevelShape> levels_;
  FilterSize filter_size_;
};

}  // namespace rowbloom::point_get

#endif  // ROWBLOOM_BENCH_POINT_GET_TREE_H_
