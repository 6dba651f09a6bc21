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
#include <string>
#include <vector>

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

// Has a function for each command, and one for each option of several commands.
class Commands {
 public:
  explicit Commands(CLI::App* app) : app_(app) {
    app->require_subcommand(1);
    AddPolicies(kRows,
                AddOfInput("rows", MeasureRows, "Gets of rows and columns"));
    AddOfInput("levels", MeasureLevels, "Prefixes of keys of three levels");
    AddOfInput("kvrocks", MeasureKvrocks,
               "Gets and scans of hashes and sets with Kvrocks' keys");
    AddOfInput("scans", MeasureScans,
               "Scans that fill no cache, by where filters are kept");
    AddTime();
    AddPhases();
    AddPlaces();
    AddCpu();
    AddOfKeys(kKeys, "keys", MeasureKeys, "Gets of keys, at 10 bits per key");
    AddOfKeys(kMemory, "memory", MeasureMemory,
              "Wasted reads by memory, and the reverse");
    CLI::App* const grow =
        Add("grow", MeasureGrow, "Memory and wasted reads of trees that grow");
    AddGets(grow);
    AddPolicies(kGrow, grow);
#ifdef ROWBLOOM_BENCH_MINI_KV
    AddOfInput("mini_kv", MeasureMiniKv, "Gets of rows and columns in mini_kv");
#endif
  }
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  // The results of the command that was parsed.
  Json Results() const { return MeasureAll(options_, measure_); }

 private:
  CLI::App* Add(const char* name, Measure measure, const char* help) {
    CLI::App* const command = app_->add_subcommand(name, help);
    command->callback([this, measure] { measure_ = measure; });
    command->add_flag("--quick", options_.quick,
                      "Small sizes, which take some seconds");
    command->add_option(
        "--directory", options_.directory,
        "Where to put the databases (default: a temporary directory)");
    return command;
  }

  CLI::App* AddOfInput(const char* name, Measure measure, const char* help) {
    CLI::App* const command = Add(name, measure, help);
    AddGets(command);
    command
        ->add_option("--input", options_.input,
                     "File of words, each a row with some of eight columns, or "
                     "of row<TAB>column lines")
        ->capture_default_str();
    command->add_option("--rows", options_.rows, "Words to load; 0: all")
        ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 40));
    return command;
  }

  void AddOfKeys(Command policies, const char* name, Measure measure,
                 const char* help) {
    CLI::App* const command = Add(name, measure, help);
    AddGets(command);
    AddPolicies(policies, command);
    AddKeys(command);
  }

  void AddTime() {
    CLI::App* const time =
        Add("time", MeasureTime,
            "Time of gets where data and filters share one cache");
    AddFilters("compact:10,none", time);
    AddWorkloads("Workloads to measure", WorkloadNames(), time);
    time->add_option("--caches", options_.caches, "Kinds of block cache")
        ->delimiter(',')
        ->check(CLI::IsMember({"lru", "hyper_clock"}))
        ->capture_default_str();
    AddCacheShares("Capacities, as shares of the data", time);
    time->add_option("--threads", options_.threads, "Threads that ask")
        ->delimiter(',')
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    time->add_option("--seconds", options_.seconds,
                     "Of one filter in one round")
        ->check(CLI::Range(0.001, 3600.0));
    time->add_option("--key_form", options_.key_form,
                     "Keys of 8 bytes, or URLs whose SSTs are compressed")
        ->check(CLI::IsMember({"binary", "urls"}))
        ->capture_default_str();
    AddRounds(time);
    AddKeys(time);
  }

  void AddPhases() {
    CLI::App* const phases =
        Add("phases", MeasurePhases,
            "Reads of gets while the workload changes and SSTs are rewritten");
    AddGets(phases);
    AddFilters("rocksdb_bloom:10,compact_auto", phases);
    AddCacheShares("Capacities, as shares of the data", phases);
    AddWorkloads("Phases, in this order (default: all)", PhaseNames(), phases);
    phases
        ->add_option("--seed", options_.seed,
                     "Seed for the draws of operations")
        ->capture_default_str();
    AddKeys(phases);
  }

  void AddPlaces() {
    CLI::App* const places =
        Add("places", MeasurePlaces,
            "Reads of gets by where filters live, at the same memory");
    AddGets(places);
    AddFilters("rocksdb_bloom:10,compact:7", places);
    AddWorkloads("Workloads to measure", PlaceWorkloadNames(), places);
    places->add_option("--places", options_.places, "Places to measure")
        ->delimiter(',')
        ->check(CLI::IsMember(PlaceNames()));
    AddCacheShares("Memory of data, filters and indexes, as shares of the data",
                   places);
    places->add_option("--levels", options_.levels, "Levels of the tree")
        ->check(CLI::Range(1, 6));
    AddKeys(places);
  }

  void AddCpu() {
    CLI::App* const cpu =
        Add("cpu", MeasureCpu,
            "Processor time and stalls of writing, by the filters");
    AddPolicies(kCpu, cpu);
    cpu->add_option("--entry_bytes", options_.entry_bytes,
                    "Sizes of a key of 8 bytes and its value")
        ->delimiter(',')
        ->check(CLI::Range(size_t{16}, size_t{1} << 20))
        ->capture_default_str();
    AddRounds(cpu);
    AddKeys(cpu);
  }

  void AddGets(CLI::App* command) {
    command->add_option("--gets", options_.gets, "Gets of each kind, at most")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1} << 40));
  }
  void AddKeys(CLI::App* command) {
    command->add_option("--keys", options_.keys, "Keys of the tree")
        ->check(CLI::Range(uint64_t{10000}, uint64_t{1} << 32));
  }
  void AddRounds(CLI::App* command) {
    command
        ->add_option("--rounds", options_.rounds,
                     "Rounds of all filters in turn")
        ->check(CLI::Range(uint64_t{1}, uint64_t{1000}));
  }
  void AddPolicies(Command policies, CLI::App* command) {
    command->add_option("--policies", options_.policies, "Policies to measure")
        ->delimiter(',')
        ->check(CLI::IsMember(PolicyNames(policies)));
  }
  void AddFilters(const std::string& example, CLI::App* command) {
    command
        ->add_option("--filters", options_.policies,
                     "Policies and their bits per key: " + example)
        ->delimiter(',');
  }
  void AddWorkloads(const char* help, const std::vector<std::string>& names,
                    CLI::App* command) {
    command->add_option("--workloads", options_.workloads, help)
        ->delimiter(',')
        ->check(CLI::IsMember(names));
  }
  void AddCacheShares(const char* help, CLI::App* command) {
    command->add_option("--cache_shares", options_.cache_shares, help)
        ->delimiter(',')
        ->check(CLI::Range(0.001, 10.0))
        ->capture_default_str();
  }

  CLI::App* const app_;
  Options options_;
  Measure measure_ = nullptr;
};

int Main(int argc, char** argv) {
  CLI::App app("Wasted reads of point gets in an LSM tree, by its filters.");
  Commands commands(&app);
  return RunToJson("reads_bench", &app, argc, argv,
                   [&] { return commands.Results(); });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
