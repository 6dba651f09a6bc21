// SPDX-License-Identifier: Apache-2.0
//
// grow: a tree that grows as a user's does, by memtable flushes, RocksDB's own
// choice of compactions and trivial moves, and ingested files. It shows the
// memory of its filters beside the budget, and the wasted reads at the end.
//
// After each flush the program waits until no compaction is due, so that the
// tree is the same each time.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "key_tree.h"
#include "policies.h"
#include "rocksdb/cache.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "run.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::bench {
namespace {

// Keys are even, so that the number after a key is absent.
constexpr uint64_t kNear = uint64_t{1} << 40;
constexpr uint64_t kFar = uint64_t{1} << 62;

struct Inserts {
  const char* name;
  uint32_t appended_of_five;  // So many keys of five are after all others.
  // Appended keys begin here. The others lie everywhere below them if it is
  // kNear, and in a range of their own if it is kFar: then the appended ones
  // are never written again, only moved.
  uint64_t first_appended;
};
constexpr Inserts kInserts[] = {{"random", 0, kFar},
                                {"append", 5, kNear},
                                {"mixed", 4, kNear},
                                {"two_ranges", 4, kFar}};

constexpr uint32_t kKeysPerFlush = 2000;
// After this number of flushes a file is ingested. It has as many keys as a
// flush, after all others.
constexpr uint32_t kFlushesPerIngestion = 30;
constexpr uint64_t kInsertSeed = 10;
constexpr uint64_t kAskSeed = 11;
constexpr uint64_t kAppendStep = uint64_t{1} << 32;
constexpr int kLevelRatio = 10;
constexpr int kLevel0Files = 4;

class NewKeys {
 public:
  explicit NewKeys(const Inserts& inserts)
      : inserts_(inserts), last_appended_(inserts.first_appended) {}

  std::string Next() {
    const uint64_t number = all_.size();
    if (number % 5 < inserts_.appended_of_five) return NextAppended();
    const uint64_t end =
        inserts_.first_appended == kNear ? last_appended_ : kFar;
    all_.push_back(Scramble(number, kInsertSeed) % end / 2 * 2);
    return KeyOf(all_.back());
  }
  // After all others.
  std::string NextAppended() {
    all_.push_back(last_appended_ += kAppendStep);
    return KeyOf(all_.back());
  }
  const std::vector<uint64_t>& all() const { return all_; }

 private:
  const Inserts& inserts_;
  uint64_t last_appended_;
  std::vector<uint64_t> all_;
};

rocksdb::Options RocksDbOptionsOf(bool dynamic_level_bytes,
                                  const Policy& policy) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = policy.filter;
  table.block_cache = rocksdb::NewLRUCache(1 << 20);
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.listeners = policy.listeners;
  options.max_open_files = -1;
  options.compression = rocksdb::kNoCompression;
  // A cell is key, value, and 11 bytes that RocksDB stores with them.
  constexpr uint64_t kCellBytes = 8 + 8 + 11;
  const uint64_t flush_bytes = kKeysPerFlush * kCellBytes;
  options.level0_file_num_compaction_trigger = kLevel0Files;
  options.max_bytes_for_level_base = kLevel0Files * flush_bytes;
  options.max_bytes_for_level_multiplier = kLevelRatio;
  options.target_file_size_base = 2 * flush_bytes;
  options.level_compaction_dynamic_level_bytes = dynamic_level_bytes;
  return options;
}

void Flush(NewKeys* keys, Database* database) {
  for (uint32_t i = 0; i < kKeysPerFlush; ++i) {
    const std::string key = keys->Next();
    database->Put(key, ValueOf(key));
  }
  database->Flush();
  database->WaitForCompactions();
}

void Ingest(NewKeys* keys, Database* database) {
  const std::string file = database->path() + "/ingested.sst";
  rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), database->options());
  Check(writer.Open(file), "opening " + file);
  for (uint32_t i = 0; i < kKeysPerFlush; ++i) {
    const std::string key = keys->NextAppended();
    Check(writer.Put(key, ValueOf(key)), "writing " + file);
  }
  Check(writer.Finish(), "writing " + file);
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  Check(database->db()->IngestExternalFile({file}, ingest),
        "ingesting " + file);
  database->WaitForCompactions();
}

double WastedPerThousand(rocksdb::DB* db, const std::vector<uint64_t>& keys,
                         bool absent, uint64_t gets, Run* run) {
  const auto next = [&, asked = uint64_t{0}]() mutable {
    const uint64_t key = keys[Scramble(asked++, kAskSeed) % keys.size()];
    return absent ? Get{KeyOf(key + 1), 0} : Get{KeyOf(key), Get::kSomewhere};
  };
  return CountWasted(db, next, gets, UINT64_MAX,
                     /*fill_cache=*/false, run)
      .PerThousand();
}

Json Grow(const std::string& policy, const Inserts& inserts,
          bool dynamic_level_bytes, Run* run) {
  const uint32_t flushes = run->options.quick ? 60 : 300;
  const uint64_t gets = run->options.Or(run->options.gets, 2000, 50000);
  run->progress.Begin("grow " + std::string(inserts.name) + ", " + policy,
                      uint64_t{flushes} * kKeysPerFlush);
  TreeShape shape;  // As a user would describe it.
  shape.size_ratio = kLevelRatio;
  Database database(RocksDbOptionsOf(dynamic_level_bytes,
                                     MakeKeyPolicy(policy, kBitsPerKey, shape)),
                    run->NewPath());
  NewKeys keys(inserts);
  double bits_per_key = 0;
  double most_bits_per_key = 0;  // After the first tenth of the flushes.
  for (uint32_t flush = 1; flush <= flushes; ++flush) {
    Flush(&keys, &database);
    if (flush % kFlushesPerIngestion == 0) {
      Ingest(&keys, &database);
    }
    bits_per_key = SumOf(database.ReadLevels()).BitsPerKey();
    if (flush > flushes / 10) {
      most_bits_per_key = std::max(most_bits_per_key, bits_per_key);
    }
    run->progress.Add(kKeysPerFlush);
  }
  std::vector<uint64_t> files(database.db()->NumberLevels());
  for (const Level& level : database.ReadLevels()) {
    files[level.level] = level.files;
  }
  Json result = {{"policy", policy},
                 {"inserts", inserts.name},
                 {"dynamic_level_bytes", dynamic_level_bytes},
                 {"keys", keys.all().size()},
                 {"files_by_level", files},
                 {"last_bits_per_key", bits_per_key},
                 {"most_bits_per_key", most_bits_per_key}};
  for (const bool absent : {true, false}) {
    result[absent ? "wasted_reads_per_1000_absent"
                  : "wasted_reads_per_1000_present"] =
        WastedPerThousand(database.db(), keys.all(), absent, gets, run);
  }
  run->progress.End();
  return result;
}

}  // namespace

Json MeasureGrow(Run* run) {
  Json rows = Json::array();
  for (const Inserts& inserts : kInserts) {
    for (const bool dynamic : {false, true}) {
      for (const std::string& policy :
           PolicyNames(kGrow, run->options.policies)) {
        rows.push_back(Grow(policy, inserts, dynamic, run));
      }
    }
  }
  return {{"grow", std::move(rows)}};
}

}  // namespace rowbloom::bench
