// SPDX-License-Identifier: Apache-2.0
//
// A RocksDB in memory that is small enough to have many files, blocks and
// filter partitions, and the questions that tests ask it.
//
//   TestDb db;
//   db.set_up.partitioned = true;
//   db.Open();
//   db.Fill(500);
//   EXPECT_TRUE(db.Has(db.Key(Row(1), "q")));

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_TEST_DB_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_TEST_DB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "open_db.h"
#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/slice_transform.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb/version.h"
#include "rocksdb_plugin/rocksdb_release.h"
#include "rowbloom/filter.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_rows.h"
#if ROCKSDB_MAJOR >= 8
#include "rocksdb/advanced_cache.h"
#endif

namespace rowbloom::testing {

// Names of up to 9000 rows are as long and in the order of their numbers.
inline std::string Row(int row) { return "row" + std::to_string(1000 + row); }

inline std::shared_ptr<const rdb::FilterPolicy> StockBloom(
    double bits_per_key = 10) {
  return std::shared_ptr<const rdb::FilterPolicy>(
      rdb::NewBloomFilterPolicy(bits_per_key));
}
inline std::shared_ptr<const rdb::FilterPolicy> StockRibbon() {
  return std::shared_ptr<const rdb::FilterPolicy>(
      rdb::NewRibbonFilterPolicy(10));
}

// Filter keys for rows and for columns, unless a test says otherwise.
inline RocksDbOptions RowsAndColumns() {
  RocksDbOptions options;
  options.key_codec = KeyCodec::Ordered();
  return options;
}

// The settings that differ between tests.
struct DbSetUp {
  RocksDbOptions filter = RowsAndColumns();
  // If set, this policy replaces the filter above, for example as a control.
  std::shared_ptr<const rdb::FilterPolicy> other_policy;
  // The extractor's bloom type; its codec is the filter's.
  BloomType extractor_type = BloomType::kRowCol;
  bool extractor = true;
  bool whole_key_filtering = true;
  bool partitioned = false;
  uint64_t metadata_block_size_bytes = 150;  // Some 50 keys a partition.
  // If false, separators between blocks are whole keys.
  bool shorten_separators = true;
  bool cache_filter_blocks = false;
  std::shared_ptr<rdb::Cache> block_cache;
  uint64_t target_file_size_bytes = 64 << 20;
  // The directory of real files; if empty, all files are in memory.
  std::string directory;
};

// Returns a policy of default bits for each family that filters, the default
// family first.
inline std::vector<FilterSpec> SpecsOfEachFamily() {
  std::vector<FilterSpec> policies;
  for (const std::string_view family : FilterFamilyNames()) {
    if (family == "always_maybe") continue;
    policies.push_back(FilterSpec().WithFamily(family));
  }
  return policies;
}

inline std::string SetUpName(const DbSetUp& set_up) {
  std::string name(BloomTypeName(set_up.filter.effective_bloom_type()));
  name += " " + set_up.filter.key_codec.ToString();
  name += " " + set_up.filter.filter_spec.family();
  name += set_up.extractor ? " extractor=" : " no extractor";
  if (set_up.extractor) name += BloomTypeName(set_up.extractor_type);
  name += set_up.whole_key_filtering ? " whole" : "";
  name += set_up.partitioned ? " partitioned" : "";
  name += set_up.cache_filter_blocks ? " cached" : "";
  return name;
}

class TestDb {
 public:
  TestDb() : env_(rdb::NewMemEnv(rdb::Env::Default())) {}
  // Shares the files of `other`, which are in memory.
  explicit TestDb(const TestDb* other) : env_(other->env_) {}
  ~TestDb() { Close(); }

  DbSetUp set_up;

