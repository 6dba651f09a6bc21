// SPDX-License-Identifier: Apache-2.0
//
// reads_bench: the wasted reads of point gets in an LSM tree, by its filters.
// See bench/README.md.
//
//   reads_bench rows --json FILE
//   reads_bench keys --quick
//
// Exit codes: 0 fine; 1 a wrong answer or a failure; 2 usage; 130 interrupted.

#include <cstdint>

#include "bench/program.h"
#include "policies.h"
#include "rocksdb/version.h"
#include "run.h"

namespace rowbloom::bench {
namespace {

using Measure = Json (*)(Run*);

Json MeasureAll(const Options& options, Measure measure) {
  Run run(options);
  Json results = measure(&run);
  results["machine"] = {
      {"rocksdb_version", rocksdb::GetRocksVersionAsString()}};
  results["answers_checked"] = run.answers.checked();
  results["wrong_answers"] = run.answers.wrong();
  return results;
}

int Main(int argc, char** argv) {
  Options o;
  Measure measure = nullptr;
  CLI::App app("Wasted reads of point gets in an LSM tree, by its filters.");
  app.require_subcommand(1);
  const auto add = [&](const char* name, Measure function, const char* help) {
    CLI::App* command = app.add_subcommand(name, help);
    command->callback([&measure, function] { measure = function; });
    command->add_flag("--quick", o.quick,
                      "Small sizes, which take some seconds");
    command->add_option(
        "--directory", o.directory,
        "Where to put the databases (default: a temporary directory)");
    if (function != MeasureCpu && function != MeasureTime) {
      command->add_option("--gets", o.gets, "Gets of each kind, at most")
          ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
    }
    return command;
  };
  const auto add_policies = [&](Command policies, CLI::App* command) {
    command->add_option("--policies", o.policies, "Policies to measure")
        ->delimiter(',')
        ->check(CLI::IsMember(PolicyNames(policies)));
    return command;
  };
  const auto add_input = [&](CLI::App* command) {
    command
        ->add_option("--input", o.input,
                     "File of words, each a row with some of eight columns, or "
                     "of row<TAB>column lines")
        ->capture_default_str();
    command->add_option("--rows", o.rows, "Words to load; 0: all")
        ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 40));
  };

  add_input(add_policies(kRows,
                         add("rows", MeasureRows, "Gets of rows and columns")));
  add_input(add("levels", MeasureLevels, "Prefixes of keys of three levels"));
  add_input(add("kvrocks", MeasureKvrocks,
                "Gets and scans of hashes and sets with Kvrocks' keys"));
  add_input(add("scans", MeasureScans,
                "Scans that fill no cache, by where filters are kept"));

  CLI::App* time = add("time", MeasureTime,
                       "Time of gets where data and filters share one cache");
  time->add_option("--filters", o.policies,
                   "Policies and their bits per key: compact:10,none")
      ->delimiter(',');
  time->add_option("--workloads", o.workloads, "Workloads to measure")
      ->delimiter(',')
      ->check(CLI::IsMember(WorkloadNames()));
  time->add_option("--caches", o.caches, "Kinds of block cache")
      ->delimiter(',')
      ->check(CLI::IsMember({"lru", "hyper_clock"}))
      ->capture_default_str();
  time->add_option("--cache_shares", o.cache_shares,
                   "Capacities, as shares of the data")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 2.0))
      ->capture_default_str();
  time->add_option("--threads", o.threads, "Threads that ask")
      ->delimiter(',')
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  time->add_option("--seconds", o.seconds, "Of one filter in one round")
      ->check(CLI::Range(0.001, 3600.0));
  CLI::App* phases =
      add("phases", MeasurePhases,
          "Reads of gets while the workload changes and SSTs are rewritten");
  phases
      ->add_option(
          "--filters", o.policies,
          "Policies and their bits per key: rocksdb_bloom:10,compact_auto")
      ->delimiter(',');
  phases
      ->add_option("--cache_shares", o.cache_shares,
                   "Capacities, as shares of the data")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 2.0));
  phases
      ->add_option("--workloads", o.workloads,
                   "Phases, in this order (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember(PhaseNames()));
  phases->add_option("--seed", o.seed, "Seed for the draws of operations")
      ->capture_default_str();
  CLI::App* places =
      add("places", MeasurePlaces,
          "Reads of gets by where filters live, at the same memory");
  places
      ->add_option(
          "--filters", o.policies,
          "Policies and their bits per key: rocksdb_bloom:10,compact:7")
      ->delimiter(',');
  places->add_option("--workloads", o.workloads, "Workloads to measure")
      ->delimiter(',')
      ->check(CLI::IsMember(PlaceWorkloadNames()));
  places->add_option("--places", o.places, "Places to measure")
      ->delimiter(',')
      ->check(CLI::IsMember(PlaceNames()));
  places
      ->add_option("--cache_shares", o.cache_shares,
                   "Memory of data, filters and indexes, as shares of the data")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 10.0));
  places->add_option("--levels", o.levels, "Levels of the tree")
      ->check(CLI::Range(1, 6));
  CLI::App* cpu = add_policies(
      kCpu, add("cpu", MeasureCpu,
                "Processor time and stalls of writing, by the filters"));
  cpu->add_option("--entry_bytes", o.entry_bytes,
                  "Sizes of a key of 8 bytes and its value")
      ->delimiter(',')
      ->check(CLI::Range(size_t{16}, size_t{1} << 20))
      ->capture_default_str();
  for (CLI::App* command : {cpu, time}) {
    command->add_option("--rounds", o.rounds, "Rounds of all filters in turn")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1000}));
  }
  for (CLI::App* command :
       {add_policies(kKeys, add("keys", MeasureKeys,
                                "Gets of keys, at 10 bits per key")),
        add_policies(kMemory, add("memory", MeasureMemory,
                                  "Wasted reads by memory, and the reverse")),
        cpu, time, phases, places}) {
    command->add_option("--keys", o.keys, "Keys of the tree")
        ->check(CLI::Range(uint64_t{10000}, uint64_t{1} << 32));
  }
  add_policies(kGrow, add("grow", MeasureGrow,
                          "Memory and wasted reads of trees that grow"));

#ifdef ROWBLOOM_BENCH_MINI_KV
  add_input(
      add("mini_kv", MeasureMiniKv, "Gets of rows and columns in mini_kv"));
#endif
  return RunToJson("reads_bench", &app, argc, argv,
                   [&] { return MeasureAll(o, measure); });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
