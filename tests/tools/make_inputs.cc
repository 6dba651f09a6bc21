// SPDX-License-Identifier: Apache-2.0
//
// Writes the input files of the tool's golden tests; the bytes that the tool
// shows are the same in each run. It can also rewrite all SSTs of a database,
// write one with filters in the block cache and keys to ask it for, or write a
// small HFile of large blocks, or a database with two SSTs, in as many paths.
//
//   make_inputs DIRECTORY
//   make_inputs --compact DIRECTORY
//   make_inputs --paths db|cf DIRECTORY PATH PATH
//   make_inputs --tree DIRECTORY names|numbers TABLE_OPTIONS DB_OPTIONS
//   make_inputs --zeros PATH

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "rowbloom/filter_block_writer.h"
#include "rowbloom/filter_key.h"
#include "rowbloom/io.h"
#include "rowbloom/memfilter/mem_filter.h"
#include "rowbloom/memfilter/redisson.h"

#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE
#include "rowbloom/hfile.h"
#include "rowbloom/hfile_writer.h"
#endif

#ifdef ROWBLOOM_CLI_TEST_WITH_ROCKSDB
#include "rocksdb/cache.h"
#include "rocksdb/comparator.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env_encryption.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb/version.h"
#include "rocksdb_plugin/open_db.h"
#include "rowbloom/rocksdb.h"
#endif

namespace {

template <typename Status>
void Check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "make_inputs: %s\n",
               std::string(status.ToString()).c_str());
  std::exit(1);
}

std::string Numbered(const char* format, int number) {
  char text[32];
  std::snprintf(text, sizeof(text), format, number);
  return text;
}

void WriteFilterBlock(const std::string& path,
                      const rowbloom::FilterOptions& options, int row_count) {
  auto sink = rowbloom::OpenFileSink(path);
  Check(sink.status());
  rowbloom::FilterBlockWriter writer(options, sink->get());
  for (int i = 0; i < row_count; ++i) {
    // The row contains a zero byte, which the tool must escape.
    const std::string row =
        Numbered("row%05d", i) + std::string("\0x", i % 2 == 0 ? 2 : 0);
    writer.Add(row, "a\xff");
    writer.Add(row, "name");
  }
  Check(writer.Finish().status());
  Check((*sink)->SyncAndClose());
}

void WriteFilterBlocks() {
  rowbloom::FilterOptions options;
  const auto blocked = rowbloom::FilterSpec::BitsPerKey("blocked_bloom", 10);
  options.filter_spec = blocked;
  options.chunk_size_bytes = 1024;
  WriteFilterBlock("row.filter", options, 1500);
  WriteFilterBlock("small.filter", options, 30);
  WriteFilterBlock("empty.filter", options, 0);

  options.filter_spec = rowbloom::FilterSpec::TargetFpr("compact", 0.0005);
  WriteFilterBlock("compact.filter", options, 1500);
  WriteFilterBlock("small_compact.filter", options, 30);
  options.filter_spec = rowbloom::FilterSpec::BitsPerKey("fast", 10);
  WriteFilterBlock("fast.filter", options, 1500);
  options.filter_spec = blocked;

  options.bloom_type = rowbloom::BloomType::kRowCol;
  WriteFilterBlock("rowcol.filter", options, 700);
  options.rowcol_adds_rows = false;
  WriteFilterBlock("columns_only.filter", options, 700);
  options.key_codec = *rowbloom::KeyCodec::Parse("tens.fixed:7,-units.fixed:1");
  WriteFilterBlock("levels_and_columns.filter", options, 300);

  options = rowbloom::FilterOptions();
  options.bloom_type = rowbloom::BloomType::kRowPrefixFixedLength;
  options.prefix_length_bytes = 6;
  WriteFilterBlock("prefix.filter", options, 1500);

  options = rowbloom::FilterOptions();
  options.bloom_type = rowbloom::BloomType::kNone;
  WriteFilterBlock("none.filter", options, 10);

  std::ofstream("notes.txt") << "Neither this nor that.\n";
}

// Writes the keys of an event log: tenants, their users, times.
void WriteKeys() {
  std::ofstream log("log.keys");
  for (int i = 0; i < 6000; ++i) {
    log << Numbered("t%03d/", i / 600) << Numbered("u%05d/", i / 6)
        << Numbered("%08d", 17 * i) << "\n";
  }
  log << "t999/u\n";
}

