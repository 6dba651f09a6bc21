// SPDX-License-Identifier: Apache-2.0
//
// scans: what a scan of one hash reads where filters and indexes are partitions
// of the block cache and scans run with fill_cache=false, as in Kvrocks: data
// blocks, partitions and bytes, by the runs of the tree, by the cache, and by
// whether gets have filled it.

#include <algorithm>
#include <memory>
#include <string>

#include "kvrocks_keys.h"
#include "policies.h"
#include "rocksdb/cache.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rowbloom/key_codec.h"
#include "rowbloom/rocksdb.h"
#include "run.h"
#include "tree.h"
#include "workload.h"

namespace rowbloom::bench {
namespace {

constexpr uint64_t kRunSeed = 431;
constexpr uint64_t kScanSeed = 432;
constexpr uint64_t kWarmingSeed = 433;
constexpr int kRunCounts[] = {1, 2, 4};

// How a scan finds the filters in the cache, which it does not fill itself.
enum class Means { kNone, kPinning, kGetBeforeScan };

struct ScanContender {
  const char* name;
  const char* filter;  // RocksDB's or a family.
  double bits_per_key;
  bool finds_rows;  // The filter also answers for a hash.
  Means means;
};
// The first is what the others are compared with.
constexpr ScanContender kScanContenders[] = {
    {kBloom, kBloom, 10, false, Means::kNone},
    {"rocksdb_bloom_rows", kBloom, 10, true, Means::kNone},
    {"rocksdb_bloom_rows_pinned", kBloom, 10, true, Means::kPinning},
    {"rocksdb_bloom_rows_warmed", kBloom, 10, true, Means::kGetBeforeScan},
    {"rowbloom_rowcol_compact", "compact", 8, true, Means::kNone},
    {"rowbloom_rowcol_compact_pinned", "compact", 8, true, Means::kPinning},
    {"rowbloom_rowcol_compact_warmed", "compact", 8, true,
     Means::kGetBeforeScan},
};

struct BlockCache {
  const char* name;
  uint64_t bytes;
};
constexpr BlockCache kBlockCaches[] = {{"all", uint64_t{4} << 30},
                                       {"16MiB", 16 << 20}};

// Upper levels are one run if there are fewer runs than levels.
int RunOf(std::string_view key, int run_count) {
  return std::max(1,
                  LevelOf(Scramble(key, kRunSeed)) - (kLevelCount - run_count));
}

class ScansBench {
 public:
  explicit ScansBench(Run* run)
      : run_(*run),
        data_(run->options.input,
              run->options.Or(run->options.rows, 20000, 200000)),
        calls_(run->options.Or(run->options.gets, 2000, 10000)) {}

  Json Measure() {
    Json runs = Json::array();
    for (const int run_count : kRunCounts) {
      Json shape;
      for (const ScanContender& contender : kScanContenders) {
        const auto tree = Build(contender, run_count, &shape);
        for (const BlockCache& cache : kBlockCaches) {
          for (const bool is_warm : {false, true}) {
            Json json = {{"policy", contender.name},
                         {"run_count", run_count},
                         {"cache", cache.name},
                         {"state", is_warm ? "after_gets" : "scans_only"},
                         {"filter_bytes", tree->all.filter_bytes}};
            json.update(Scan(contender, cache, is_warm, tree.get()));
            runs.push_back(std::move(json));
          }
        }
      }
    }
    return {{"options", {{"gets", calls_}}},
            {"tree",
             {{"input", run_.options.input},
              {"keys", data_.row_count()},
              {"fields", data_.cell_count()}}},
            {"runs", std::move(runs)}};
  }

 private:
  std::unique_ptr<Tree> Build(const ScanContender& contender, int run_count,
                              Json* shape) {
    RocksDbOptions filter;
    filter.key_codec = OrThrow(KeyCodec::Parse(kFieldKeys));
    TreeOptions options;
    options.level_count = run_count;
    options.place = contender.means == Means::kPinning
                        ? FilterPlace::kPinnedPartitions
                        : FilterPlace::kCachedPartitions;
    run_.progress.Begin("load " + std::string(contender.name),
                        data_.cell_count());
    auto tree = std::make_unique<Tree>(
        options,
        MakePolicy(contender.name, contender.filter, contender.bits_per_key,
                   filter, contender.finds_rows),
        run_.NewPath(),
        [&](int level, Database* database) {
          for (size_t i = 0; i < data_.row_count(); ++i) {
            for (const uint32_t q : data_.columns(i)) {
              const std::string key =
                  FieldKey(data_.row(i), data_.qualifier(q));
              if (RunOf(key, run_count) != level) continue;
              database->Put(key, MakeValue(key, kFieldValueSize));
              run_.progress.Add(1);
            }
          }
        },
        shape);
    run_.progress.End();
    return tree;
  }

  // Reads of a scan after the database was opened, or after gets that fill the
  // cache.
  Json Scan(const ScanContender& contender, const BlockCache& cache,
            bool is_warm, Tree* tree) {
    tree->database.Reopen(rocksdb::NewLRUCache(cache.bytes));
    if (is_warm) Get(tree->db());
    StartCounting();
    const rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
    for (uint64_t n = 0; n < calls_; ++n) {
      const size_t i = Scramble(n, kScanSeed) % data_.row_count();
      if (contender.means == Means::kGetBeforeScan) {
        // No field has this name, so that filters mostly answer.
        rocksdb::PinnableSlice ignored;
        const auto status =
            tree->db()->Get({}, tree->db()->DefaultColumnFamily(),
                            FieldKey(data_.row(i), {"\0", 1}), &ignored);
        run_.answers.Add(status.IsNotFound(), contender.name, data_.row(i));
      }
      run_.answers.Add(
          CountFields(tree->db(), data_.row(i), contender.finds_rows) ==
              data_.columns(i).size(),
          contender.name, data_.row(i));
    }
    const auto mean = [&](uint64_t count) {
      return static_cast<double>(count) / static_cast<double>(calls_);
    };
    Json json = {{"data_reads", mean(DataReads())},
                 {"filter_reads", mean(perf.filter_block_read_count)},
                 {"index_reads", mean(perf.index_block_read_count)},
                 {"reads", mean(perf.block_read_count)},
                 {"bytes", mean(perf.block_read_byte)}};
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    return json;
  }

  // As HGET, of fields that are there.
  void Get(rocksdb::DB* db) {
    for (uint64_t n = 0; n < calls_; ++n) {
      const size_t i = Scramble(n, kWarmingSeed) % data_.row_count();
      const std::string key =
          FieldKey(data_.row(i), data_.qualifier(data_.columns(i).front()));
      rocksdb::PinnableSlice value;
      Check(db->Get({}, db->DefaultColumnFamily(), key, &value), "reading");
      run_.answers.Add(value == MakeValue(key, kFieldValueSize), "get", key);
    }
  }

  Run& run_;
  const Dataset data_;
  const uint64_t calls_;
};

}  // namespace

Json MeasureScans(Run* run) { return ScansBench(run).Measure(); }

}  // namespace rowbloom::bench
