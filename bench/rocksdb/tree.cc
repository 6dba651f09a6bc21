// SPDX-License-Identifier: Apache-2.0

#include "tree.h"

#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "bench/machine.h"
#include "rocksdb/metadata.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb_plugin/open_db.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::bench {
namespace {

constexpr uint64_t kBatchCells = 1000;

rocksdb::Options RocksDbOptionsOf(const TreeOptions& options,
                                  const Policy& policy) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = policy.filter;
  table.whole_key_filtering = true;
  table.block_size = kBlockSizeBytes;
  const bool in_cache = options.place != FilterPlace::kTableReaders;
  table.cache_index_and_filter_blocks = in_cache;
  if (in_cache) {
    table.cache_index_and_filter_blocks_with_high_priority = true;
    table.pin_top_level_index_and_filter = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.metadata_block_size = kBlockSizeBytes;
  }
  if (options.place == FilterPlace::kPinnedPartitions) {
    table.metadata_cache_options.partition_pinning = rocksdb::PinningTier::kAll;
  }
  table.block_cache = options.block_cache != nullptr
                          ? options.block_cache
                          : rocksdb::NewLRUCache(1 << 20);

  rocksdb::Options rocksdb;
  rocksdb.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb.prefix_extractor = policy.prefix_extractor;
  rocksdb.listeners = policy.listeners;
  rocksdb.statistics = policy.statistics;
  rocksdb.use_direct_reads = in_cache;
  rocksdb.max_open_files = -1;
  rocksdb.compression = options.compression;
  rocksdb.num_levels = options.level_count + 1;
  if (options.is_universal) {
    rocksdb.compaction_style = rocksdb::kCompactionStyleUniversal;
  }
  rocksdb.disable_auto_compactions = true;
  rocksdb.target_file_size_base = kFileSizeBytes;
  if (policy.is_rowbloom) {
    Check(CheckRocksDbOptions(rocksdb), policy.name);
  }
  return rocksdb;
}

uint64_t MetadataReads(const rocksdb::PerfContext& perf) {
  return perf.index_block_read_count + perf.filter_block_read_count +
         perf.compression_dict_block_read_count;
}

// Writes the SSTs of one level anew, to this level.
void Compact(int from, int level, rocksdb::DB* db) {
  rocksdb::ColumnFamilyMetaData meta;
  db->GetColumnFamilyMetaData(&meta);
  std::vector<std::string> files;
  for (const rocksdb::SstFileMetaData& file : meta.levels.at(from).files) {
    files.push_back(file.name);
  }
  if (files.empty()) {
    throw std::runtime_error("level " + std::to_string(level) +
                             " would be empty: give more rows or keys");
  }
  rocksdb::CompactionOptions compaction;
  compaction.compression = db->GetOptions().compression;
  compaction.output_file_size_limit = kFileSizeBytes;
  Check(db->CompactFiles(compaction, files, level), "compacting");
}

// RocksDB reports no CompactFiles() to listeners. They learn of the tree as at
// flushes: at the first one they list its SSTs, and at each they read the
// properties of some, and count the gets since the one before.
void TellListeners(const Policy& policy, rocksdb::DB* db) {
  constexpr int kFlushes = 50;
  rocksdb::FlushJobInfo flush{};
  flush.cf_name = rocksdb::kDefaultColumnFamilyName;
  for (int i = 0; i < kFlushes; ++i) {
    for (const auto& listener : policy.listeners) {
      listener->OnFlushBegin(db, flush);
    }
  }
}

}  // namespace

void Check(const rocksdb::Status& status, const std::string& doing) {
  if (!status.ok()) {
    throw std::runtime_error(doing + ": " + status.ToString());
  }
}

double Level::BitsPerKey() const {
  return 8.0 * static_cast<double>(filter_bytes) / static_cast<double>(keys);
}