void WriteMemFilter(const std::string& path,
                    std::unique_ptr<rowbloom::MemFilter> filter) {
  for (int i = 0; i < 300; ++i) {
    const std::string row = Numbered("row%05d", i);
    Check(filter->Add(rowbloom::FilterKey::Row(row).digest()).status());
    Check(filter->Add(rowbloom::FilterKey::RowCol(row, "name").digest())
              .status());
  }
  std::ofstream(path, std::ios::binary) << filter->Save();
}

void WriteMemFilters() {
  using rowbloom::AnyFilter;
  const rowbloom::BloomShape shape = {4096, 5};
  WriteMemFilter("standard.mem",
                 AnyFilter(*rowbloom::StandardFilter::New(shape)));
  WriteMemFilter("counting.mem",
                 AnyFilter(*rowbloom::CountingFilter::New({shape})));
  WriteMemFilter("scalable.mem", AnyFilter(*rowbloom::ScalableFilter::New({})));
  WriteMemFilter("dynamic.mem",
                 AnyFilter(*rowbloom::DynamicFilter::New({shape, 300})));
  WriteMemFilter("split.mem",
                 AnyFilter(*rowbloom::SplitFilter::New({shape, 300, 4})));
  WriteMemFilter("balanced.mem",
                 AnyFilter(*rowbloom::BalancedFilter::New({shape})));
  WriteMemFilter("matrix.mem",
                 AnyFilter(*rowbloom::MatrixFilter::New({shape, 8})));

  auto redisson = rowbloom::RedissonFilter::New(100'000, 0.03);
  // "user17" of StringCodec.
  redisson->Add({0x53ae12a14731a621, 0x2fd484cf59bc458d});
  std::ofstream("redisson.mem", std::ios::binary) << redisson->Save();
}

#ifdef ROWBLOOM_CLI_TEST_WITH_ROCKSDB

namespace rdb = ROCKSDB_NAMESPACE;

rdb::Options OfTable(const rdb::BlockBasedTableOptions& table_options) {
  rdb::Options options;
  options.table_factory.reset(rdb::NewBlockBasedTableFactory(table_options));
  return options;
}

rowbloom::RocksDbOptions RowsAndColumns() {
  rowbloom::RocksDbOptions options;
  options.key_codec = rowbloom::KeyCodec::Ordered();
  options.filter_spec = rowbloom::FilterSpec::BitsPerKey("blocked_bloom", 10);
  return options;
}

rdb::Options Configured(const rowbloom::RocksDbOptions& filter_options,
                        rdb::BlockBasedTableOptions table_options = {}) {
  table_options.filter_policy =
      rowbloom::NewRocksDbFilterPolicy(filter_options);
  rdb::Options options = OfTable(table_options);
  options.prefix_extractor = rowbloom::NewRowPrefixExtractor(filter_options);
  return options;
}

// With RocksDB's own filter.
rdb::Options Stock() {
  rdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(rdb::NewBloomFilterPolicy(10));
  return OfTable(table_options);
}

rdb::BlockBasedTableOptions Partitioned(uint64_t metadata_block_size) {
  rdb::BlockBasedTableOptions table_options;
  table_options.partition_filters = true;
  table_options.index_type = rdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table_options.metadata_block_size = metadata_block_size;
  return table_options;
}

std::string Key(const rowbloom::KeyCodec& codec, int row, const char* column) {
  std::string key;
  Check(codec.Encode(Numbered("row%05d", row), column, &key));
  return key;
}

void WriteSst(const std::string& path, const rdb::Options& options,
              const rowbloom::KeyCodec& codec = rowbloom::KeyCodec::Ordered()) {
  rdb::SstFileWriter writer(rdb::EnvOptions(), options);
  Check(writer.Open(path));
  for (int i = 0; i < 1000; ++i) {
    Check(writer.Put(Key(codec, i, "age"), "1"));
    Check(writer.Put(Key(codec, i, "name"), "2"));
  }
  Check(writer.Finish());
}

void WriteSsts() {
  WriteSst("full.sst", Configured(RowsAndColumns()));
  rowbloom::RocksDbOptions compact = RowsAndColumns();
  compact.filter_spec = rowbloom::FilterSpec::TargetFpr("compact", 0.01);
  WriteSst("compact.sst", Configured(compact));
  rdb::BlockBasedTableOptions partitioned = Partitioned(700);
  partitioned.block_size = 256;  // RocksDB cuts partitions at data blocks.
  WriteSst("partitioned.sst", Configured(RowsAndColumns(), partitioned));
  rowbloom::RocksDbOptions row_fixed = RowsAndColumns();
  row_fixed.bloom_type = rowbloom::BloomType::kRow;
  row_fixed.key_codec = rowbloom::KeyCodec::FixedRow(8);
  WriteSst("row_fixed.sst", Configured(row_fixed), row_fixed.key_codec);
  WriteSst("no_filter.sst", OfTable({}), row_fixed.key_codec);
  WriteSst("anothers.sst", Stock(), row_fixed.key_codec);
  rdb::BlockBasedTableOptions composed;
  Check(rowbloom::ParseRocksDbFilterPolicy("rowbloom.Composed",
                                           &composed.filter_policy));
  WriteSst("composed.sst", OfTable(composed), row_fixed.key_codec);
}

std::unique_ptr<rdb::DB> Open(const rdb::Options& options,
                              const std::string& directory) {
  std::unique_ptr<rdb::DB> db;
  Check(rowbloom::plugin::OpenDb(
      [&](auto* opened) { return rdb::DB::Open(options, directory, opened); },
      &db));
  return db;
}

// Writes two column families: "default" has one SST at level 1 and one at level
// 0, "events" has one at level 0.
void WriteDatabase() {
  rdb::Options options = Configured(RowsAndColumns());
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  // With dynamic levels, the SST would not be at level 1.
  options.level_compaction_dynamic_level_bytes = false;
  const std::unique_ptr<rdb::DB> db = Open(options, "database");
  rdb::ColumnFamilyHandle* events = nullptr;
  Check(db->CreateColumnFamily(options, "events", &events));

  const auto put = [&](rdb::ColumnFamilyHandle* family, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      Check(db->Put(rdb::WriteOptions(), family,
                    Key(rowbloom::KeyCodec::Ordered(), i, "name"), "2"));
    }
    Check(db->Flush(rdb::FlushOptions(), family));
  };
  put(db->DefaultColumnFamily(), 0, 100);
  put(db->DefaultColumnFamily(), 50, 200);
  Check(db->CompactRange(rdb::CompactRangeOptions(), nullptr, nullptr));
  put(db->DefaultColumnFamily(), 300, 400);
  put(events, 500, 600);
  Check(db->DestroyColumnFamilyHandle(events));
}

