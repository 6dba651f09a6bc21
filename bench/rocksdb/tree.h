// SPDX-License-Identifier: Apache-2.0
//
// RocksDB databases under one filter policy: one of any shape, and one of fixed
// shape.
//
// Levels 1 to level_count of a Tree are filled, the deepest first, each through
// memtable flushes and a compaction into it; L0 and the memtable are left
// empty. The caller chooses the cells of a level, so that the data blocks of
// all policies are the same.
//
//   Tree tree(options, policy, directory, fill_level, &shape);
//   tree.db()->Get(...);       // indexes, filters in memory
//
// Errors are thrown as std::runtime_error.

#ifndef ROWBLOOM_BENCH_ROCKSDB_TREE_H_
#define ROWBLOOM_BENCH_ROCKSDB_TREE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "policies.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/options.h"
#include "rocksdb/version.h"
#include "rocksdb/write_batch.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif
#include "rowbloom/get_cost.h"
#include "run.h"

namespace rowbloom::bench {

void Check(const rocksdb::Status& status, const std::string& doing);

// The files of a level, or of all levels.
struct Level {
  int level = 0;
  uint64_t files = 0;
  uint64_t keys = 0;
  uint64_t data_blocks = 0;
  uint64_t data_bytes = 0;
  uint64_t filter_bytes = 0;  // As stored.
  uint64_t filter_keys = 0;   // As the policy counts them.
  uint64_t files_without_filter = 0;

  // Filter bits for each key of the files.
  double BitsPerKey() const;
};
Level SumOf(const std::vector<Level>& levels);
// Levels without their filters: all policies have them in common.
Json LevelsJson(const std::vector<Level>& levels);

// A new database, which is removed at the end.
class Database {
 public:
  Database(const rocksdb::Options& options, std::string path);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::DB* db() const { return db_.get(); }
  const std::string& path() const { return path_; }
  const rocksdb::Options& options() const { return options_; }

  // Puts without a write-ahead log. The memtable gets them in batches.
  void Put(const rocksdb::Slice& key, const rocksdb::Slice& value);
  void Write();  // Writes the last batch.
  void Flush();
  // Until no compaction is due.
  void WaitForCompactions() const;
  // Null: the same block cache, or policy, as before.
  void Reopen(std::shared_ptr<rocksdb::Cache> block_cache = nullptr,
              const Policy* policy = nullptr);
  // The levels that have files.
  std::vector<Level> ReadLevels() const;

 private:
  void Open();

  rocksdb::Options options_;
  const std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteBatch batch_;
};

// The levels of a Tree, unless it has another number, and the level of a cell:
// drawn by its hash, with odds as the sizes of the levels, of which each is ten
// times larger than the one above.
inline constexpr int kLevelCount = 4;
int LevelOf(uint64_t hash);

struct TreeOptions {
  int level_count = kLevelCount;
  bool is_universal = false;
  // Null: a cache that stays empty if gets do not fill it.
  std::shared_ptr<rocksdb::Cache> block_cache;
  // Reads are direct unless filters and indexes are in the table readers.
  FilterPlace place = FilterPlace::kTableReaders;
  rocksdb::CompressionType compression = rocksdb::kNoCompression;
};
inline constexpr uint64_t kBlockSizeBytes = 4096;
inline constexpr uint64_t kFileSizeBytes = 8 << 20;

struct Tree {
  // Puts each cell of a level into `database`.
  using FillLevel = std::function<void(int level, Database* database)>;

  // `shape` is null, or the LevelsJson() that the tree must have; it is set.
  Tree(const TreeOptions& options, const Policy& policy,
       const std::string& path, const FillLevel& fill, Json* shape);

  rocksdb::DB* db() const { return database.db(); }

  // Writes all SSTs anew, some times, with filters of this policy. Calls gets()
  // twice before each time.
  void Rewrite(const Policy& policy, const std::function<void()>& gets);

  Database database;
  std::vector<Level> levels;
  Level all;  // The sum of the levels.
  // Processor time that the process spent in compactions.
  double compaction_cpu_seconds = 0;
};

// Builds trees with more or fewer bits per key until the filters of one take
// wanted_bytes(tree), within this share of them, or a few trials have passed. 0
// bytes: any. Sets `bits` to those that `build` was last called with.
std::unique_ptr<Tree> BuildAsLarge(
    const std::function<std::unique_ptr<Tree>(double bits)>& build,
    const std::function<double(const Tree&)>& wanted_bytes, double tolerance,
    double* bits);

// The data blocks that point gets of this thread read, as RocksDB's PerfContext
// counts them: the misses of the block cache. StopCounting() returns them and
// throws std::runtime_error if an index or a filter was read.
void StartCounting();
uint64_t StopCounting();

// Counts since StartCounting().
uint64_t DataReads();
uint64_t DataReadsOfLevel(uint32_t level);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_ROCKSDB_TREE_H_