  rdb::BlockBasedTableOptions TableOptions() const {
    rdb::BlockBasedTableOptions table;
    table.filter_policy = set_up.other_policy != nullptr
                              ? set_up.other_policy
                              : NewRocksDbFilterPolicy(set_up.filter);
    table.whole_key_filtering = set_up.whole_key_filtering;
    table.cache_index_and_filter_blocks = set_up.cache_filter_blocks;
    table.detect_filter_construct_corruption = true;
    table.block_size = 512;
    if (!set_up.shorten_separators) {
      table.index_shortening =
          rdb::BlockBasedTableOptions::IndexShorteningMode::kNoShortening;
    }
    table.block_cache = set_up.block_cache;
    if (set_up.partitioned) {
      table.partition_filters = true;
      table.index_type = rdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
      table.metadata_block_size = set_up.metadata_block_size_bytes;
    }
    return table;
  }

  rdb::Options MakeOptions() const { return MakeOptions(TableOptions()); }
  rdb::Options MakeOptions(const rdb::BlockBasedTableOptions& table) const {
    rdb::Options options;
    if (set_up.directory.empty()) options.env = env_.get();
    options.create_if_missing = true;
    options.statistics = statistics_;
    // Files appear and move only when a test says so.
    options.disable_auto_compactions = true;
    options.level0_slowdown_writes_trigger = 1000;
    options.level0_stop_writes_trigger = 1000;
    options.target_file_size_base = set_up.target_file_size_bytes;
    options.compression = rdb::kNoCompression;
    if (set_up.extractor) {
      RocksDbOptions filter = set_up.filter;
      filter.bloom_type = set_up.extractor_type;
      options.prefix_extractor = NewRowPrefixExtractor(filter);
    }
    options.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
    return options;
  }