// Writes a database of two runs and a file of keys, of which half are present.
// Gets all of the keys through a small block cache; its LOG has RocksDB's
// statistics of the second half.
void WriteReads(const std::string& directory, const std::string& keys_path) {
  rdb::BlockBasedTableOptions table_options;
  table_options.filter_policy.reset(rdb::NewBloomFilterPolicy(4));
  table_options.partition_filters = true;
  table_options.index_type = rdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table_options.metadata_block_size = 512;
  table_options.cache_index_and_filter_blocks = true;
  constexpr size_t kCacheBytes = 128 << 10;
  constexpr int kOneShard = 0;
  table_options.block_cache = rdb::NewLRUCache(kCacheBytes, kOneShard);
  rdb::Options options;
  options.table_factory.reset(rdb::NewBlockBasedTableFactory(table_options));
  options.create_if_missing = true;
  options.compression = rdb::kNoCompression;
  options.disable_auto_compactions = true;
  options.level_compaction_dynamic_level_bytes = false;
  options.statistics = rdb::CreateDBStatistics();
  const std::unique_ptr<rdb::DB> db = Open(options, directory);
  constexpr int kKeys = 10000;
  const std::string value(100, 'v');
  const auto put = [&](int begin) {
    for (int i = begin; i < kKeys; i += 10) {
      Check(db->Put(rdb::WriteOptions(), Numbered("key%06d", i), value));
    }
  };
  for (const int begin : {0, 2, 4, 6}) put(begin);
  Check(db->CompactRange(rdb::CompactRangeOptions(), nullptr, nullptr));
  put(8);
  Check(db->Flush(rdb::FlushOptions()));

  std::ofstream keys(keys_path);
  std::minstd_rand random;
  for (int i = 0; i < kKeys; ++i) {
    if (i == kKeys / 2) Check(options.statistics->Reset());
    const std::string key =
        Numbered("key%06d", static_cast<int>(random() % kKeys));
    keys << key << "\n";
    rdb::PinnableSlice found;
    const rdb::Status status =
        db->Get(rdb::ReadOptions(), db->DefaultColumnFamily(), key, &found);
    if (!status.IsNotFound()) Check(status);
  }
  // As RocksDB does each stats_dump_period_sec.
  rdb::Log(rdb::InfoLogLevel::INFO_LEVEL, db->GetDBOptions().info_log,
           "STATISTICS:\n %s", options.statistics->ToString().c_str());
}

