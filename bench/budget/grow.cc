// SPDX-License-Identifier: Apache-2.0

#include "grow.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include "bench/point_get/dataset.h"
#include "bench/point_get/workload.h"
#include "keys.h"
#include "policies.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/write_batch.h"
#include "rocksdb_plugin/open_db.h"

namespace rowbloom::budget_bench {
namespace {

using point_get::Scramble;

constexpr uint64_t kInsertSeed = 10;
constexpr uint64_t kAskSeed = 11;
// In the order of Inserts.
constexpr const char* kInsertNames[] = {"random", "append", "mixed",
                                        "two_ranges"};
// Keys are even, so that the one behind a key is none.
constexpr uint64_t kFirstAppended = uint64_t{1} << 40;
constexpr uint64_t kFirstBehindDrawn = uint64_t{1} << 62;
constexpr uint64_t kAppendStep = uint64_t{1} << 32;
constexpr uint32_t kAppendedOfFive = 4;
constexpr int kLevelRatio = 10;
constexpr int kLevel0Files = 4;

void Check(const rocksdb::Status& status, const std::string& doing) {
  if (!status.ok()) {
    throw std::runtime_error(doing + ": " + status.ToString());
  }
}

class NewKeys {
 public:
  explicit NewKeys(Inserts inserts)
      : inserts_(inserts),
        last_appended_(inserts == Inserts::kMixed || inserts == Inserts::kAppend
                           ? kFirstAppended
                           : kFirstBehindDrawn) {}

  uint64_t Next() {
    const uint64_t number = all_.size();
    const bool appended =
        inserts_ == Inserts::kAppend ||
        (inserts_ != Inserts::kRandom && number % 5 < kAppendedOfFive);
    if (appended) return NextAppended();
    const uint64_t end =
        inserts_ == Inserts::kMixed ? last_appended_ : kFirstBehindDrawn;
    all_.push_back(Scramble(number, kInsertSeed) % end / 2 * 2);
    return all_.back();
  }
  // Behind all others.
  uint64_t NextAppended() {
    all_.push_back(last_appended_ += kAppendStep);
    return all_.back();
  }
  const std::vector<uint64_t>& all() const { return all_; }

 private:
  const Inserts inserts_;
  uint64_t last_appended_;
  std::vector<uint64_t> all_;
};

rocksdb::Options MakeOptions(const GrowTree& tree, const GrowOptions& grow,
                             const point_get::Policy& policy) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = policy.filter;
  table.block_cache = rocksdb::NewLRUCache(1 << 20);
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.listeners = policy.listeners;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.max_open_files = -1;
  options.compression = rocksdb::kNoCompression;
  options.info_log_level = rocksdb::WARN_LEVEL;
  // A cell is key, value, and what RocksDB stores with them.
  constexpr uint64_t kCellBytes = sizeof(uint64_t) + kValueSize + 11;
  const uint64_t flush_bytes = grow.keys_per_flush * kCellBytes;
  options.level0_file_num_compaction_trigger = kLevel0Files;
  options.max_bytes_for_level_base = kLevel0Files * flush_bytes;
  options.max_bytes_for_level_multiplier = kLevelRatio;
  options.target_file_size_base = 2 * flush_bytes;
  options.level_compaction_dynamic_level_bytes = tree.dynamic_level_bytes;
  return options;
}

class Database {
 public:
  Database(const rocksdb::Options& options, std::string path)
      : options_(options), path_(std::move(path)) {
    Check(rowbloom::OpenDb(
              [&](auto* db) { return rocksdb::DB::Open(options_, path_, db); },
              &db_),
          "opening " + path_);
  }
  ~Database() {
    db_.reset();
    rocksdb::DestroyDB(path_, options_);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::DB* db() const { return db_.get(); }

  void Flush(uint32_t count, NewKeys* keys) {
    rocksdb::WriteBatch batch;
    std::string value;
    for (uint32_t i = 0; i < count; ++i) {
      const std::string key = KeyOf(keys->Next());
      point_get::MakeValue(key, kValueSize, &value);
      Check(batch.Put(key, value), "writing to " + path_);
    }
    rocksdb::WriteOptions write;
    write.disableWAL = true;
    Check(db_->Write(write, &batch), "writing to " + path_);
    Check(db_->Flush(rocksdb::FlushOptions()), "flushing " + path_);
    WaitForCompactions();
  }

  void Ingest(uint32_t count, NewKeys* keys) {
    const std::string file = path_ + "/ingested.sst";
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), options_);
    Check(writer.Open(file), "opening " + file);
    std::string value;
    for (uint32_t i = 0; i < count; ++i) {
      const std::string key = KeyOf(keys->NextAppended());
      point_get::MakeValue(key, kValueSize, &value);
      Check(writer.Put(key, value), "writing " + file);
    }
    Check(writer.Finish(), "writing " + file);
    rocksdb::IngestExternalFileOptions ingest;
    ingest.move_files = true;
    Check(db_->IngestExternalFile({file}, ingest), "ingesting " + file);
    WaitForCompactions();
  }

