// SPDX-License-Identifier: Apache-2.0
//
// phases: the workload changes while the database lives. Each filter has a
// tree of its own that goes through the same phases; between batches of
// operations keys are overwritten, so that compactions rewrite SSTs. Reads are
// counted by RocksDB, for operations and not for the overwriting.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/split_mix.h"
#include "key_tree.h"
#include "operations.h"
#include "policies.h"
#include "rocksdb/cache.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rowbloom/rocksdb_refresh.h"
#include "run.h"
#include "tree.h"

namespace rowbloom::bench {
namespace {

constexpr const char* kRestart = "restarted";
constexpr const char* kRefresh = "refreshed";

constexpr Workload kPhaseWorkloads[] = {
    {"absent", 1, Choice::kUniform},
    {"half_absent", 0.5, Choice::kUniform},
    {"ycsb_c", 0, Choice::kZipf},
    {"ycsb_b", 0, Choice::kZipf, 0.05},
    {"ycsb_d", 0, Choice::kLatest, 0.05, true},
    {"mixgraph", 0.37, Choice::kRanges, 0.14, false, 0.01},
    {"zipf_30_absent", 0.3, Choice::kZipf},
    {kRestart, 0.3, Choice::kZipf},
    {"scans", 0.5, Choice::kUniform, 0, false, 0.3},
    {"absent_again", 1, Choice::kUniform},
    {kRefresh, 0.5, Choice::kUniform},
};
constexpr const char* kPhaseFilters[] = {
    "compact_auto",       "composed_auto",     "none",
    "rocksdb_bloom:6",    "rocksdb_bloom:10",  "rocksdb_bloom:14",
    "rocksdb_ribbon:4",   "rocksdb_ribbon:6",  "rocksdb_ribbon:8",
    "rocksdb_ribbon:10",  "composed_budget:3", "composed_budget:5",
    "composed_budget:10", "compact_budget:1",  "compact_budget:2",
    "compact_budget:4",   "compact_budget:6",  "compact_budget:8",
    "compact_budget:10",  "compact_budget:14",
};
constexpr int kRounds = 8;
// This share of the keys is overwritten in a round.
constexpr double kOverwrittenShare = 0.08;
constexpr int kPhaseLevelRatio = 10;
constexpr int kPhaseLevel0Files = 4;
constexpr uint64_t kFlushesOfAllKeys = 100;

// The tree has more or fewer runs after each round, so one alone says little.
Json MeanOf(const std::vector<Json>& rounds, size_t first) {
  Json mean = rounds.front();
  for (auto& [name, value] : mean.items()) {
    double sum = 0;
    for (size_t i = first; i < rounds.size(); ++i) {
      sum += rounds[i].at(name).get<double>();
    }
    value = sum / static_cast<double>(rounds.size() - first);
  }
  return mean;
}

class Subject {
 public:
  Subject(const std::string& filter, double cache_share, const KeyTree& keys,
          const std::vector<uint64_t>& sorted, uint64_t seed, Run* run)
      : filter_(filter),
        cache_share_(cache_share),
        keys_(keys),
        operations_(keys, sorted, seed),
        database_(OptionsFor(), run->NewPath()) {
    const auto count = keys.key_count;
    for (uint64_t i = 0; i < count; ++i) Put(SplitMix(i) % count);
    for (uint64_t i = 0; i < count; ++i) Put(i);
    Settle();
  }

  // Performs the operations; returns the blocks that they read. Before each
  // batch its part of the keys is overwritten: the number of runs, on which
  // reads depend, changes with each flush, and not alike in all trees.
  Json Round(const Workload& workload, uint64_t count, double overwritten_share,
             Answers* answers) {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
    perf.Reset();
    uint64_t wrong = 0;
    uint64_t gets = 0;
    const uint64_t batches = (count + kBatch - 1) / kBatch;
    for (uint64_t i = 0; i < batches; ++i) {
      Overwrite(overwritten_share / static_cast<double>(batches));
      for (const Operation& operation : operations_.Batch(workload)) {
        gets += operation.kind != Operation::kPut;
        wrong += !Do(operation, database_.db());
      }
    }
    answers->AddMany(gets, wrong, workload.name);
    const auto per_get = [&](uint64_t reads) {
      return static_cast<double>(reads) / static_cast<double>(gets);
    };
    Json result = {{"data_reads", per_get(DataReads())},
                   {"index_reads", per_get(perf.index_block_read_count)},
                   {"filter_reads", per_get(perf.filter_block_read_count)}};
    result["reads"] = per_get(DataReads() + perf.index_block_read_count +
                              perf.filter_block_read_count);
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
    return result;
  }

