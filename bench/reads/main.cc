// SPDX-License-Identifier: Apache-2.0
//
// reads_bench: how many data blocks point gets read for nothing in an LSM tree,
// by its filters. See bench/README.md.
//
//   reads_bench rows --json FILE
//   reads_bench keys --quick
//
// Exit codes: 0 fine; 1 a wrong answer or a failure; 2 usage; 130 interrupted.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "policies.h"
#include "rocksdb/version.h"
#include "run.h"

namespace rowbloom::reads {

std::vector<std::string> PoliciesOf(Command command, const Options& options) {
  std::vector<std::string> names = PolicyNames(command);
  const std::vector<std::string>& wanted = options.policies;
  if (wanted.empty()) return names;
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&](const std::string& name) {
                               return std::find(wanted.begin(), wanted.end(),
                                                name) == wanted.end();
                             }),
              names.end());
  return names;
}

namespace {

using Measure = Json (*)(Run*);

int RunCommand(const Options& options, const std::string& command,
               Measure measure) {
  const bench::JsonFile json(options.json);
  Run run(options);
  Json results = {{"benchmark", "reads"},
                  {"command", command},
                  {"format_version", 1},
                  {"machine", bench::MachineJson()}};
  results["machine"]["rocksdb_version"] = rocksdb::GetRocksVersionAsString();
  results["quick"] = options.quick;
  results.update(measure(&run));
  results["answers_checked"] = run.answers.checked();
  results["wrong_answers"] = run.answers.wrong();
  std::printf("\n%llu answers checked, %llu wrong.\n",
              static_cast<unsigned long long>(run.answers.checked()),
              static_cast<unsigned long long>(run.answers.wrong()));
  json.Write(results);
  return run.answers.wrong() == 0 ? 0 : bench::kExitFailure;
}

class CommandLine {
 public:
  CommandLine() {
    app_.require_subcommand(1);
    app_.option_defaults()->always_capture_default();
    AddRows();
    AddKeys(kKeys, "keys", "Gets of keys, at 10 bits per key", MeasureKeys);
    AddKeys(kMemory, "memory", "Wasted reads by memory, and the reverse",
            MeasureMemory);
    AddKeys(kGrow, "grow", "Memory and wasted reads of trees that grow",
            MeasureGrow);
    AddKeys(kCpu, "cpu", "Processor time of building filters", MeasureCpu);
    AddKeys(kKeys, "times", "Latency of gets, where reads take 100 us",
            MeasureTimes);
#ifdef ROWBLOOM_BENCH_MINI_KV
    AddMiniKv();
#endif
  }

  int Run(int argc, char** argv) {
    return bench::RunProgram("reads_bench", &app_, argc, argv, [&] {
      return RunCommand(options_, app_.get_subcommands().front()->get_name(),
                        measure_);
    });
  }

 private:
  CLI::App* Add(const char* name, const char* help, Measure measure) {
    CLI::App* command = app_.add_subcommand(name, help);
    command->callback([this, measure] { measure_ = measure; });
    command->add_flag("--quick", options_.quick, "Small sizes: a few seconds");
    command->add_option("--json", options_.json,
                        "Also write the results to this file");
    command->add_option("--directory", options_.directory,
                        "Where to put the databases (default: a temporary "
                        "directory)");
    return command;
  }

  static void AddNumber(CLI::App* command, const char* name,
                        std::optional<uint64_t>* value, const char* help) {
    command->add_option(name, *value, help)
        ->check(CLI::Range(uint64_t{0}, uint64_t{1} << 40));
  }

  void AddPolicies(Command policies, CLI::App* command) {
    command->add_option("--policies", options_.policies, "Only these")
        ->delimiter(',')
        ->check(CLI::IsMember(PolicyNames(policies)));
  }

  void AddRowOptions(CLI::App* command) {
    command->add_option("--input", options_.input,
                        "File of words, each a row with some of eight columns, "
                        "or of row<TAB>column lines");
    AddNumber(command, "--rows", &options_.rows, "Rows to load; 0: all");
    AddNumber(command, "--gets", &options_.gets, "Of each kind");
  }

  void AddRows() {
    CLI::App* command = Add("rows", "Gets of rows and columns", MeasureRows);
    AddRowOptions(command);
    AddPolicies(kRows, command);
    command
        ->add_option("--bits_per_key", options_.bits_per_key,
                     "Bits per filter key, or a list: 8,10,16")
        ->delimiter(',')
        ->check(CLI::Range(1.0, 24.0));
    command->add_flag("--direct_reads", options_.direct_reads,
                      "Read data blocks past the system's page cache");
  }

  void AddKeys(Command policies, const char* name, const char* help,
               Measure measure) {
    CLI::App* command = Add(name, help, measure);
    AddPolicies(policies, command);
    if (policies != kGrow) {
      command->add_option("--keys", options_.keys, "Keys of the tree")
          ->check(CLI::Range(uint64_t{10000}, uint64_t{1} << 32));
    }
    if (policies != kCpu) {
      AddNumber(command, "--gets", &options_.gets,
                "At most, of each kind and repetition");
    }
  }

  void AddMiniKv() {
    CLI::App* command =
        Add("mini_kv", "Gets of rows and columns in mini_kv", MeasureMiniKv);
    AddRowOptions(command);
    AddNumber(command, "--memtable_size_bytes", &options_.memtable_size_bytes,
              "Size at which the memtable is flushed");
    AddNumber(command, "--file_size_bytes", &options_.file_size_bytes,
              "Data blocks of an SST that a compaction writes");
    AddNumber(command, "--level1_size_bytes", &options_.level1_size_bytes,
              "Data blocks of level 1");
    command
        ->add_option("--level_ratio", options_.level_ratio,
                     "How many times larger each further level is")
        ->check(CLI::Range(uint64_t{1}, uint64_t{100}));
    command->add_option("--filter_cache_bytes", options_.filter_cache_bytes,
                        "Capacity of the cache of filter chunks");
  }

  Options options_;
  Measure measure_ = nullptr;
  CLI::App app_{
      "Data blocks that point gets read for nothing in an LSM tree, by its "
      "filters."};
};

}  // namespace
}  // namespace rowbloom::reads

int main(int argc, char** argv) {
  return rowbloom::reads::CommandLine().Run(argc, argv);
}
