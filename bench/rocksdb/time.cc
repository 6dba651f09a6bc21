// SPDX-License-Identifier: Apache-2.0
//
// time: what a get costs in RocksDB when data, index and filter blocks share
// one block cache of fixed size and reads go to the device.
//
// The trees of all policies are open at the same time, each with a cache of its
// own, and are asked in turn in every round. Threads draw their operations in
// batches, outside the measured time.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/machine.h"
#include "bench/split_mix.h"
#include "key_tree.h"
#include "operations.h"
#include "policies.h"
#include "rocksdb/cache.h"
#include "rocksdb/convenience.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/get_cost.h"
#include "run.h"
#include "tree.h"

namespace rowbloom::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kWarmUpSeconds = 2;
constexpr double kHighPriorityShare = 0.5;
// A filter partition has some 4 KiB.
constexpr uint64_t kKeysPerPartition = 3000;
constexpr char kBaseline[] = "rocksdb_bloom:10";
// rocksdb_bloom:10 and compact:7 have about the same rate.
constexpr const char* kFilters[] = {
    "none",
    kBaseline,
    "rocksdb_bloom:4",
    "rocksdb_bloom:6",
    "rocksdb_bloom:16",
    "rocksdb_ribbon:4",
    "rocksdb_ribbon:6",
    "rocksdb_ribbon:8",
    "rocksdb_ribbon:10",
    "composed_auto",
    "compact_auto",
    "composed_budget:10",
    "compact:7",
    "compact:10",
    "compact_budget:14",
    "compact_budget:10",
    "compact_budget:8",
    "compact_budget:6",
    "compact_budget:4",
    "compact_budget:2",
};

// YCSB's workloads, and mixgraph with the numbers of RocksDB's wiki, in a
// database of which it finds 63% of the keys. Workloads that write come last.
// No filter helps `scans`.
constexpr Workload kWorkloads[] = {
    {"absent", 1, Choice::kUniform},
    {"half_absent", 0.5, Choice::kUniform},
    {"present", 0, Choice::kUniform},
    {"ycsb_c", 0, Choice::kZipf},
    {"ycsb_c_5_absent", 0.05, Choice::kZipf},
    {"ycsb_c_50_absent", 0.5, Choice::kZipf},
    {"ycsb_c_95_absent", 0.95, Choice::kZipf},
    {"zipf_30_absent", 0.3, Choice::kZipf},
    {"scans", 0, Choice::kUniform, 0, false, 1},
    {"ycsb_b", 0, Choice::kZipf, 0.05},
    {"ycsb_d", 0, Choice::kLatest, 0.05, true},
    {"ycsb_f", 0, Choice::kZipf, 0.5},
    {"mixgraph", 0.37, Choice::kRanges, 0.14, false, 0.01},
};

// The work of one thread, or of all, in one round.
struct Sample {
  double operations = 0;
  double operations_per_second = 0;
  double cpu_seconds = 0;
  double data_reads = 0, index_reads = 0, filter_reads = 0;
  uint64_t wrong = 0;
  Latencies latencies;

  void Add(const Sample& other) {
    operations += other.operations;
    operations_per_second += other.operations_per_second;
    cpu_seconds += other.cpu_seconds;
    data_reads += other.data_reads;
    index_reads += other.index_reads;
    filter_reads += other.filter_reads;
    wrong += other.wrong;
    latencies.Add(other.latencies);
  }
};