void WriteRows(const std::string& directory, rdb::Options options, int begin) {
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  const std::unique_ptr<rdb::DB> db = Open(options, directory);
  for (int i = begin; i < begin + 1000; ++i) {
    const std::string key = Key(rowbloom::KeyCodec::Ordered(), i, "name");
    if (options.comparator->timestamp_size() > 0) {
      Check(db->Put(rdb::WriteOptions(), key, std::string(8, '\0'), "2"));
    } else {
      Check(db->Put(rdb::WriteOptions(), key, "2"));
    }
  }
  Check(db->Flush(rdb::FlushOptions()));
}

// Writes databases in which not every file carries the configured filter.
void WriteTroubledDatabases() {
  const rdb::Options ours = Configured(RowsAndColumns());
  const rdb::Options plain = OfTable({});
  // One file has no filter, one a foreign filter, one the expected filter.
  WriteRows("mixed", plain, 0);
  WriteRows("mixed", Stock(), 1000);
  WriteRows("mixed", ours, 2000);

  // A program without the plugin opened this database last.
  WriteRows("plugin_absent", ours, 0);
  WriteRows("plugin_absent", plain, 1000);

  // One data block's keys exceed the size of a partition.
  WriteRows("oversized", Configured(RowsAndColumns(), Partitioned(200)), 0);

  rdb::BlockBasedTableOptions cached;
  cached.cache_index_and_filter_blocks = true;
  WriteRows("whole_in_cache", Configured(RowsAndColumns(), cached), 0);

  rdb::Options timestamps = ours;
  Check(rdb::Comparator::CreateFromString(rdb::ConfigOptions(),
                                          "leveldb.BytewiseComparator.u64ts",
                                          &timestamps.comparator));
  WriteRows("timestamps", timestamps, 0);
}

// Writes databases that are not, or do not look, like the others.
void WriteForeignDatabases() {
  std::shared_ptr<rdb::EncryptionProvider> provider;
  Check(rdb::EncryptionProvider::CreateFromString(rdb::ConfigOptions(),
                                                  "CTR://test", &provider));
  const std::unique_ptr<rdb::Env> env(
      rdb::NewEncryptedEnv(rdb::Env::Default(), provider));
  rdb::Options encrypted = Stock();
  encrypted.env = env.get();
  WriteRows("encrypted", encrypted, 0);

#if ROCKSDB_MAJOR < 8
  // Ends as a table of LevelDB does; later releases do not write it.
  rdb::BlockBasedTableOptions oldest;
  oldest.format_version = 0;
  WriteRows("format_0", OfTable(oldest), 0);
#endif
}

void Compact(const std::string& directory) {
  const std::unique_ptr<rdb::DB> db = Open(rdb::Options(), directory);
  rdb::CompactRangeOptions options;
  options.bottommost_level_compaction = rdb::BottommostLevelCompaction::kForce;
  Check(db->CompactRange(options, nullptr, nullptr));
}

// "user00000017", or 17 as eight bytes, the first of which are 0.
std::string TreeKey(const std::string& kind, int number) {
  if (kind == "names") return Numbered("user%08d", number);
  std::string key;
  for (int shift = 56; shift >= 0; shift -= 8) {
    key.push_back(static_cast<char>(uint64_t(number) >> shift & 0xff));
  }
  return key;
}