  void Open() { Open(MakeOptions()); }
  void Open(const rdb::Options& options) {
    const rdb::Status status = TryOpen(options);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  rdb::Status TryOpen(rdb::Options options) {
    Close();
    // OPTIONS files name no Env.
    if (set_up.directory.empty()) options.env = env_.get();
    return plugin::OpenDb(
        [&](auto* db) { return rdb::DB::Open(options, directory(), db); },
        &db_);
  }
  // Opens the database with a function other than DB::Open(): see OpenDb().
  template <typename OpenFunction>
  void OpenBy(OpenFunction&& open) {
    const rdb::Status status = plugin::OpenDb(open, &db_);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  // Returns the options of the last OPTIONS file.
  rdb::Options LoadOptions(rdb::ConfigOptions config = {}) const {
    config.env = env_.get();
    rdb::DBOptions db_options;
    std::vector<rdb::ColumnFamilyDescriptor> families;
    const rdb::Status status =
        rdb::LoadLatestOptions(config, path(), &db_options, &families);
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(families.size(), 1);
    return families.empty() ? rdb::Options()
                            : rdb::Options(db_options, families[0].options);
  }
  // Takes a database that a function other than DB::Open() opened.
  void Adopt(std::unique_ptr<rdb::DB> db) { db_ = std::move(db); }
  void Close() { db_.reset(); }

  static std::string path() { return "/db"; }
  std::string directory() const {
    return set_up.directory.empty() ? path() : set_up.directory;
  }
  rdb::Env* env() const { return env_.get(); }
  rdb::DB* operator->() const { return db_.get(); }
  rdb::DB* get() const { return db_.get(); }

  std::string Key(std::string_view row, std::string_view qualifier,
                  std::string_view suffix = "") const {
    std::string key;
    EXPECT_TRUE(set_up.filter.key_codec.Encode(row, qualifier, &key).ok());
    return key.append(suffix);
  }

  void Put(const std::string& key, const std::string& value) {
    ASSERT_TRUE(db_->Put({}, key, value).ok());
  }
  // Puts a cell of each row from Row(0) on.
  void PutRows(int count, std::string_view qualifier = "q",
               std::string_view version = "") {
    for (int row = 0; row < count; ++row) {
      Put(Key(Row(row), qualifier, version), "value");
    }
  }
  // Writes one SST of such cells.
  void Fill(int count, std::string_view qualifier = "q",
            std::string_view version = "") {
    PutRows(count, qualifier, version);
    Flush();
  }
  void OpenAndFill(int count, std::string_view qualifier = "q",
                   std::string_view version = "") {
    Open();
    Fill(count, qualifier, version);
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    ASSERT_TRUE(
        db_->DeleteRange({}, db_->DefaultColumnFamily(), begin, end).ok());
  }
  // The keys must rise.
  void Ingest(const std::vector<std::string>& keys) {
    Ingest(keys, MakeOptions());
  }
  void Ingest(const std::vector<std::string>& keys,
              const rdb::Options& options) {
    rdb::SstFileWriter writer({}, options);
    const std::string sst = absl::StrCat(path(), "/ingested.sst");
    ASSERT_TRUE(writer.Open(sst).ok());
    for (const std::string& key : keys) {
      ASSERT_TRUE(writer.Put(key, "value").ok());
    }
    ASSERT_TRUE(writer.Finish().ok());
    rdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    ASSERT_TRUE(db_->IngestExternalFile({sst}, ingest).ok());
  }
  void Flush() { ASSERT_TRUE(db_->Flush({}).ok()); }
  void Compact() {
    rdb::CompactRangeOptions options;
    options.bottommost_level_compaction =
        rdb::BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db_->CompactRange(options, nullptr, nullptr).ok());
  }

  // Compacts the SSTs of level 0 into another level.
  void CompactTo(int level, uint64_t output_file_size_limit = ~uint64_t{0}) {
    std::vector<std::string> names;
    for (const rdb::LiveFileMetaData& file : Files()) {
      if (file.level == 0) names.push_back(file.name);
    }
    rdb::CompactionOptions options;
    options.output_file_size_limit = output_file_size_limit;
    ASSERT_TRUE(db_->CompactFiles(options, names, level).ok());
  }

  std::vector<rdb::LiveFileMetaData> Files() const {
    std::vector<rdb::LiveFileMetaData> files;
    db_->GetLiveFilesMetaData(&files);
    return files;
  }
  std::string PathOfOnlySst() const {
    EXPECT_EQ(Files().size(), 1);
    return Files().at(0).db_path + Files().at(0).name;
  }
  std::string ReadSst(const std::string& sst) const {
    std::string bytes;
    EXPECT_TRUE(rdb::ReadFileToString(env(), sst, &bytes).ok());
    return bytes;
  }
  void WriteSst(const std::string& sst, const std::string& bytes) const {
    EXPECT_TRUE(
        rdb::WriteStringToFile(env(), bytes, sst, /*should_sync=*/true).ok());
  }
  // Closes the database and flips a bit in the middle of each of these parts of
  // its only SST.
  void DamageOnDisk(const std::vector<std::string>& parts) {
    const std::string sst = PathOfOnlySst();
    Close();
    std::string bytes = ReadSst(sst);
    for (const std::string& part : parts) {
      const size_t at = bytes.find(part);
      ASSERT_NE(at, std::string::npos);
      bytes[at + part.size() / 2] ^= 1;
    }
    WriteSst(sst, bytes);
  }

  std::unique_ptr<rdb::Iterator> NewIterator(
      const rdb::ReadOptions& read = {}) const {
    return std::unique_ptr<rdb::Iterator>(db_->NewIterator(read));
  }
  RocksDbRows Rows(const RocksDbSampling& sampling = {}) const {
    return RocksDbRows(db_.get(), db_->DefaultColumnFamily(),
                       set_up.filter.key_codec, sampling);
  }
  bool Has(const std::string& key) const {
    std::string value;
    return db_->Get({}, key, &value).ok();
  }
  uint64_t Ticker(rdb::Tickers ticker) const {
    return statistics_->getTickerCount(ticker);
  }
  // Returns how many reads filters have spared.
  uint64_t Useful() const {
    return Ticker(rdb::BLOOM_FILTER_USEFUL) + PrefixUseful();
  }
  // Returns how many files' filters were asked for a prefix; PrefixUseful()
  // counts those that were then not read. RocksDB 8.3 gave seeks their own
  // tickers.
  uint64_t PrefixChecks() const {
    uint64_t checks = Ticker(rdb::BLOOM_FILTER_PREFIX_CHECKED);
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 803
    checks += SeeksFiltered() + Ticker(rdb::LAST_LEVEL_SEEK_FILTER_MATCH) +
              Ticker(rdb::NON_LAST_LEVEL_SEEK_FILTER_MATCH);
#endif
    return checks;
  }
  uint64_t PrefixUseful() const {
    uint64_t useful = Ticker(rdb::BLOOM_FILTER_PREFIX_USEFUL);
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 803
    useful += SeeksFiltered();
#endif
    return useful;
  }

  // Returns one entry for each file.
  std::vector<std::shared_ptr<const rdb::TableProperties>> Properties() const {
    rdb::TablePropertiesCollection collection;
    EXPECT_TRUE(db_->GetPropertiesOfAllTables(&collection).ok());
    std::vector<std::shared_ptr<const rdb::TableProperties>> all;
    for (const auto& [name, properties] : collection) {
      all.push_back(properties);
    }
    return all;
  }
  uint64_t FilterEntries() const {
    uint64_t entries = 0;
    for (const auto& p : Properties()) entries += p->num_filter_entries;
    return entries;
  }
  uint64_t FilterBytes() const {
    uint64_t bytes = 0;
    for (const auto& p : Properties()) bytes += p->filter_size;
    return bytes;
  }

 private:
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 803
  uint64_t SeeksFiltered() const {
    return Ticker(rdb::LAST_LEVEL_SEEK_FILTERED) +
           Ticker(rdb::NON_LAST_LEVEL_SEEK_FILTERED);
  }
#endif

  std::shared_ptr<rdb::Env> env_;
  std::shared_ptr<rdb::Statistics> statistics_ = rdb::CreateDBStatistics();
  std::unique_ptr<rdb::DB> db_;
};

// The way in which ScanRow() asks for the keys of a row.
enum class Scan {
  kPlain,           // Seek, and stop where the row ends.
  kAutoPrefixMode,  // With an upper bound; what the README recommends.
  kPrefixSameAsStart,
  kTotalOrder,
};

// Returns the keys of `row`, as RocksDB finds them.
inline std::vector<std::string> ScanRow(const TestDb& db, Scan scan,
                                        std::string_view row) {
  const KeyCodec& codec = db.set_up.filter.key_codec;
  std::string lower, upper;
  EXPECT_TRUE(codec.LowerBound({row}, &lower).ok());
  EXPECT_TRUE(codec.UpperBound({row}, &upper).ok());
  const rdb::Slice upper_slice(upper);
  rdb::ReadOptions read;
  read.auto_prefix_mode = scan == Scan::kAutoPrefixMode;
  read.prefix_same_as_start = scan == Scan::kPrefixSameAsStart;
  read.total_order_seek = scan == Scan::kTotalOrder;
  if (scan == Scan::kAutoPrefixMode) read.iterate_upper_bound = &upper_slice;
  const auto it = db.NewIterator(read);
  std::vector<std::string> keys;
  for (it->Seek(lower); it->Valid() && it->key().compare(upper) < 0;
       it->Next()) {
    keys.push_back(it->key().ToString());
  }
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  return keys;
}

// Returns true if a RocksDbScan over the column of "ordered" keys finds a
// version.
inline bool ScanFindsColumn(const TestDb& db, std::string_view row,
                            std::string_view qualifier) {
  auto scan = RocksDbScan::OfColumn(KeyCodec::Ordered(), row, qualifier);
  EXPECT_TRUE(scan.ok());
  if (!scan.ok()) return false;
  rdb::ReadOptions read;
  scan->Configure(&read);
  const auto it = db.NewIterator(read);
  it->SeekToFirst();
  return it->Valid();
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_TEST_DB_H_