  double BitsPerKey() const {
    rocksdb::TablePropertiesCollection properties;
    Check(db_->GetPropertiesOfAllTables(&properties), "reading " + path_);
    uint64_t bytes = 0;
    uint64_t keys = 0;
    for (const auto& [name, table] : properties) {
      bytes += table->filter_size;
      keys += table->num_entries;
    }
    return 8.0 * static_cast<double>(bytes) / static_cast<double>(keys);
  }

  std::vector<uint64_t> FilesByLevel() const {
    rocksdb::ColumnFamilyMetaData meta;
    db_->GetColumnFamilyMetaData(&meta);
    std::vector<uint64_t> files;
    for (const auto& level : meta.levels) files.push_back(level.files.size());
    return files;
  }

  uint64_t MovedBytes() const {
    std::map<std::string, std::string> stats;
    if (!db_->GetMapProperty(rocksdb::DB::Properties::kCFStats, &stats)) {
      throw std::runtime_error(path_ + ": RocksDB tells no statistics");
    }
    const auto moved = stats.find("compaction.Sum.MovedGB");
    if (moved == stats.end()) {
      throw std::runtime_error(path_ + ": RocksDB counts no moves");
    }
    return static_cast<uint64_t>(std::stod(moved->second) * (1 << 30));
  }

 private:
  void WaitForCompactions() {
    // Each turn does what is scheduled; what follows from that, the next.
    uint64_t version = 0;
    uint64_t last_version = 0;
    do {
      last_version = version;
      Check(db_->PauseBackgroundWork(), "waiting for " + path_);
      if (!db_->GetIntProperty(
              rocksdb::DB::Properties::kCurrentSuperVersionNumber, &version)) {
        throw std::runtime_error(path_ + ": RocksDB does not number versions");
      }
      Check(db_->ContinueBackgroundWork(), "waiting for " + path_);
    } while (version != last_version);
  }

  const rocksdb::Options options_;
  const std::string path_;
  std::unique_ptr<rocksdb::DB> db_;
};

// Wasted reads per 1,000 gets. No data block is cached.
double WastedPerThousand(rocksdb::DB* db, const std::vector<uint64_t>& keys,
                         bool absent, uint64_t gets, GrowResult* result,
                         bench::Progress* progress) {
  const auto next = [&, asked = uint64_t{0}]() mutable {
    const uint64_t key = keys[Scramble(asked++, kAskSeed) % keys.size()];
    return absent ? Get{KeyOf(key + 1), 0} : Get{KeyOf(key), Get::kSomewhere};
  };
  const Wasted wasted = CountWasted(db, db->NumberLevels() - 1, next,
                                    {gets, UINT64_MAX}, false, progress);
  result->answers_checked += wasted.gets;
  result->wrong_answers += wasted.wrong_answers;
  return wasted.PerThousand();
}

}  // namespace

std::vector<std::string> AllInserts() {
  return {std::begin(kInsertNames), std::end(kInsertNames)};
}

std::string InsertsName(Inserts inserts) {
  return kInsertNames[static_cast<size_t>(inserts)];
}

Inserts InsertsOf(const std::string& name) {
  const auto* it =
      std::find(std::begin(kInsertNames), std::end(kInsertNames), name);
  return static_cast<Inserts>(it - std::begin(kInsertNames));
}

GrowResult Grow(const std::string& policy, const GrowTree& tree,
                const GrowOptions& options, const std::string& directory,
                bench::Progress* progress) {
  TreeShape shape;  // As a user would describe it.
  shape.size_ratio = kLevelRatio;
  Database database(
      MakeOptions(tree, options,
                  MakePolicy(policy, options.bits_per_key, shape)),
      directory);
  GrowResult result;
  result.policy = policy;
  result.tree = tree;
  NewKeys keys(tree.inserts);
  for (uint32_t flush = 1; flush <= options.flushes; ++flush) {
    database.Flush(options.keys_per_flush, &keys);
    if (flush % options.flushes_per_ingestion == 0) {
      database.Ingest(options.keys_per_flush, &keys);
      ++result.ingested_files;
    }
    result.last_bits_per_key = database.BitsPerKey();
    if (flush > options.flushes / 10) {
      result.most_bits_per_key =
          std::max(result.most_bits_per_key, result.last_bits_per_key);
    }
    progress->Add(options.keys_per_flush);
  }
  result.files_by_level = database.FilesByLevel();
  result.keys = keys.all().size();
  result.moved_bytes = database.MovedBytes();
  result.wasted_absent = WastedPerThousand(database.db(), keys.all(), true,
                                           options.gets, &result, progress);
  result.wasted_present = WastedPerThousand(database.db(), keys.all(), false,
                                            options.gets, &result, progress);
  return result;
}

}  // namespace rowbloom::budget_bench
