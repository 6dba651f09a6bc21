// SPDX-License-Identifier: Apache-2.0
//
// filter_bench: rowbloom's filter families beside RocksDB's Bloom and Ribbon:
// space, false positive rate, lookups and builds, from a few hundred keys to
// many millions. See bench/README.md.
//
// Exit codes: 0 fine; 1 a false negative or a failure; 2 usage; 130
// interrupted.

#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/json_file.h"
#include "bench/program.h"
#include "contenders.h"
#include "measure.h"
#include "options.h"
#include "report.h"
#include "rocksdb_library.h"

namespace rowbloom::filter_bench {
namespace {

std::string Joined(const std::vector<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined += " " + name;
  return joined;
}

void DefineFlags(CLI::App* app, Options* o, bool* quick, bool* no_block_cache) {
  const std::map<std::string, uint64_t> units = {{"k", 1000}, {"M", 1000000}};
  app->add_option("--keys", o->key_counts,
                  "Keys of a filter, or a list: 300,10k,30M")
      ->delimiter(',')
      ->transform(
          CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::CASE_SENSITIVE))
      ->check(CLI::Range(uint64_t{1}, uint64_t{4000000000}))
      ->capture_default_str();
  app->add_option("--filters", o->filters,
                  "Only these (default:" + Joined(DefaultNames()) +
                      "), and rocksdb_bloomX or rocksdb_ribbonX with any bits "
                      "per key X")
      ->delimiter(',');
  app->add_option("--policy", o->policies,
                  "One more of rowbloom's: NAME=FAMILY:bits_per_key=B or "
                  "NAME=FAMILY:target_fpr=R. May be given several times")
      ->take_all();
  app->add_option(
      "--rocksdb-lib", o->rocksdb_library,
      "librocksdb to compare with, of the release of the headers "
      "(default: the system's, which may be a slow portable build)");
  app->add_option("--rounds", o->rounds, "Of timed lookups")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10000}))
      ->capture_default_str();
  app->add_option("--build_rounds", o->build_rounds,
                  "Of timed builds; fewer for large filters")
      ->check(CLI::Range(uint64_t{1}, uint64_t{10000}))
      ->capture_default_str();
  app->add_option("--fpr_lookups", o->fpr_lookups,
                  "Absent keys that the rate is counted over")
      ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40))
      ->capture_default_str();
  app->add_option(
         "--misalignment_bytes", o->misalignment_bytes,
         "Where filters begin behind a 64-byte boundary; 16 is where "
         "malloc puts large blocks. The block cache is always malloc's")
      ->check(CLI::Range(uint64_t{0}, uint64_t{63}))
      ->capture_default_str();
  app->add_flag("--no_block_cache", *no_block_cache,
                "Leave out the lookups in many filters");
  app->add_option("--seed", o->seed, "Of the keys")->capture_default_str();
  app->add_option("--json", o->json, "Write the results to this file too");
  app->add_flag("--quick", *quick,
                "A smoke run of seconds: its times mean nothing");
}

// What the smoke run has less of, unless asked for.
void MakeQuick(const CLI::App& app, Options* o) {
  if (app.count("--keys") == 0) o->key_counts = {300, 3500, 20000};
  if (app.count("--rounds") == 0) o->rounds = 3;
  if (app.count("--build_rounds") == 0) o->build_rounds = 1;
  if (app.count("--fpr_lookups") == 0) o->fpr_lookups = 200000;
  o->lookups = 4096;
  o->block_cache = {{50, 3500}};
}

int Run(const Options& options) {
  const bench::JsonFile json(options.json);
  const RocksDbLibrary library(options.rocksdb_library);
  const Contenders contenders =
      ChooseContenders(options.filters, options.policies, library);

  Progress progress;
  Report report;
  report.hash_costs = MeasureHashes(options, library);
  PrintHeader(library, report.hash_costs, std::cout);
  for (const uint64_t key_count : options.key_counts) {
    const auto runs = MeasureSize(options, contenders, key_count, &progress);
    PrintSize(runs, std::cout);
    report.runs.insert(report.runs.end(), runs.begin(), runs.end());
  }
  for (const BlockCacheShape& shape : options.block_cache) {
    const auto runs = MeasureBlockCache(options, contenders, shape, &progress);
    PrintBlockCache(runs, std::cout);
    report.block_cache.insert(report.block_cache.end(), runs.begin(),
                              runs.end());
  }
  std::cout << "\n"
            << report.false_negatives() << " false negatives in "
            << report.present_lookups() << " lookups of present keys.\n";
  json.Write(ToJson(options, library, report));
  return report.false_negatives() == 0 ? 0 : bench::kExitFailure;
}

int Main(int argc, char** argv) {
  Options options;
  bool quick = false;
  bool no_block_cache = false;
  CLI::App app(
      "rowbloom's filter families beside RocksDB's Bloom and Ribbon: bits per "
      "key, rates,\nlookups and builds. The default run takes some ten "
      "minutes and 4 GB of memory.");
  DefineFlags(&app, &options, &quick, &no_block_cache);
  return bench::RunProgram("filter_bench", &app, argc, argv, [&] {
    if (quick) MakeQuick(app, &options);
    if (no_block_cache) options.block_cache.clear();
    return Run(options);
  });
}

}  // namespace
}  // namespace rowbloom::filter_bench

int main(int argc, char** argv) {
  return rowbloom::filter_bench::Main(argc, argv);
}
