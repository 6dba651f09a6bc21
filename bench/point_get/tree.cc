// SPDX-License-Identifier: Apache-2.0

#include "tree.h"

#include <stdexcept>

#include "bench/machine.h"
#include "rocksdb/metadata.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/write_batch.h"
#include "rocksdb_plugin/open_db.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::point_get {
namespace {

constexpr uint64_t kBatchCells = 1000;

void Check(const rocksdb::Status& status, const std::string& doing) {
  if (!status.ok()) {
    throw std::runtime_error(doing + ": " + status.ToString());
  }
}

rocksdb::Options MakeRocksDbOptions(const TreeOptions& options,
                                    const Policy& policy) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = policy.filter;
  table.whole_key_filtering = true;
  table.block_size = options.block_size_bytes;
  // Indexes and filters live in memory with their open files.
  table.cache_index_and_filter_blocks = false;
  table.block_cache = options.block_cache != nullptr
                          ? options.block_cache
                          : rocksdb::NewLRUCache(1 << 20);

  rocksdb::Options rocksdb;
  rocksdb.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb.prefix_extractor = policy.prefix_extractor;
  rocksdb.listeners = policy.listeners;
  if (options.env != nullptr) rocksdb.env = options.env;
  rocksdb.create_if_missing = true;
  rocksdb.error_if_exists = true;
  rocksdb.max_open_files = -1;
  rocksdb.num_levels = options.level_count + 1;
  rocksdb.compaction_style = options.compaction_style;
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

Tree::Tree(const TreeOptions& options, const FillLevel& fill,
           const Policy& policy, const std::string& path,
           bench::Progress* progress)
    : path_(path),
      options_(options),
      rocksdb_options_(MakeRocksDbOptions(options, policy)) {
  Open();  // Outside of the try: what was there before is not ours to remove.
  try {
    // Deepest first: a compaction may not meet files below its output.
    for (int level = options.level_count; level >= 1; --level) {
      Write(fill, level, progress);
      const double start = bench::ProcessCpuSeconds();
      Check(db_->Flush(rocksdb::FlushOptions()), "flushing " + path_);
      CompactLevel0Into(level);
      build_cpu_seconds_ += bench::ProcessCpuSeconds() - start;
    }
    // Reopened, so that all that is read from now on is what was stored.
    Check(db_->Close(), "closing " + path_);
    db_.reset();
    rocksdb_options_.error_if_exists = false;
    Open();
    ReadProperties();
  } catch (...) {
    db_.reset();
    if (!options_.keep_database) rocksdb::DestroyDB(path_, rocksdb_options_);
    throw;
  }
}

Tree::~Tree() {
  db_.reset();
  if (!options_.keep_database) rocksdb::DestroyDB(path_, rocksdb_options_);
}

FilterSize Tree::filter_size() const {
  FilterSize sum;
  for (const auto& [level, size] : filter_size_by_level_) {
    sum.bytes += size.bytes;
    sum.key_count += size.key_count;
    sum.cell_count += size.cell_count;
    sum.files_without += size.files_without;
  }
  return sum;
}

void Tree::Open() {
  Check(rowbloom::OpenDb(
            [&](auto* db) {
              return rocksdb::DB::Open(rocksdb_options_, path_, db);
            },
            &db_),
        "opening " + path_);
}

void Tree::Write(const FillLevel& fill, int level, bench::Progress* progress) {
  rocksdb::WriteOptions write_options;
  write_options.disableWAL = true;
  rocksdb::WriteBatch batch;
  const auto write = [&] {
    Check(db_->Write(write_options, &batch), "writing to " + path_);
    progress->Add(batch.Count());
    batch.Clear();
  };
  fill(level, [&](const rocksdb::Slice& key, const rocksdb::Slice& value) {
    Check(batch.Put(key, value), "writing to " + path_);
    if (batch.Count() == kBatchCells) write();
  });
  write();
}

void Tree::CompactLevel0Into(int level) {
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
  compaction.output_file_size_limit = options_.file_size_bytes;
  Check(db_->CompactFiles(compaction, files, level), "compacting " + path_);
}

void Tree::ReadProperties() {
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
    LevelShape& shape = levels[file.level];
    shape.level = file.level;
    shape.file_count += 1;
    shape.cell_count += table.num_entries;
    shape.data_block_count += table.num_data_blocks;
    shape.data_bytes += table.data_size;
    FilterSize& size = filter_size_by_level_[file.level];
    size.bytes += table.filter_size;
    size.key_count += table.num_filter_entries;
    size.cell_count += table.num_entries;
    size.files_without += table.filter_size == 0;
  }
  for (const auto& [level, shape] : levels) levels_.push_back(shape);
}

}  // namespace rowbloom::point_get