  void Overwrite(double share) {
    const auto count =
        static_cast<uint64_t>(share * static_cast<double>(keys_.key_count));
    if (count == 0) return;
    for (uint64_t i = 0; i < count; ++i) {
      Put(NextSplitMix(&state_) % keys_.key_count);
    }
    Settle();
  }

  // With an empty cache, and a policy and a listener that know nothing.
  void Restart() {
    const Policy policy = MakePolicyOf();
    database_.Reopen(NewCache(), &policy);
  }

  // Rewrites the SSTs whose filters are not as planned, with operations before
  // each of them.
  Json Refresh(const Workload& workload, Answers* answers) {
    constexpr uint64_t kOperations = kBatch / 4;
    std::vector<Json> rounds;
    RocksDbRefreshOptions refresh;
    refresh.progress = [&](const RocksDbRefreshReport& /*so_far*/) {
      rounds.push_back(Round(workload, kOperations, 0, answers));
      return true;
    };
    const auto start = std::chrono::steady_clock::now();
    rocksdb::DB* const db = database_.db();
    const RocksDbRefreshReport report =
        OrThrow(RefreshRocksDbFilters(db, db->DefaultColumnFamily(), refresh));
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    constexpr auto kRewritten = RocksDbRefreshResult::kRewritten;
    Json result = {{"ssts", report.CountOf(kRewritten)},
                   {"kept_ssts", report.kept_file_count},
                   {"read_bytes", report.ReadBytes(kRewritten)},
                   {"written_bytes", report.WrittenBytes(kRewritten)},
                   {"seconds_with_gets", took.count()}};
    if (!rounds.empty()) result["meanwhile"] = MeanOf(rounds, 0);
    return result;
  }

  double BitsPerKey() { return SumOf(database_.ReadLevels()).BitsPerKey(); }
  uint64_t WrittenBytes() const {
    return statistics_->getTickerCount(rocksdb::COMPACT_WRITE_BYTES) +
           statistics_->getTickerCount(rocksdb::FLUSH_WRITE_BYTES);
  }
  uint64_t DataBytes() { return SumOf(database_.ReadLevels()).data_bytes; }

 private:
  Policy MakePolicyOf() const {
    const auto [name, bits] = ParseFilter(filter_, kCommand);
    TreeShape shape;  // As a user would describe it.
    shape.size_ratio = kPhaseLevelRatio;
    Policy policy = MakeKeyPolicy(name, bits, shape);
    policy.statistics = statistics_;
    return policy;
  }
  uint64_t CellBytes() const {
    return (keys_.form == KeyForm::kUrls ? 65 : 8) + kValueSize + 11;
  }
  std::shared_ptr<rocksdb::Cache> NewCache() const {
    constexpr int kOneShard = 0;
    return rocksdb::NewLRUCache(
        static_cast<size_t>(cache_share_ *
                            static_cast<double>(CellBytes() * keys_.key_count)),
        kOneShard, /*strict_capacity_limit=*/false,
        /*high_pri_pool_ratio=*/0.5);
  }
  rocksdb::Options OptionsFor() {
    const Policy policy = MakePolicyOf();
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy = policy.filter;
    table.cache_index_and_filter_blocks = true;
    table.cache_index_and_filter_blocks_with_high_priority = true;
    table.pin_top_level_index_and_filter = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.partition_filters = true;
    table.metadata_block_size = kBlockSizeBytes;
    table.block_cache = NewCache();
    rocksdb::Options options;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    options.listeners = policy.listeners;
    options.max_open_files = -1;
    options.compression = rocksdb::kNoCompression;
    options.statistics = policy.statistics;
    flush_keys_ = keys_.key_count / kFlushesOfAllKeys;
    const uint64_t flush_bytes = flush_keys_ * CellBytes();
    options.write_buffer_size = 64 * flush_bytes;  // Flush() flushes.
    options.level0_file_num_compaction_trigger = kPhaseLevel0Files;
    options.max_bytes_for_level_base = kPhaseLevel0Files * flush_bytes;
    options.max_bytes_for_level_multiplier = kPhaseLevelRatio;
    options.target_file_size_base = 2 * flush_bytes;
    options.level_compaction_dynamic_level_bytes = true;
    return options;
  }