// Writes an SST into each of two paths, the newest into the first.
void WriteIntoPaths(const std::string& kind, const std::string& directory,
                    const std::vector<rdb::DbPath>& paths) {
  rdb::Options options;
  options.create_if_missing = true;
  options.disable_auto_compactions = true;
  (kind == "cf" ? options.cf_paths : options.db_paths) = paths;
  rdb::BlockBasedTableOptions table;
  Check(
      rowbloom::ParseRocksDbFilterPolicy("rowbloom:10", &table.filter_policy));
  options.table_factory.reset(rdb::NewBlockBasedTableFactory(table));
  const std::unique_ptr<rdb::DB> db = Open(options, directory);
  rdb::CompactRangeOptions into_last;
  into_last.target_path_id = 1;
  into_last.bottommost_level_compaction =
      rdb::BottommostLevelCompaction::kForce;
  for (int sst = 0; sst < 2; ++sst) {
    for (int i = 0; i < 1000; ++i) {
      Check(db->Put(rdb::WriteOptions(), Numbered("row%05d", 1000 * sst + i),
                    "value"));
    }
    Check(db->Flush(rdb::FlushOptions()));
    if (sst == 0) Check(db->CompactRange(into_last, nullptr, nullptr));
  }
}

// Writes a database of one run, or only rewrites its SSTs with other options,
// and a file of keys in hexadecimal, of which half are present. Its LOG has
// RocksDB's statistics of gets of these keys.
void WriteTree(const std::string& directory, const std::string& kind,
               const std::string& table_options,
               const std::string& db_options) {
  rowbloom::RegisterRocksDb();
  rdb::DBOptions db_part;
  Check(rdb::GetDBOptionsFromString(rdb::ConfigOptions(), rdb::DBOptions(),
                                    db_options, &db_part));
  rdb::ColumnFamilyOptions family_part;
  Check(rdb::GetColumnFamilyOptionsFromString(
      rdb::ConfigOptions(), rdb::ColumnFamilyOptions(),
      "compression=kNoCompression;block_based_table_factory={partition_filters="
      "1;index_type=kTwoLevelIndexSearch;cache_index_and_filter_blocks=1;"
      "block_cache=512k;" +
          table_options + "}",
      &family_part));
  rdb::Options options(db_part, family_part);
  const bool is_new = !std::filesystem::exists(directory);
  options.create_if_missing = true;
  options.statistics = rdb::CreateDBStatistics();
  const std::unique_ptr<rdb::DB> db = Open(options, directory);
  constexpr int kNumbers = 100000;
  if (is_new) {
    const std::string value(100, 'v');
    for (int i = 0; i < kNumbers; i += 2) {
      Check(db->Put(rdb::WriteOptions(), TreeKey(kind, i), value));
    }
    Check(db->Flush(rdb::FlushOptions()));
  }
  rdb::CompactRangeOptions compaction;
  compaction.bottommost_level_compaction =
      rdb::BottommostLevelCompaction::kForce;
  Check(db->CompactRange(compaction, nullptr, nullptr));

  std::ofstream keys(directory + ".keys");
  std::minstd_rand random;
  for (int i = 0; i < 5000; ++i) {
    const std::string key =
        TreeKey(kind, static_cast<int>(random() % kNumbers));
    keys << rdb::Slice(key).ToString(/*hex=*/true) << "\n";
    rdb::PinnableSlice found;
    const rdb::Status status =
        db->Get(rdb::ReadOptions(), db->DefaultColumnFamily(), key, &found);
    if (!status.IsNotFound()) Check(status);
  }
  rdb::Log(rdb::InfoLogLevel::INFO_LEVEL, db->GetDBOptions().info_log,
           "STATISTICS:\n %s", options.statistics->ToString().c_str());
}

#endif  // ROWBLOOM_CLI_TEST_WITH_ROCKSDB

#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE

void WriteHFile(const std::string& path,
                const rowbloom::HFileWriterOptions& options, int row_count) {
  auto sink = rowbloom::OpenFileSink(path);
  Check(sink.status());
  auto writer = rowbloom::HFileWriter::Make(options, sink->get());
  Check(writer.status());
  for (int i = 0; i < row_count; ++i) {
    const std::string row = Numbered("row%05d", i);
    rowbloom::HFileCell cell;
    cell.row = row;
    cell.family = "cf";
    cell.timestamp = 1'700'000'000'000;
    if (i % 100 == 0) {
      cell.type = rowbloom::HFileCell::kDeleteFamily;
      Check((*writer)->Add(cell));
      cell.type = rowbloom::HFileCell::kPut;
    }
    for (const char* qualifier : {"email", "name"}) {
      cell.qualifier = qualifier;
      cell.value = "value";
      Check((*writer)->Add(cell));
    }
  }
  Check((*writer)->Finish());
  Check((*sink)->SyncAndClose());
}

