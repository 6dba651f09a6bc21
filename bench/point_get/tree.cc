// SPDX-License-Identifier: Apache-2.0

#include "tree.h"

#include <cmath>
#include <map>
#include <stdexcept>

#include "rocksdb/cache.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/write_batch.h"
#include "rowbloom/rocksdb.h"
#include "workload.h"

namespace rowbloom::point_get {
namespace {

constexpr uint64_t kLevelSeed = 300;
constexpr uint64_t kBatchCells = 1000;

void Check(const rocksdb::Status& status, const std::string& doing) {
  if (!status.ok()) {
    throw std::runtime_error(doing + ": " + status.ToString());
  }
}

// The level of a cell: a fair draw, by hash, with odds as the levels' sizes.
class LevelChooser {
 public:
  LevelChooser(int level_count, double level_ratio) {
    double sum = 0;
    for (int level = 1; level <= level_count; ++level) {
      sum += std::pow(level_ratio, level);
      limits_.push_back(sum);
    }
  }

  int Level(std::string_view row, uint32_t qualifier) const {
    const uint64_t hash = Scramble(row, kLevelSeed + qualifier);
    const double at = std::ldexp(static_cast<double>(hash), -64);
    size_t i = 0;
    while (i + 1 < limits_.size() && at * limits_.back() >= limits_[i]) ++i;
    return static_cast<int>(i) + 1;
  }

 private:
  std::vector<double> limits_;
};

rocksdb::Options MakeRocksDbOptions(const Options& options,
                                    const Policy& policy) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = policy.filter;
  table.whole_key_filtering = true;
  table.block_size = options.block_size_bytes;
  // Indexes and filters live in memory with their open files. The cache
  // stays empty, for gets do not fill it: each data block is read.
  table.cache_index_and_filter_blocks = false;
  table.block_cache = rocksdb::NewLRUCache(1 << 20);

  rocksdb::Options rocksdb;
  rocksdb.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb.prefix_extractor = policy.prefix_extractor;
  rocksdb.create_if_missing = true;
  rocksdb.error_if_exists = true;
  rocksdb.max_open_files = -1;
  rocksdb.num_levels = options.level_count + 1;
  rocksdb.disable_auto_compactions = true;
  rocksdb.target_file_size_base = options.file_size_bytes;
  rocksdb.compression = rocksdb::kNoCompression;
  rocksdb.use_direct_reads = options.direct_reads;
  rocksdb.info_log_level = rocksdb::WARN_LEVEL;
  if (policy.is_rowbloom) {
    Check(CheckRocksDbOptions(rocksdb), policy.name);
  }
  return rocksdb;
}

}  // namespace

Tree::Tree(const Options& options, const Dataset& data, const Policy& policy,
           const std::string& path, Progress* progress)
    : path_(path),
      keep_(options.keep_databases),
      rocksdb_options_(MakeRocksDbOptions(options, policy)) {
  Open();  // Outside of the try: what was there before is not ours to remove.
  try {
    // Deepest first: a compaction may not meet files below its output.
    for (int level = options.level_count; level >= 1; --level) {
      FillLevel(options, data, level, progress);
    }
    // Reopened, so that all that is read from now on is what was stored.
    Check(db_->Close(), "closing " + path_);
    db_.reset();
    rocksdb_options_.error_if_exists = false;
    Open();
    ReadProperties(policy);
  } catch (...) {
    db_.reset();
    if (!keep_) rocksdb::DestroyDB(path_, rocksdb_options_);
    throw;
  }
}

Tree::~Tree() {
  db_.reset();
  if (!keep_) rocksdb::DestroyDB(path_, rocksdb_options_);
}

void Tree::Open() {
  rocksdb::DB* db = nullptr;
  Check(rocksdb::DB::Open(rocksdb_options_, path_, &db), "opening " + path_);
  db_.reset(db);
}

void Tree::FillLevel(const Options& options, const Dataset& data, int level,
                     Progress* progress) {
  const LevelChooser chooser(options.level_count, options.level_ratio);
  rocksdb::WriteOptions write_options;
  write_options.disableWAL = true;
  rocksdb::WriteBatch batch;
  std::string value;
  const auto write = [&] {
    Check(db_->Write(write_options, &batch), "writing to " + path_);
    progress->Add(batch.Count());
    batch.Clear();
  };
  for (size_t i = 0; i < data.row_count(); ++i) {
    for (const uint32_t q : data.columns(i)) {
      if (chooser.Level(data.row(i), q) != level) continue;
      const std::string key = EncodeKey(data.row(i), data.qualifier(q));
      MakeValue(key, options.value_size_bytes, &value);
      Check(batch.Put(key, value), "writing to " + path_);
      if (batch.Count() == kBatchCells) write();
    }
  }
  write();
  Check(db_->Flush(rocksdb::FlushOptions()), "flushing " + path_);
  CompactLevel0Into(level, options.file_size_bytes);
}

void Tree::CompactLevel0Into(int level, uint64_t file_size_bytes) {
  rocksdb::ColumnFamilyMetaData meta;
  db_->GetColumnFamilyMetaData(&meta);
  std::vector<std::string> files;
  for (const rocksdb::SstFileMetaData& file : meta.levels.at(0).files) {
    files.push_back(file.name);
  }
  if (files.empty()) {
    throw std::runtime_error(
        "level " + std::to_string(level) +
        " would be empty: give more rows, fewer --levels or a smaller "
        "--level_ratio");
  }
  rocksdb::CompactionOptions compaction;
  compaction.compression = rocksdb::kNoCompression;
  compaction.output_file_size_limit = file_size_bytes;
  Check(db_->CompactFiles(compaction, files, level), "compacting " + path_);
}

void Tree::ReadProperties(const Policy& policy) {
  rocksdb::TablePropertiesCollection properties;
  Check(db_->GetPropertiesOfAllTables(&properties), "reading " + path_);
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::map<int, LevelShape> levels;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const std::string name = file.db_path + file.name;
    const auto it = properties.find(name);
    if (it == properties.end()) {
      throw std::runtime_error(name + ": has no table properties");
    }
    const rocksdb::TableProperties& table = *it->second;
    if (policy.filter != nullptr && table.filter_size == 0) {
      throw std::runtime_error(name + ": was written without the filter of " +
                               policy.name);
    }
    LevelShape& shape = levels[file.level];
    shape.level = file.level;
    shape.file_count += 1;
    shape.cell_count += table.num_entries;
    shape.data_block_count += table.num_data_blocks;
    shape.data_bytes += table.data_size;
    filter_size_.bytes += table.filter_size;
    filter_size_.key_count += table.num_filter_entries;
    filter_size_.cell_count += table.num_entries;
  }
  for (const auto& [level, shape] : levels) levels_.push_back(shape);
}

}  // namespace rowbloom::point_get