  void Put(uint64_t index) {
    const std::string key = keys_.Key(index);
    database_.Put(key, ValueOf(key, kValueSize));
    if (++unflushed_ % flush_keys_ == 0) Settle();
  }
  // After each flush, so that all filters see the same tree.
  void Settle() {
    database_.Flush();
    database_.WaitForCompactions();
  }

  static constexpr Command kCommand = kPhases;

  const std::string filter_;
  const double cache_share_;
  const KeyTree& keys_;
  const std::shared_ptr<rocksdb::Statistics> statistics_ =
      rocksdb::CreateDBStatistics();
  uint64_t flush_keys_ = 0;
  uint64_t unflushed_ = 0;
  uint64_t state_ = 17;
  Operations operations_;
  Database database_;
};

// Returns the phases in the order of `names`, and all if it is empty.
std::vector<Workload> PhasesOf(const std::vector<std::string>& names) {
  std::vector<Workload> phases;
  for (const std::string& name : names.empty() ? PhaseNames() : names) {
    phases.push_back(*std::find_if(
        std::begin(kPhaseWorkloads), std::end(kPhaseWorkloads),
        [&](const Workload& workload) { return workload.name == name; }));
  }
  return phases;
}

}  // namespace

std::vector<std::string> PhaseNames() { return NamesOf(kPhaseWorkloads); }

Json MeasurePhases(Run* run) {
  const Options& options = run->options;
  TreeShape shape;
  shape.key_count = options.Or(options.keys, 20000, 400000);
  std::vector<uint64_t> sorted(shape.key_count);
  for (uint64_t i = 0; i < sorted.size(); ++i) sorted[i] = SplitMix(i);
  std::sort(sorted.begin(), sorted.end());
  const uint64_t operations = options.Or(options.gets, 2048, 16384);
  std::vector<std::string> filters = options.policies;
  if (filters.empty()) {
    filters.assign(std::begin(kPhaseFilters), std::end(kPhaseFilters));
  }
  const std::vector<Workload> workloads = PhasesOf(options.workloads);
  Json rows = Json::array();
  for (const KeyForm form : {KeyForm::kBinary, KeyForm::kUrls}) {
    const bool has_urls = form == KeyForm::kUrls;
    const KeyTree keys(shape, run, FilterPlace::kCachedPartitions, kValueSize,
                       form);
    for (const double cache_share : options.cache_shares) {
      for (const std::string& filter : filters) {
        run->progress.Begin("phases " + filter + (has_urls ? ", URLs" : ""),
                            workloads.size() * static_cast<size_t>(kRounds));
        Subject subject(filter, cache_share, keys, sorted, options.seed, run);
        for (const Workload& workload : workloads) {
          if (workload.name == kRestart) subject.Restart();
          const uint64_t written = subject.WrittenBytes();
          const bool refreshes = workload.name == kRefresh && filter != kNone;
          Json refresh;
          std::vector<Json> rounds;
          for (int round = 0; round < kRounds; ++round) {
            if (round == 1 && refreshes) {
              subject.Overwrite(kOverwrittenShare);
              refresh = subject.Refresh(workload, &run->answers);
            }
            const bool overwrites = round > 0 && !refreshes;
            rounds.push_back(subject.Round(workload, operations,
                                           overwrites ? kOverwrittenShare : 0,
                                           &run->answers));
            run->progress.Add(1);
          }
          const double rewritten =
              static_cast<double>(subject.WrittenBytes() - written) /
              static_cast<double>(subject.DataBytes());
          rows.push_back({{"keys", has_urls ? "urls" : "binary"},
                          {"cache_share", cache_share},
                          {"filter", filter},
                          {"phase", workload.name},
                          {"bits_per_key", subject.BitsPerKey()},
                          {"rewritten_share", rewritten},
                          {"first", rounds.front()},
                          {"adapted", MeanOf(rounds, rounds.size() / 2)}});
          if (refreshes) rows.back()["refresh"] = std::move(refresh);
        }
        run->progress.End();
      }
    }
  }
  return {{"phases", std::move(rows)}};
}

}  // namespace rowbloom::bench