// Works for `seconds`, or until `most_reads` data blocks were read.
Sample Work(const Workload& workload, rocksdb::DB* db, double seconds,
            uint64_t most_reads, Operations* operations) {
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::PerfContext& perf = *rocksdb::get_perf_context();
  perf.Reset();
  Sample sample;
  std::chrono::nanoseconds took(0);
  while (took < std::chrono::duration<double>(seconds) &&
         DataReads() < most_reads) {
    const std::vector<Operation> batch = operations->Batch(workload);
    const double cpu = ThreadCpuSeconds();
    const Clock::time_point begin = Clock::now();
    Clock::time_point start = begin;
    for (const Operation& operation : batch) {
      sample.wrong += !Do(operation, db);
      const Clock::time_point end = Clock::now();
      sample.latencies.Add(start, end);
      start = end;
    }
    took += start - begin;
    sample.cpu_seconds += ThreadCpuSeconds() - cpu;
    sample.operations += static_cast<double>(batch.size());
  }
  sample.operations_per_second =
      sample.operations / std::chrono::duration<double>(took).count();
  const auto count = [](uint64_t n) { return static_cast<double>(n); };
  sample.data_reads = count(DataReads());
  sample.index_reads = count(perf.index_block_read_count);
  sample.filter_reads = count(perf.filter_block_read_count);
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
  return sample;
}

struct Contestant {
  std::string name;
  std::unique_ptr<Tree> tree;
  std::vector<std::unique_ptr<Operations>> operations;  // One for each thread.
};

Sample WorkInThreads(const Workload& workload, const Contestant& contestant,
                     double seconds, uint64_t most_reads, int thread_count) {
  std::vector<Sample> samples(thread_count);
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      samples[i] = Work(workload, contestant.tree->db(), seconds,
                        most_reads / static_cast<uint64_t>(thread_count),
                        contestant.operations[i].get());
    });
  }
  for (std::thread& thread : threads) thread.join();
  Sample all;
  for (const Sample& sample : samples) all.Add(sample);
  return all;
}

std::shared_ptr<rocksdb::Cache> NewCache(const std::string& kind,
                                         size_t capacity_bytes) {
  constexpr int kDefaultShards = -1;
  if (kind == "lru") {
    return rocksdb::NewLRUCache(capacity_bytes, kDefaultShards,
                                /*strict_capacity_limit=*/false,
                                kHighPriorityShare);
  }
  return rocksdb::HyperClockCacheOptions(capacity_bytes, kBlockSizeBytes)
      .MakeSharedCache();
}

// Microseconds of direct reads of 4096 bytes, anywhere in one file.
Json MeasureDevice(const std::string& path) {
  constexpr size_t kReads = 3000;
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (fd < 0) throw std::runtime_error("opening " + path + " for direct reads");
  const auto blocks =
      static_cast<uint64_t>(lseek(fd, 0, SEEK_END)) / kBlockSizeBytes;
  struct alignas(kBlockSizeBytes) Block {
    char bytes[kBlockSizeBytes];
  };
  const auto block = std::make_unique<Block>();
  Latencies latencies;
  uint64_t state = 1;
  for (size_t i = 0; i < kReads; ++i) {
    const auto offset =
        static_cast<off_t>(NextSplitMix(&state) % blocks * kBlockSizeBytes);
    const Clock::time_point start = Clock::now();
    if (pread(fd, block->bytes, kBlockSizeBytes, offset) !=
        static_cast<ssize_t>(kBlockSizeBytes)) {
      close(fd);
      throw std::runtime_error("reading " + path + " directly");
    }
    latencies.Add(start, Clock::now());
  }
  close(fd);
  return {{"p50_us", latencies.QuantileMicroseconds(0.5)},
          {"p99_us", latencies.QuantileMicroseconds(0.99)}};
}

std::string AnySstOf(rocksdb::DB* db) {
  std::vector<rocksdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  const auto largest = std::max_element(
      files.begin(), files.end(),
      [](const auto& a, const auto& b) { return a.size < b.size; });
  return largest->db_path + largest->name;
}

