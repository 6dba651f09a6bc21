// SPDX-License-Identifier: Apache-2.0
//
// tree_sim: what a budget for the filters of a tree is worth, computed for
// trees of every size and simulated file by file. See bench/README.md.
//
//   tree_sim                   both
//   tree_sim grow --json F     one of shapes, grow
//
// Exit codes: 0 fine; 1 a failure; 2 usage; 130 interrupted.

#include <cstdio>
#include <string>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "bench/progress.h"
#include "nlohmann/json.hpp"
#include "shapes.h"
#include "simulate.h"

namespace rowbloom::tree_sim {
namespace {

struct Options {
  std::string json;  // Empty: none.
  ShapesOptions shapes;
  SimulateOptions simulate;
};

void AddGrow(SimulateOptions* o, CLI::App* app) {
  const SimulateOptions all;
  const CLI::Range bits(0.1, 24.0);
  CLI::App* command =
      app->add_subcommand("grow", "Trees that grow, file by file");
  command->add_option("--filter", o->filter, "Family, or filter of RocksDB");
  command->add_option("--bits_per_key", o->bits_per_key, "The budget")
      ->check(bits);
  command->add_option("--flushes", o->flushes, "Of each tree")
      ->check(CLI::Range(2, 1000000));
  command
      ->add_option("--keys_per_flush", o->keys_per_flush,
                   "Simulated; each stands for many")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--size_ratio", o->size_ratio, "Of leveled trees")
      ->check(CLI::Range(2.0, 100.0));
  command
      ->add_option("--control_gain", o->control_gain,
                   "Bits of precision for a bit per key off the budget")
      ->check(CLI::Range(0.0, 10.0));
  command
      ->add_option("--flush_ratio", o->flush_ratio,
                   "The most bits of flushed files, by the budget's")
      ->check(CLI::Range(0.1, 10.0));
  command
      ->add_option("--max_extra_bits", o->max_extra_bits,
                   "The most bits of others, above the budget's")
      ->check(CLI::Range(0.0, 24.0));
  command->add_option("--trees", o->trees)
      ->delimiter(',')
      ->check(CLI::IsMember(all.trees));
  command->add_option("--inserts", o->inserts)
      ->delimiter(',')
      ->check(CLI::IsMember(all.inserts));
  command->add_option("--knowledge", o->knowledge, "What the host knows")
      ->delimiter(',')
      ->check(CLI::IsMember(all.knowledge));
}

void AddShapes(ShapesOptions* o, CLI::App* app) {
  CLI::App* command = app->add_subcommand(
      "shapes", "Regular trees from gigabytes to petabytes, computed");
  command->add_option("--bits_per_key", o->bits_per_key, "The budgets")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 24.0));
  command
      ->add_option("--key_bytes", o->key_bytes,
                   "Data of a key, to tell the size of a tree")
      ->check(CLI::Range(1.0, 1e9));
  command->add_option("--flush_runs", o->flush_runs, "Files in level 0")
      ->check(CLI::Range(0, 1000));
}

int Run(const Options& o, const CLI::App& app) {
  const bench::JsonFile json(o.json);
  const bool all = app.get_subcommands().empty();
  nlohmann::ordered_json results = {{"format_version", 1},
                                    {"machine", bench::MachineJson()}};
  if (all || app.got_subcommand("shapes")) {
    results["shapes"] = ComputeShapes(o.shapes);
  }
  if (all) std::printf("\n");
  if (all || app.got_subcommand("grow")) {
    bench::Progress progress;
    results["grow"] = Simulate(o.simulate, &progress);
  }
  json.Write(results);
  return 0;
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app(
      "What a budget for the filters of a tree is worth. Counts and "
      "arithmetic, the same on every\nmachine. Without a command: all.");
  app.fallthrough();
  app.require_subcommand(0, 0);
  app.option_defaults()->always_capture_default();
  app.add_option("--seed", o.simulate.seed, "Of keys and gets");
  app.add_option("--json", o.json, "Also write the results to this file");
  AddShapes(&o.shapes, &app);
  AddGrow(&o.simulate, &app);
  return bench::RunProgram("tree_sim", &app, argc, argv,
                           [&] { return Run(o, app); });
}

}  // namespace
}  // namespace rowbloom::tree_sim

int main(int argc, char** argv) { return rowbloom::tree_sim::Main(argc, argv); }
