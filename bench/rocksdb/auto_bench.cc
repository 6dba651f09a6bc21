// SPDX-License-Identifier: Apache-2.0
//
// Measures what `auto` adds to the work of a get and of a flush, beside the
// same filters with fixed bits: all that is read lies in the block cache.
//
//   bench/instructions.py build/release/bench/rocksdb/auto_bench
//
// Names: get_absent/POLICY/KEYS, get_present/... and flush/POLICY/KEYS. Gets of
// a policy and of its `auto` ask the same SSTs. plan/uniform and plan/zipf_0.9
// make a plan for a tree of 11 million keys.

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/micro.h"
#include "bench/split_mix.h"
#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/statistics.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/open_db.h"
#include "rowbloom/filter_cost.h"
#include "rowbloom/get_cost.h"
#include "rowbloom/get_fit.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_budget.h"
#include "rowbloom/rocksdb_composed.h"

namespace rowbloom::bench {
namespace {

constexpr int kFiles = 4;
constexpr int kGets = 10000;
constexpr double kBits = 10;

enum class Mode { kStock, kComposed, kNative };

struct Policy {
  std::string name;
  Mode mode = Mode::kStock;
  bool is_auto = false;
};

const Policy kPolicies[] = {{"rocksdb_bloom", Mode::kStock, false},
                            {"rocksdb_ribbon", Mode::kStock, false},
                            {"composed_fixed", Mode::kComposed, false},
                            {"composed_auto", Mode::kComposed, true},
                            {"compact_fixed", Mode::kNative, false},
                            {"compact_auto", Mode::kNative, true}};

std::shared_ptr<const rocksdb::FilterPolicy> Make(const Policy& policy) {
  rocksdb::Status status;
  std::shared_ptr<const rocksdb::FilterPolicy> made;
  if (policy.mode == Mode::kComposed) {
    RocksDbComposedOptions options;
    options.bits_per_key = kBits;
    options.budget = BudgetMode::kFixed;
    options.auto_bits = policy.is_auto;
    made = NewRocksDbComposedPolicy(options, &status);
  } else if (policy.mode == Mode::kNative) {
    RocksDbOptions options;
    options.filter_spec = FilterSpec::BitsPerKey("compact", kBits);
    options.auto_bits = policy.is_auto;
    made = NewRocksDbFilterPolicy(options, &status);
  } else if (policy.name == "rocksdb_ribbon") {
    made.reset(rocksdb::NewRibbonFilterPolicy(kBits));
  } else {
    made.reset(rocksdb::NewBloomFilterPolicy(kBits));
  }
  CheckOk(status);
  return made;
}

// 24 bytes; those of even numbers are present.
std::string Key(uint64_t number) {
  std::string key = std::to_string(SplitMix(number));
  key.resize(24, '.');
  return key;
}

class Db {
 public:
  Db(rocksdb::Env* env, const Policy& policy, int key_count)
      : key_count_(key_count) {
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy = Make(policy);
    table.block_cache = rocksdb::NewLRUCache(1 << 30);
    // `auto` plans where filters share the cache with data.
    table.partition_filters = true;
    table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
    table.cache_index_and_filter_blocks = true;
    rocksdb::Options options;
    options.env = env;
    options.create_if_missing = true;
    options.disable_auto_compactions = true;
    options.write_buffer_size = 1 << 30;
    options.statistics = rocksdb::CreateDBStatistics();
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    if (policy.is_auto) {
      options.listeners.push_back(NewRocksDbBudgetListener());
    }
    CheckOk(plugin::OpenDb(
        [&](auto* db) { return rocksdb::DB::Open(options, "/auto_bench", db); },
        &db_));
  }

  void Put(int file) {
    for (int i = file; i < key_count_; i += kFiles) {
      CheckOk(db_->Put({}, Key(2 * static_cast<uint64_t>(i)),
                       std::string(100, 'v')));
    }
  }
  void Flush() { CheckOk(db_->Flush({})); }

  void Get(bool present) {
    for (int i = 0; i < kGets; ++i) {
      const uint64_t number = SplitMix(i) % static_cast<uint64_t>(key_count_);
      value_.Reset();
      const bool found = db_->Get({}, db_->DefaultColumnFamily(),
                                  Key(2 * number + (present ? 0 : 1)), &value_)
                             .ok();
      if (found != present) CountWrongAnswers(1);
    }
  }