Json SampleJson(Sample* sample) {
  const auto per_get = [&](double count) { return count / sample->operations; };
  return {
      {"throughput", sample->operations_per_second},  // Operations a second.
      {"p50_us", sample->latencies.QuantileMicroseconds(0.5)},
      {"p99_us", sample->latencies.QuantileMicroseconds(0.99)},
      {"cpu_us", 1e6 * per_get(sample->cpu_seconds)},
      {"data_reads", per_get(sample->data_reads)},
      {"index_reads", per_get(sample->index_reads)},
      {"filter_reads", per_get(sample->filter_reads)}};
}

struct Case {
  const Workload* workload;
  std::string cache;
  double cache_share;
  int threads;

  Json ToJson() const {
    return {{"workload", workload->name},
            {"cache", cache},
            {"cache_share", cache_share},
            {"threads", threads}};
  }
};

// ModelOptions() knows gets of uniform and of Zipf's keys of 8 bytes.
bool HasModel(const Workload& workload, KeyForm form) {
  return form == KeyForm::kBinary &&
         workload.put_share + workload.scan_share == 0 &&
         (workload.choice == Choice::kUniform ||
          workload.choice == Choice::kZipf);
}

GetCostOptions ModelOptions(const Case& c, size_t capacity_bytes,
                            double read_us) {
  GetCostOptions options;
  options.cache_bytes = capacity_bytes;
  options.high_priority_share = c.cache == "lru" ? kHighPriorityShare : 0;
  options.key_bytes = sizeof(uint64_t);
  // RocksDB stores 3 lengths and 8 bytes of sequence number and type.
  options.entry_bytes = sizeof(uint64_t) + kValueSize + 11;
  options.missing_share = c.workload->missing_share;
  options.zipf_exponent =
      c.workload->choice == Choice::kZipf ? kZipfExponent : 0;
  options.read_us = read_us;
  return options;
}

Policy PolicyOf(const std::string& filter, const TreeShape& shape) {
  const auto [name, bits] = ParseFilter(filter, kTime);
  return MakeKeyPolicy(name, bits, shape);
}

Json MeasureCase(const Case& c, const TreeShape& shape, KeyForm form,
                 const std::vector<TreeRun>& tree_runs, double read_us,
                 std::vector<Contestant>* contestants, Json* model_choices,
                 Run* run) {
  const uint64_t rounds = run->options.Or(run->options.rounds, 1, 10);
  const double seconds =
      run->options.seconds.value_or(run->options.quick ? 0.02 : 0.5);
  // Blocks in the cache are not compressed.
  const Level& data = contestants->front().tree->all;
  const auto data_bytes = static_cast<double>(
      form == KeyForm::kUrls ? data.data_blocks * kBlockSizeBytes
                             : data.data_bytes);
  const auto capacity = static_cast<size_t>(c.cache_share * data_bytes);
  const std::string title = std::string(c.workload->name) + ", " + c.cache +
                            " of " +
                            Number(100 * c.cache_share, "%g%% of the data, ") +
                            std::to_string(c.threads) + " threads";
  run->progress.Begin(title, (rounds + 1) * contestants->size());
  for (Contestant& contestant : *contestants) {
    const auto warm_up = [&] {
      WorkInThreads(*c.workload, contestant,
                    run->options.quick ? seconds : kWarmUpSeconds,
                    2 * capacity / kBlockSizeBytes, c.threads);
    };
    Tree& tree = *contestant.tree;
    const Policy policy = PolicyOf(contestant.name, shape);
    tree.database.Reopen(NewCache(c.cache, capacity));
    if (policy.statistics != nullptr) {
      tree.Rewrite(policy, warm_up);
    }
    warm_up();
    run->progress.Add(1);
  }
  size_t baseline = 0;
  for (size_t i = 0; i < contestants->size(); ++i) {
    if ((*contestants)[i].name == kBaseline) baseline = i;
  }
  const auto measure = [&](size_t i) {
    Sample sample = WorkInThreads(*c.workload, (*contestants)[i], seconds,
                                  ~uint64_t{0}, c.threads);
    run->answers.AddMany(static_cast<uint64_t>(sample.operations), sample.wrong,
                         c.workload->name);
    run->progress.Add(1);
    return SampleJson(&sample);
  };
  const auto summaries =
      CompareInRounds(rounds, contestants->size(), baseline, measure);
  run->progress.End();
  Json runs = Json::array();
  for (size_t i = 0; i < contestants->size(); ++i) {
    const Contestant& contestant = (*contestants)[i];
    Json json = c.ToJson();
    json["filter"] = contestant.name;
    json["bits_per_key"] = contestant.tree->all.BitsPerKey();
    json.update(summaries[i]);
    runs.push_back(std::move(json));
  }
  if (HasModel(*c.workload, form)) {
    Json& choice = model_choices->emplace_back(c.ToJson());
    TotalMemoryOptions options;
    options.get = ModelOptions(c, capacity, read_us);
    choice["bits_per_key"] =
        OrThrow(PlanTotalMemory(
                    OrThrow(FilterCost::OfFamily("compact", kKeysPerPartition)),
                    tree_runs, options))
            .filters.bits_per_key;
  }
  return runs;
}

