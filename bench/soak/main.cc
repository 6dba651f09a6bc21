// SPDX-License-Identifier: Apache-2.0
//
// filter_soak: random filters of every family, over random and adversarial
// digests, by every kernel: no key may be lost, no kernel may differ from the
// portable one. See bench/README.md.
//
//   filter_soak                          100 million lookups of keys
//   filter_soak --lookups 1e9 --seed 7   the same filters every time
//
// Filter i is that of seed + i: --seed S --lookups 1 repeats the one filter
// that a message names.
//
// Exit codes: 0 fine; 1 a false negative, a difference, or a failure; 2 usage;
// 130 interrupted.

#include <chrono>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "bench/progress.h"
#include "nlohmann/json.hpp"
#include "one_filter.h"

namespace rowbloom::soak {
namespace {

struct Options {
  double lookups = 1e8;
  double seconds = 0;
  uint64_t seed = 0;
  std::string json;  // Empty: none.
};

// By family and digest set.
using Results = std::map<std::pair<std::string, std::string>, Counts>;

unsigned long long Printable(uint64_t count) { return count; }

// Adds to *results until enough was asked.
void Soak(const Options& options, Results* results) {
  using Clock = std::chrono::steady_clock;
  const auto end =
      Clock::now() + std::chrono::duration<double>(options.seconds);
  bench::Progress progress;
  progress.Begin("lookups of keys", static_cast<uint64_t>(options.lookups));
  double lookups = 0;
  for (uint64_t seed = options.seed;
       lookups < options.lookups || Clock::now() < end; ++seed) {
    const FilterCheck check = CheckOneFilter(seed);
    const Counts& counts = check.counts;
    (*results)[{check.family, std::string(check.digest_set)}].Add(counts);
    if (!counts.ok()) {
      std::fprintf(
          stderr,
          "\nseed %llu, %s of %llu %s keys: %llu false negatives, "
          "%llu byte differences, %llu answers that differ\n",
          Printable(seed), check.policy.c_str(), Printable(counts.keys),
          std::string(check.digest_set).c_str(),
          Printable(counts.false_negatives), Printable(counts.byte_differences),
          Printable(counts.answer_differences));
    }
    lookups += static_cast<double>(counts.lookups);
    progress.Add(counts.lookups);
  }
  progress.End();
}

void PrintHeader(const char* name) {
  std::printf(
      "\n| %-15s | filters | keys | lookups of keys | false negatives | byte "
      "differences | answers that differ | saturated keys |\n"
      "|---|---|---|---|---|---|---|---|\n",
      name);
}

void PrintRow(const std::string& name, const Counts& counts) {
  std::printf("| %-15s |", name.c_str());
  for (const uint64_t count :
       {counts.filters, counts.keys, counts.lookups, counts.false_negatives,
        counts.byte_differences, counts.answer_differences,
        counts.saturated_keys}) {
    std::printf(" %llu |", Printable(count));
  }
  std::printf("\n");
}

// Of all results.
Counts Print(const Results& results) {
  std::map<std::string, Counts> families;
  std::map<std::string, Counts> digest_sets;
  Counts all;
  for (const auto& [names, counts] : results) {
    families[names.first].Add(counts);
    digest_sets[names.second].Add(counts);
    all.Add(counts);
  }
  PrintHeader("family");
  for (const auto& [name, counts] : families) PrintRow(name, counts);
  PrintRow("all", all);
  PrintHeader("digests");
  for (const auto& [name, counts] : digest_sets) PrintRow(name, counts);
  std::printf("\n%llu false negatives in %llu lookups of keys\n",
              Printable(all.false_negatives), Printable(all.lookups));
  return all;
}

nlohmann::ordered_json ToJson(const Options& options, const Results& results) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const auto& [names, counts] : results) {
    runs.push_back({{"family", names.first},
                    {"digests", names.second},
                    {"filters", counts.filters},
                    {"keys", counts.keys},
                    {"lookups", counts.lookups},
                    {"false_negatives", counts.false_negatives},
                    {"byte_differences", counts.byte_differences},
                    {"answer_differences", counts.answer_differences},
                    {"saturated_keys", counts.saturated_keys}});
  }
  return {{"format_version", 1},
          {"machine", bench::MachineJson()},
          {"options",
           {{"seed", options.seed},
            {"lookups", options.lookups},
            {"seconds", options.seconds}}},
          {"runs", runs}};
}

int Run(const Options& options) {
  std::printf("seed %llu\n", Printable(options.seed));
  std::fflush(stdout);
  const bench::JsonFile json(options.json);
  Results results;
  bool interrupted = false;
  try {
    Soak(options, &results);
  } catch (const bench::Interrupted&) {
    std::fprintf(stderr, "\ninterrupted\n");
    interrupted = true;
  }
  const Counts all = Print(results);
  json.Write(ToJson(options, results));
  if (!all.ok()) return bench::kExitFailure;
  return interrupted ? bench::kExitInterrupted : 0;
}

int Main(int argc, char** argv) {
  Options options;
  options.seed = std::random_device()();
  CLI::App app(
      "Builds random filters of every family with every kernel and asks them "
      "for all of their\nkeys. Exit code 1 if a key is lost or kernels "
      "differ.");
  app.add_option("--lookups", options.lookups,
                 "Of keys, at least; the last filter is finished")
      ->check(CLI::Range(1.0, 1e18))
      ->capture_default_str();
  app.add_option("--seconds", options.seconds, "At least")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  app.add_option("--seed", options.seed,
                 "Of the first filter (default: random). Each has the next");
  app.add_option("--json", options.json, "Also write the counts to this file");
  return bench::RunProgram("filter_soak", &app, argc, argv,
                           [&] { return Run(options); });
}

}  // namespace
}  // namespace rowbloom::soak

int main(int argc, char** argv) { return rowbloom::soak::Main(argc, argv); }