 private:
  const int key_count_;
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::PinnableSlice value_;
};

void TimeGets(benchmark::State& state, const std::string& name,
              const Policy& policy, bool present, int key_count) {
  const std::unique_ptr<rocksdb::Env> env(
      rocksdb::NewMemEnv(rocksdb::Env::Default()));
  {
    Policy fixed = policy;
    fixed.is_auto = false;
    Db db(env.get(), fixed, key_count);
    for (int file = 0; file < kFiles; ++file) {
      db.Put(file);
      db.Flush();
    }
  }
  Db db(env.get(), policy, key_count);
  CountInstructions(name, kGets, [&] { db.Get(present); });
  for (auto _ : state) db.Get(present);
  state.counters["time_per_get"] = TimeOfEach(kGets);
}

void TimeFlushes(benchmark::State& state, const std::string& name,
                 const Policy& policy, int key_count) {
  // Each has the writes of a flush in memory.
  std::vector<std::unique_ptr<rocksdb::Env>> envs;
  std::vector<std::unique_ptr<Db>> dbs;
  const auto prepare = [&] {
    envs.emplace_back(rocksdb::NewMemEnv(rocksdb::Env::Default()));
    dbs.push_back(std::make_unique<Db>(envs.back().get(), policy, key_count));
    dbs.back()->Put(0);
    dbs.back()->Flush();  // The listener sees a tree.
    dbs.back()->Put(1);
  };
  prepare();
  prepare();
  const int entry_count = key_count / kFiles;
  size_t next = 0;
  CountInstructions(name, static_cast<size_t>(entry_count),
                    [&] { dbs[next++]->Flush(); });
  for (auto _ : state) {
    state.PauseTiming();
    dbs.clear();
    envs.clear();
    prepare();
    state.ResumeTiming();
    dbs.back()->Flush();
  }
  dbs.clear();
  state.counters["time_per_entry"] =
      TimeOfEach(static_cast<size_t>(entry_count));
}

// A plan for counted gets, whose popularity by Zipf's law must be found.
void TimePlans(benchmark::State& state, const std::string& name,
               double zipf_exponent) {
  const std::vector<TreeRun> runs = {{10000}, {100000}, {1000000}, {10000000}};
  const FilterCost cost = FilterCost::OfRocksDbRibbon();
  const std::vector<FilterSetting> filters(runs.size(), cost.ForBits(kBits));
  GetCostOptions gets;
  gets.cache_bytes = 64 << 20;
  gets.missing_share = 0.3;
  GetCostOptions counted = gets;
  counted.zipf_exponent = zipf_exponent;
  const GetCost expected = OrThrow(ExpectedGetCost(runs, filters, counted));
  GetRates rates;
  rates.missing_share = gets.missing_share;
  rates.filter_asks = expected.filter.asks;
  rates.filter_reads = expected.filter.reads;
  rates.data_asks = expected.data.asks;
  rates.data_reads = expected.data.reads;
  const auto plan = [&] {
    TotalMemoryOptions total;
    total.get = gets;
    CheckOk(FitGets(runs, filters, rates, GetPopularity(), &total.get));
    if (std::abs(total.get.zipf_exponent - zipf_exponent) > 0.1) {
      CountWrongAnswers(1);
    }
    benchmark::DoNotOptimize(OrThrow(PlanTotalMemory(cost, runs, total)));
  };
  CountInstructions(name, 1, plan);
  for (auto _ : state) plan();
  state.counters["time_per_plan"] = TimeOfEach(1);
}

int Main(int argc, char** argv) {
  int key_count = 100000;
  CLI::App app("What `auto` adds to the work of a get and of a flush.");
  app.add_option("--keys", key_count, "Keys that are present")
      ->check(CLI::Range(100, 10000000))
      ->capture_default_str();
  return RunMicro("auto_bench", &app, argc, argv, [&] {
    for (const double zipf_exponent : {0.0, 0.9}) {
      const std::string name =
          zipf_exponent > 0 ? "plan/zipf_0.9" : "plan/uniform";
      benchmark::RegisterBenchmark(
          name.c_str(), [name, zipf_exponent](benchmark::State& state) {
            TimePlans(state, name, zipf_exponent);
          });
    }
    for (const char* kind : {"get_absent", "get_present", "flush"}) {
      for (const Policy& policy : kPolicies) {
        const std::string name = std::string(kind) + "/" + policy.name + "/" +
                                 std::to_string(key_count);
        const std::string text = kind;
        benchmark::RegisterBenchmark(
            name.c_str(),
            [name, text, &policy, key_count](benchmark::State& state) {
              if (text == "flush") {
                TimeFlushes(state, name, policy, key_count);
              } else {
                TimeGets(state, name, policy, text == "get_present", key_count);
              }
            });
      }
    }
  });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
