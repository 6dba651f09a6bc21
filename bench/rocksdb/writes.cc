// SPDX-License-Identifier: Apache-2.0
//
// cpu: what filters cost when SSTs are written. First the processor time of the
// compactions that make a tree of fixed shape, by the size of its entries; then
// a tree that grows under puts as fast as RocksDB takes them: stalls, write
// amplification, and the processor time of its compactions.
//
// Each round measures all policies in turn; ratios are those to rocksdb_bloom
// in the same round.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/split_mix.h"
#include "key_tree.h"
#include "policies.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "run.h"
#include "tree.h"

namespace rowbloom::bench {
namespace {

constexpr size_t kPutValueSize = 108;

// The summaries of all policies, by numbers of one policy in one round.
Json Compare(const std::vector<std::string>& policies,
             const std::function<Json(const std::string& policy)>& measure,
             const Options& options) {
  std::optional<size_t> base;
  for (size_t i = 0; i < policies.size(); ++i) {
    if (policies[i] == kBloom) base = i;
  }
  const auto summaries =
      CompareInRounds(options.Or(options.rounds, 1, 10), policies.size(), base,
                      [&](size_t i) { return measure(policies[i]); });
  Json rows = Json::array();
  for (size_t i = 0; i < policies.size(); ++i) {
    Json row = {{"policy", policies[i]}};
    row.update(summaries[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

Json CompareCompactions(size_t entry_bytes,
                        const std::vector<std::string>& policies, Run* run) {
  TreeShape shape;
  shape.key_count = run->options.Or(run->options.keys, 40000, 1000000);
  KeyTree keys(shape, run, FilterPlace::kTableReaders,
               entry_bytes - sizeof(uint64_t));
  Json rows = Compare(
      policies,
      [&](const std::string& policy) -> Json {
        const auto tree = keys.BuildOnce(
            MakeKeyPolicy(policy, kBitsPerKey, shape), kBitsPerKey);
        return {{"cpu_seconds", tree->compaction_cpu_seconds}};
      },
      run->options);
  return {{"entry_bytes", entry_bytes},
          {"levels", keys.levels},
          {"policies", std::move(rows)}};
}

rocksdb::Options PutOptions(const Policy& policy) {
  constexpr uint64_t kMemtableBytes = 2 << 20;
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = policy.filter;
  rocksdb::Options options;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  options.listeners = policy.listeners;
  options.statistics = rocksdb::CreateDBStatistics();
  options.compression = rocksdb::kNoCompression;
  // Small levels, so that few keys fill three of them.
  options.write_buffer_size = kMemtableBytes;
  options.target_file_size_base = kMemtableBytes;
  options.max_bytes_for_level_base = 4 * kMemtableBytes;
  options.level_compaction_dynamic_level_bytes = true;
  return options;
}

Json Put(const std::string& policy, Run* run) {
  const uint64_t count = run->options.Or(run->options.keys, 40000, 1000000);
  run->progress.Begin("put, " + policy, count);
  const rocksdb::Options options =
      PutOptions(MakeKeyPolicy(policy, kBitsPerKey, TreeShape()));
  Database database(options, run->NewPath());
  const Latencies::Clock::time_point start = Latencies::Clock::now();
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key = KeyOf(SplitMix(i));
    database.Put(key, ValueOf(key, kPutValueSize));
    run->progress.Add(1);
  }
  database.Write();
  const std::chrono::duration<double> took = Latencies::Clock::now() - start;
  database.Flush();
  database.WaitForCompactions();
  run->progress.End();
  const rocksdb::Statistics& statistics = *options.statistics;
  const auto ticker = [&](rocksdb::Tickers name) {
    return static_cast<double>(statistics.getTickerCount(name));
  };
  rocksdb::HistogramData cpu;
  statistics.histogramData(rocksdb::COMPACTION_CPU_TIME, &cpu);
  constexpr double kMicro = 1e-6;
  constexpr double kGb = 1e9;
  const auto keys = static_cast<double>(count);
  const double put_bytes = keys * (sizeof(uint64_t) + kPutValueSize);
  const double compacted_bytes = ticker(rocksdb::COMPACT_WRITE_BYTES);
  return {{"puts_per_second", keys / took.count()},
          {"stall_seconds", kMicro * ticker(rocksdb::STALL_MICROS)},
          {"write_amplification",
           (ticker(rocksdb::FLUSH_WRITE_BYTES) + compacted_bytes) / put_bytes},
          // Compactions took this for each GB that they wrote.
          {"cpu_seconds_per_gb",
           kMicro * static_cast<double>(cpu.sum) / (compacted_bytes / kGb)}};
}

}  // namespace

Json MeasureCpu(Run* run) {
  const auto policies = PolicyNames(kCpu, run->options.policies);
  Json compactions = Json::array();
  for (const size_t entry_bytes : run->options.entry_bytes) {
    compactions.push_back(CompareCompactions(entry_bytes, policies, run));
  }
  return {{"cpu",
           {{"compactions", std::move(compactions)},
            {"puts",
             Compare(
                 policies,
                 [&](const std::string& policy) { return Put(policy, run); },
                 run->options)}}}};
}

}  // namespace rowbloom::bench