Level SumOf(const std::vector<Level>& levels) {
  Level sum;
  for (const Level& level : levels) {
    sum.files += level.files;
    sum.keys += level.keys;
    sum.data_blocks += level.data_blocks;
    sum.data_bytes += level.data_bytes;
    sum.filter_bytes += level.filter_bytes;
    sum.filter_keys += level.filter_keys;
    sum.files_without_filter += level.files_without_filter;
  }
  return sum;
}

Json LevelsJson(const std::vector<Level>& levels) {
  Json json = Json::array();
  for (const Level& level : levels) {
    json.push_back({{"level", level.level},
                    {"files", level.files},
                    {"keys", level.keys},
                    {"data_blocks", level.data_blocks},
                    {"data_bytes", level.data_bytes}});
  }
  return json;
}

Database::Database(const rocksdb::Options& options, std::string path)
    : options_(options), path_(std::move(path)) {
  options_.create_if_missing = true;
  options_.error_if_exists = true;
  options_.info_log_level = rocksdb::WARN_LEVEL;
  Open();
}

Database::~Database() {
  db_.reset();
  rocksdb::DestroyDB(path_, options_);
}

void Database::Open() {
  Check(plugin::OpenDb(
            [&](auto* db) { return rocksdb::DB::Open(options_, path_, db); },
            &db_),
        "opening " + path_);
}

void Database::Put(const rocksdb::Slice& key, const rocksdb::Slice& value) {
  Check(batch_.Put(key, value), "writing to " + path_);
  if (batch_.Count() == kBatchCells) Write();
}

void Database::Write() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  Check(db_->Write(options, &batch_), "writing to " + path_);
  batch_.Clear();
}

void Database::Flush() {
  Write();
  Check(db_->Flush(rocksdb::FlushOptions()), "flushing " + path_);
}

void Database::WaitForCompactions() const {
  // Each turn does what is scheduled; the next does what follows from that.
  const std::string waiting = "waiting for " + path_;
  uint64_t version = 0;
  uint64_t last_version = 0;
  do {
    last_version = version;
    Check(db_->PauseBackgroundWork(), waiting);
    if (!db_->GetIntProperty(
            rocksdb::DB::Properties::kCurrentSuperVersionNumber, &version)) {
      throw std::runtime_error("RocksDB does not number versions");
    }
    Check(db_->ContinueBackgroundWork(), waiting);
  } while (version != last_version);
}

void Database::Reopen(std::shared_ptr<rocksdb::Cache> block_cache,
                      const Policy* policy) {
  Check(db_->Close(), "closing " + path_);
  db_.reset();
  auto table =
      *options_.table_factory->GetOptions<rocksdb::BlockBasedTableOptions>();
  if (block_cache != nullptr) table.block_cache = std::move(block_cache);
  if (policy != nullptr) {
    table.filter_policy = policy->filter;
    options_.listeners = policy->listeners;
    options_.statistics = policy->statistics;
  }
  options_.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options_.error_if_exists = false;
  Open();
}

std::vector<Level> Database::ReadLevels() const {
  rocksdb::TablePropertiesCollection properties;
  Check(db_->GetPropertiesOfAllTables(&properties), "reading " + path_);
  std::vector<rocksdb::LiveFileMetaData> files;
  db_->GetLiveFilesMetaData(&files);
  std::map<int, Level> by_number;
  for (const rocksdb::LiveFileMetaData& file : files) {
    const std::string name = file.db_path + file.name;
    const auto it = properties.find(name);
    if (it == properties.end()) {
      throw std::runtime_error(name + ": has no table properties");
    }
    const rocksdb::TableProperties& table = *it->second;
    Level& level = by_number[file.level];
    level.level = file.level;
    level.files += 1;
    level.keys += table.num_entries;
    level.data_blocks += table.num_data_blocks;
    level.data_bytes += table.data_size;
    level.filter_bytes += table.filter_size;
    level.filter_keys += table.num_filter_entries;
    level.files_without_filter += table.filter_size == 0;
  }
  std::vector<Level> levels;
  for (const auto& [number, level] : by_number) levels.push_back(level);
  return levels;
}

