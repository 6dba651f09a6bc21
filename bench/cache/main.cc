// SPDX-License-Identifier: Apache-2.0
//
// cache_bench: hit rates of our cache and of a plain LRU on Zipf accesses with
// sweeps over cold files. See bench/README.md.
//
//   cache_bench --zipf 0.99 --cache_percent 10
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
#include "hit_rate.h"
#include "nlohmann/json.hpp"

namespace rowbloom::cache_bench {
namespace {

struct Options {
  uint64_t hot_chunks = 10000;
  std::vector<double> zipf = {0.99, 0.8};
  std::vector<double> cache_percent = {1, 2, 5, 10, 20, 50};
  std::vector<uint64_t> sweep_chunks = {100, 1000, 10000};
  std::vector<double> sweep_percent = {10, 50};
  uint64_t accesses = 500000;
  uint64_t seed = 1;
  std::string json;  // Empty: none.
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
        "| sweeps: chunks, share | cache | best fixed | plain LRU | "
        "segmented LRU |\n|---|---|---|---|---|\n",
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
        for (const bool is_plain_lru : {true, false}) {
          HitRateCase c;
          c.is_plain_lru = is_plain_lru;
          c.cache_share = percent / 100;
          c.sweep_chunks = sweeps.chunks;
          c.sweep_share = sweeps.percent / 100;
          c.accesses = options.accesses;
          c.seed = options.seed;
          const double rate = HotHitRate(zipf, c);
          std::printf(" %.1f |", 100 * rate);
          std::fflush(stdout);
          runs.push_back(
              {{"zipf", theta},
               {"cache_percent", percent},
               {"sweep_chunks", sweeps.chunks},
               {"sweep_percent", sweeps.percent},
               {"policy", is_plain_lru ? "plain_lru" : "segmented_lru"},
               {"hot_hit_rate", rate},
               {"best_fixed_hit_rate", best}});
        }
        std::printf("\n");
      }
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
                                      {"seed", options.seed}}}};
  results["hit_rates"] = MeasureHitRates(options);
  json.Write(results);
  return 0;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Hit rates of our cache and of a plain LRU. They are the same on every "
      "machine.");
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
  app.add_option("--json", options.json, "Also write the results to this file");
  return bench::RunProgram("cache_bench", &app, argc, argv,
                           [&] { return Run(options); });
}

}  // namespace
}  // namespace rowbloom::cache_bench

int main(int argc, char** argv) {
  return rowbloom::cache_bench::Main(argc, argv);
}