void WriteHFiles() {
  rowbloom::HFileWriterOptions options;
  options.chunk_size_bytes = 1024;
  WriteHFile("row.hfile", options, 1500);
  options.bloom_type = rowbloom::BloomType::kRowCol;
  WriteHFile("rowcol.hfile", options, 700);
  options.bloom_type = rowbloom::BloomType::kRowPrefixFixedLength;
  options.prefix_length_bytes = 6;
  WriteHFile("prefix.hfile", options, 1500);
  options.bloom_type = rowbloom::BloomType::kNone;
  options.meta_blocks["notes"] = "Of others.";
  WriteHFile("none.hfile", options, 1500);
}

// Writes three meta blocks of 32 MiB.
void WriteZeros(const std::string& path) {
  rowbloom::HFileWriterOptions options;
  options.compression = rowbloom::HFileCompression::kZstd;
  for (const char* name : {"a", "b", "c"}) {
    options.meta_blocks[name] = std::string(32 << 20, '\0');
  }
  WriteHFile(path, options, 1);
}

#endif  // ROWBLOOM_CLI_TEST_WITH_HFILE

}  // namespace

int main(int argc, char** argv) {
#ifdef ROWBLOOM_CLI_TEST_WITH_ROCKSDB
  if (argc == 6 && std::string(argv[1]) == "--paths") {
    WriteIntoPaths(argv[2], argv[3], {{argv[4], 1 << 20}, {argv[5], 1 << 30}});
    return 0;
  }
  if (argc == 3 && std::string(argv[1]) == "--compact") {
    Compact(argv[2]);
    return 0;
  }
  if (argc == 6 && std::string(argv[1]) == "--tree") {
    WriteTree(argv[2], argv[3], argv[4], argv[5]);
    return 0;
  }
#endif
#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE
  if (argc == 3 && std::string(argv[1]) == "--zeros") {
    WriteZeros(argv[2]);
    return 0;
  }
#endif
  if (argc != 2) {
    std::fputs("usage: make_inputs DIRECTORY\n", stderr);
    return 2;
  }
  std::filesystem::current_path(argv[1]);
  WriteFilterBlocks();
  WriteMemFilters();
  WriteKeys();
#ifdef ROWBLOOM_CLI_TEST_WITH_HFILE
  WriteHFiles();
#endif
#ifdef ROWBLOOM_CLI_TEST_WITH_ROCKSDB
  WriteSsts();
  WriteDatabase();
  WriteReads("reads", "reads.keys");
  rdb::Options empty;
  empty.create_if_missing = true;
  Open(empty, "no_ssts");
  std::ofstream("reads.statistics")
      << "rocksdb.block.cache.index.miss COUNT : 400000\n"
         "rocksdb.block.cache.filter.miss COUNT : 90000\n"
         "rocksdb.block.cache.data.miss COUNT : 800000\n"
         "rocksdb.block.cache.data.hit COUNT : 200000\n"
         "rocksdb.bloom.filter.useful COUNT : 900000\n"
         "rocksdb.bloom.filter.full.positive COUNT : 500000\n"
         "rocksdb.bloom.filter.full.true.positive COUNT : 400000\n"
         "rocksdb.memtable.hit COUNT : 100000\n"
         "rocksdb.l0.hit COUNT : 100000\n"
         "rocksdb.l1.hit COUNT : 300000\n"
         "rocksdb.l2andup.hit COUNT : 0\n"
         "rocksdb.number.keys.read COUNT : 1100000\n"
         "rocksdb.db.get.micros P50 : 1.0 P95 : 2.0 P99 : 3.0 P100 : 4.0 "
         "COUNT : 1100000 SUM : 1200000\n";
  WriteTroubledDatabases();
  WriteForeignDatabases();
#endif
  return 0;
}