int LevelOf(uint64_t hash) {
  constexpr double kSizes[kLevelCount] = {10, 100, 1000, 10000};
  constexpr double kSum = 11110;
  const double at = std::ldexp(static_cast<double>(hash), -64) * kSum;
  double limit = 0;
  for (int level = 1; level < kLevelCount; ++level) {
    limit += kSizes[level - 1];
    if (at < limit) return level;
  }
  return kLevelCount;
}

std::unique_ptr<Tree> BuildAsLarge(
    const std::function<std::unique_ptr<Tree>(double bits)>& build,
    const std::function<double(const Tree&)>& wanted_bytes, double tolerance,
    double* bits) {
  constexpr int kMostTrials = 4;
  for (int trial = 1;; ++trial) {
    auto tree = build(*bits);
    const auto bytes = static_cast<double>(tree->all.filter_bytes);
    const double wanted = wanted_bytes(*tree);
    if (bytes == 0 || wanted == 0 || trial == kMostTrials ||
        std::abs(bytes / wanted - 1) <= tolerance) {
      return tree;
    }
    *bits *= wanted / bytes;
  }
}

Tree::Tree(const TreeOptions& options, const Policy& policy,
           const std::string& path, const FillLevel& fill, Json* shape)
    : database(RocksDbOptionsOf(options, policy), path) {
  // The deepest level is first: no files may be below a compaction's output.
  for (int level = options.level_count; level >= 1; --level) {
    fill(level, &database);
    database.Write();
    database.Flush();
    TellListeners(policy, db());
    const double start = ProcessCpuSeconds();
    Compact(0, level, db());
    compaction_cpu_seconds += ProcessCpuSeconds() - start;
  }
  // After reopening, all reads are from what was stored.
  database.Reopen();
  levels = database.ReadLevels();
  all = SumOf(levels);
  if (policy.has_filter_in_each_file && all.files_without_filter != 0) {
    throw std::runtime_error("files were written without the filter of " +
                             policy.name);
  }
  if (shape->is_null()) *shape = LevelsJson(levels);
  if (*shape != LevelsJson(levels)) {
    throw std::runtime_error("the tree of " + policy.name +
                             " differs in shape from the others'");
  }
}

void Tree::Rewrite(const Policy& policy, const std::function<void()>& gets) {
  // A budget's control needs some passes until it settles.
  constexpr int kPasses = 4;
  for (int pass = 0; pass < kPasses; ++pass) {
    database.Reopen(nullptr, &policy);
    const Json before = LevelsJson(database.ReadLevels());
    gets();  // They warm the cache.
    TellListeners(policy, db());
    gets();
    TellListeners(policy, db());
    for (const Level& level : levels) {
      if (level.level > 0) Compact(level.level, level.level, db());
    }
    levels = database.ReadLevels();
    all = SumOf(levels);
    if (LevelsJson(levels) != before) {
      throw std::runtime_error("writing " + database.path() +
                               " anew changed its SSTs");
    }
  }
}

void StartCounting() {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->EnablePerLevelPerfContext();
  rocksdb::get_perf_context()->Reset();
}

uint64_t StopCounting() {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  if (MetadataReads(*rocksdb::get_perf_context()) != 0) {
    throw std::runtime_error("indexes or filters did not stay in memory");
  }
  return DataReads();
}

uint64_t DataReads() {
  const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  return perf.block_read_count - MetadataReads(perf);
}

uint64_t DataReadsOfLevel(uint32_t level) {
  const auto& levels = *rocksdb::get_perf_context()->level_to_perf_context;
  const auto it = levels.find(level);
  return it == levels.end() ? 0 : it->second.block_cache_miss_count;
}

}  // namespace rowbloom::bench
