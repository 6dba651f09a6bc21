// SPDX-License-Identifier: Apache-2.0
//
// reader_bench: what FilterReader and its cache promise, measured on trees of
// filter blocks in memory. See bench/README.md.
//
//   reader_bench                  everything
//   reader_bench harm --json F    one of precision, harm, memo
//   reader_bench ablation         the use of each rule for loads
//
// Exit codes: 0 fine; 1 a lost row or a failure; 2 usage; 130 interrupted.

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "bench/program.h"
#include "bench/progress.h"
#include "measures.h"
#include "rowbloom/filter_spec.h"

namespace rowbloom::bench {
namespace {

struct Options {
  bool quick = false;
  PrecisionOptions precision;
  HarmOptions harm;
  MemoOptions memo;
  AblationOptions ablation;
  uint32_t chunk_size_bytes = 128 << 10;
  std::vector<std::string> without;
};

std::string CheckPolicy(const std::string& text) {
  const auto policy = FilterSpec::Parse(text);
  return policy.ok() ? "" : policy.status().ToString();
}

CLI::App* AddCommand(const char* name, const char* help, GetsOptions* o,
                     CLI::App* app) {
  CLI::App* command = app->add_subcommand(name, help);
  constexpr uint64_t kMost = 10000000000;
  // A tree has a thousandth of it in its smallest level.
  command->add_option("--keys", o->last_level_keys, "Keys of the last level")
      ->check(CLI::Range(uint64_t{1000}, kMost));
  command->add_option("--gets", o->gets, "Gets for each number")
      ->check(CLI::Range(uint64_t{1}, kMost));
  command
      ->add_option("--always_gets", o->always_gets,
                   "Gets of readers that always load; 0: none")
      ->check(CLI::Range(uint64_t{0}, kMost));
  return command;
}

// Before the flags are read, so that these may say otherwise.
void MakeQuick(Options* o) {
  o->precision.last_level_keys = 1000000;
  o->precision.resident_bits_per_key = {2, 5, 10, 15};
  o->precision.gets = 1000000;
  o->precision.always_gets = 2000;
  o->harm.last_level_keys = 200000;
  o->harm.cache_percent = {0, 10, 100};
  o->harm.gets = 400000;
  o->harm.always_gets = 2000;
  o->memo.rows = 200000;
  o->memo.zipf = {0.99, 0};
  o->memo.entries = {0, 100};
  o->memo.gets = 10000000;
  o->memo.rounds = 4;
  o->ablation.harm.last_level_keys = 200000;
  o->ablation.harm.gets = 20000;
  o->ablation.precision.last_level_keys = 200000;
  o->ablation.precision.gets = 100000;
  o->ablation.lookups = 100000;
  o->ablation.rounds = 3;
}

Json Measure(const Options& o, const CLI::App& app) {
  const bool all = app.get_subcommands().empty();
  const auto wanted = [&](const char* name) {
    return all || app.got_subcommand(name);
  };
  Json results;
  Progress progress;
  if (wanted("precision")) {
    results["precision"] = MeasurePrecision(o.precision, &progress);
  }
  if (wanted("harm")) results["harm"] = MeasureHarm(o.harm, &progress);
  if (wanted("memo")) results["memo"] = MeasureMemo(o.memo, &progress);
  if (app.got_subcommand("ablation")) {
    results["ablation"] = MeasureAblation(o.ablation, &progress);
  }
  return results;
}

int Main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) MakeQuick(&o);
  }
  CLI::App app(
      "Memory and reads of readers of filter blocks.\nAll are counts, the same "
      "on every machine. Without a command: all but ablation.");
  app.fallthrough();
  app.require_subcommand(0, 0);
  app.option_defaults()->always_capture_default();
  app.add_flag("--quick", o.quick, "Small trees and few gets: a few seconds");
  app.add_option("--chunk_size_bytes", o.chunk_size_bytes,
                 "Size of filter chunks in precision, harm and ablation")
      ->check(CLI::Range(4096, 1 << 24));
  app.add_option("--without", o.without,
                 "Rules for loads to switch off, but not in ablation")
      ->delimiter(',')
      ->check(CLI::IsMember(RuleNames()));
  AddCommand("precision", "Wasted reads against the memory of filters",
             &o.precision, &app)
      ->add_option("--resident_bits_per_key", o.precision.resident_bits_per_key,
                   "Capacities of the cache, by the keys of all levels")
      ->delimiter(',')
      ->check(CLI::Range(0.01, 100.0));
  CLI::App* harm =
      AddCommand("harm", "Bytes read with filters against bytes read without",
                 &o.harm, &app);
  harm->add_option("--policies", o.harm.policies, "Filter policies")
      ->delimiter(',')
      ->check(CheckPolicy);
  harm->add_option("--cache_percent", o.harm.cache_percent,
                   "Capacities of the cache, by the bytes of all filters")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1000.0));
  app.add_subcommand("memo",
                     "Wasted reads that a memo of false positives leaves");
  app.add_subcommand("ablation",
                     "Workloads that get worse without one of the rules for "
                     "loads; not run unless it is asked for");
  return RunToJson("reader_bench", &app, argc, argv, [&] {
    for (GetsOptions* gets : std::initializer_list<GetsOptions*>{
             &o.precision, &o.harm, &o.ablation.precision, &o.ablation.harm}) {
      gets->chunk_size_bytes = o.chunk_size_bytes;
      gets->load_rules = RulesWithout(o.without);
    }
    return Measure(o, app);
  });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
