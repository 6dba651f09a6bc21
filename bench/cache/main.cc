// SPDX-License-Identifier: Apache-2.0
//
// cache_bench: hit rates of the cache's policies on Zipf accesses with sweeps
// over cold files, and what an access costs. See bench/README.md.
//
//   cache_bench
//   cache_bench --zipf 0.99 --cache_percent 10 --rounds 0    hit rates only
//
// Exit codes: 0 fine; 1 a failure; 2 usage.

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "cost.h"
#include "hit_rate.h"
#include "nlohmann/json.hpp"

namespace rowbloom::cache_bench {
namespace {

using Policy = ShardedLruCacheOptions::Policy;

struct Options {
  uint64_t hot_chunks = 10000;
  std::vector<double> zipf = {0.99, 0.8};
  std::vector<double> cache_percent = {1, 2, 5, 10, 20, 50};
  std::vector<uint64_t> sweep_chunks = {100, 1000, 10000};
  std::vector<double> sweep_percent = {10, 50};
  uint64_t accesses = 500000;
  uint64_t seed = 1;
  uint64_t cost_accesses = 1000000;
  int rounds = 50;
  std::string json;  // Empty: none.
};

struct Column {
  const char* policy;
  const char* access;
  Policy value;
  bool through_hints;
};
constexpr Column kColumns[] = {
    {"plain_lru", "handle", Policy::kPlainLru, false},
    {"scan_resistant", "handle", Policy::kScanResistant, false},
    {"plain_lru", "hint", Policy::kPlainLru, true},
    {"scan_resistant", "hint", Policy::kScanResistant, true},
};

struct Sweeps {
  uint64_t chunks = 0;
  double percent = 0;
};

std::vector<Sweeps> SweepsOf(const Options& options) {
  std::vector<Sweeps> all = {{}};
  for (const uint64_t chunks : options.sweep_chunks) {
    for (const double percent : options.sweep_percent) {
      all.push_back({chunks, percent});
    }
  }
  return all;
}

nlohmann::ordered_json MeasureHitRates(const Options& options) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const double theta : options.zipf) {
    const Zipf zipf(options.hot_chunks, theta);
    std::printf(
        "\nHot hit rate in %%, Zipf %g over %llu chunks\n\n"
        "| sweeps: chunks, share | cache | best fixed | plain LRU | scan "
        "resistant | plain, hints | resistant, hints |\n"
        "|---|---|---|---|---|---|---|\n",
        theta, static_cast<unsigned long long>(options.hot_chunks));
    for (const Sweeps& sweeps : SweepsOf(options)) {
      for (const double percent : options.cache_percent) {
        const double best = zipf.ShareOfFirst(static_cast<uint64_t>(
            percent / 100 * static_cast<double>(options.hot_chunks)));
        if (sweeps.chunks == 0) {
          std::printf("| none |");
        } else {
          std::printf("| %llu, %g%% |",
                      static_cast<unsigned long long>(sweeps.chunks),
                      sweeps.percent);
        }
        std::printf(" %g%% | %.1f |", percent, 100 * best);
        for (const Column& column : kColumns) {
          HitRateCase c;
          c.policy = column.value;
          c.through_hints = column.through_hints;
          c.cache_share = percent / 100;
          c.sweep_chunks = sweeps.chunks;
          c.sweep_share = sweeps.percent / 100;
          c.accesses = options.accesses;
          c.seed = options.seed;
          const double rate = HotHitRate(zipf, c);
          std::printf(" %.1f |", 100 * rate);
          std::fflush(stdout);
          runs.push_back({{"zipf", theta},
                          {"cache_percent", percent},
                          {"sweep_chunks", sweeps.chunks},
                          {"sweep_percent", sweeps.percent},
                          {"policy", column.policy},
                          {"access", column.access},
                          {"hot_hit_rate", rate},
                          {"best_fixed_hit_rate", best}});
        }
        std::printf("\n");
      }
    }
  }
  return runs;
}

nlohmann::ordered_json MeasureCosts(const Options& options) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  if (options.rounds == 0) return runs;
  std::printf(
      "\n| access | ns, 1 thread | ns, 2 threads | times the throughput |\n"
      "|---|---|---|---|\n");
  for (const Access access : kAccesses) {
    const double one =
        NsPerAccess(access, 1, options.cost_accesses, options.rounds);
    const double two =
        NsPerAccess(access, 2, options.cost_accesses, options.rounds);
    std::printf("| %s | %.1f | %.1f | %.2f |\n", AccessName(access), one, two,
                2 * one / two);
    std::fflush(stdout);
    for (const int threads : {1, 2}) {
      runs.push_back({{"access", AccessName(access)},
                      {"threads", threads},
                      {"ns_per_access", threads == 1 ? one : two}});
    }
  }
  return runs;
}

int Run(const Options& options) {
  const bench::JsonFile json(options.json);
  nlohmann::ordered_json results = {{"format_version", 1},
                                    {"machine", bench::MachineJson()},
                                    {"options",
                                     {{"hot_chunks", options.hot_chunks},
                                      {"accesses", options.accesses},
                                      {"seed", options.seed},
                                      {"cost_accesses", options.cost_accesses},
                                      {"rounds", options.rounds}}}};
  results["hit_rates"] = MeasureHitRates(options);
  results["costs"] = MeasureCosts(options);
  json.Write(results);
  return 0;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Hit rates of the cache's policies, which do not depend on the machine, "
      "and what an\naccess costs, which does.");
  app.add_option("--hot_chunks", options.hot_chunks, "Asked again and again")
      ->check(CLI::Range(uint64_t{100}, uint64_t{10000000}))
      ->capture_default_str();
  app.add_option("--zipf", options.zipf, "Their exponents")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 2.0))
      ->capture_default_str();
  app.add_option("--cache_percent", options.cache_percent,
                 "Capacity, of their bytes")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str();
  app.add_option("--sweep_chunks", options.sweep_chunks,
                 "Of a cold file, each asked once in a row")
      ->delimiter(',')
      ->check(CLI::Range(uint64_t{1}, uint64_t{10000000}))
      ->capture_default_str();
  app.add_option("--sweep_percent", options.sweep_percent,
                 "Of all accesses, by sweeps")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 99.0))
      ->capture_default_str();
  app.add_option("--accesses", options.accesses,
                 "Of hot chunks, counted, after half as many that are not")
      ->check(CLI::Range(uint64_t{100}, uint64_t{1000000000}))
      ->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--cost_accesses", options.cost_accesses,
                 "By each thread in a round")
      ->check(CLI::Range(uint64_t{1000}, uint64_t{1000000000}))
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "Of the cost; 0: hit rates only")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  app.add_option("--json", options.json, "Also write the results to this file");
  return bench::RunProgram("cache_bench", &app, argc, argv,
                           [&] { return Run(options); });
}

}  // namespace
}  // namespace rowbloom::cache_bench

int main(int argc, char** argv) {
  return rowbloom::cache_bench::Main(argc, argv);
}