std::vector<Case> CasesOf(const Options& options) {
  std::vector<Case> cases;
  for (const Workload& workload : kWorkloads) {
    const auto& only = options.workloads;
    if (!only.empty() &&
        std::count(only.begin(), only.end(), workload.name) == 0) {
      continue;
    }
    for (const std::string& cache : options.caches) {
      for (const double share : options.cache_shares) {
        for (const int threads : options.threads) {
          cases.push_back({&workload, cache, share, threads});
        }
      }
    }
  }
  return cases;
}

}  // namespace

std::vector<std::string> WorkloadNames() { return NamesOf(kWorkloads); }

Json MeasureTime(Run* run) {
  const Options& options = run->options;
  TreeShape shape;
  shape.key_count = options.Or(options.keys, 40000, 4000000);
  KeyTree keys(shape, run, FilterPlace::kCachedPartitions, kValueSize,
               options.key_form == "urls" ? KeyForm::kUrls : KeyForm::kBinary);
  std::vector<uint64_t> sorted(keys.key_count);
  for (uint64_t i = 0; i < sorted.size(); ++i) sorted[i] = SplitMix(i);
  std::sort(sorted.begin(), sorted.end());

  std::vector<std::string> filters = options.policies;
  if (filters.empty()) {
    filters.assign(std::begin(kFilters), std::end(kFilters));
  }
  const int most_threads =
      *std::max_element(options.threads.begin(), options.threads.end());
  std::vector<Contestant> contestants;
  for (const std::string& filter : filters) {
    const auto [policy, bits] = ParseFilter(filter, kTime);
    Contestant& contestant = contestants.emplace_back();
    contestant.name = filter;
    contestant.tree = keys.Build(policy, bits);
    for (int i = 0; i < most_threads; ++i) {
      contestant.operations.push_back(
          std::make_unique<Operations>(keys, sorted, static_cast<uint64_t>(i)));
    }
  }
  const std::string sst = AnySstOf(contestants.front().tree->db());
  Json result = {{"levels", keys.levels},
                 {"key_form", options.key_form},
                 {"device_before", MeasureDevice(sst)}};
  std::string table_options;
  Check(rocksdb::GetStringFromColumnFamilyOptions(
            &table_options, contestants.front().tree->database.options()),
        "printing options");
  result["options"] = table_options;
  const auto tree_runs = OrThrow(RunsOf(shape));
  const double read_us = result["device_before"]["p50_us"];
  for (const Case& c : CasesOf(options)) {
    for (Json& one : MeasureCase(c, shape, keys.form, tree_runs, read_us,
                                 &contestants, &result["model_choices"], run)) {
      result["runs"].push_back(std::move(one));
    }
  }
  result["device_after"] = MeasureDevice(sst);
  return {{"time", std::move(result)}};
}

}  // namespace rowbloom::bench
