// SPDX-License-Identifier: Apache-2.0
//
// budget_bench: how many data blocks point gets read for nothing in a RocksDB
// tree, by how the memory of its filters is spent. See bench/README.md.
//
//   budget_bench                  all
//   budget_bench reads --json F   one of reads, memory, grow, cpu
//
// Exit codes: 0 fine; 1 a wrong answer or a failure; 2 usage; 130 interrupted.

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "bench/progress.h"
#include "bench/work_directory.h"
#include "fixed_tree.h"
#include "nlohmann/json.hpp"
#include "policies.h"
#include "report.h"
#include "rocksdb/version.h"

namespace rowbloom::budget_bench {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  std::string json;  // Empty: none.
  std::string directory;
  uint64_t keys = 2500000;
  std::vector<std::string> policies = PolicyNames();
  FixedTreeOptions tree;

  // reads
  double bits_per_key = 10;
  std::vector<double> cache_shares = {0.01, 0.1};
  std::vector<std::string> trees = {"leveled", "universal"};
  // memory
  std::vector<double> axis = {1, 2, 4, 6, 8, 10, 12, 14};
  std::vector<double> hits_only_axis = {0.2, 0.4, 0.6, 0.8, 1, 1.5};
  // grow
  std::vector<std::string> inserts = AllInserts();
  GrowOptions grow;
  // cpu
  uint32_t rounds = 5;
};

class Benchmark {
 public:
  explicit Benchmark(const Options& options)
      : options_(options),
        directory_(options.directory, "budget_bench", false) {}

  // At equal memory.
  Json Reads() {
    Json trees = Json::array();
    for (const std::string& kind : options_.trees) {
      const bool leveled = kind == "leveled";
      FixedTreeOptions tree_options = options_.tree;
      if (!leveled) tree_options.timed_gets = 0;
      FixedTree tree(Shape(kind), tree_options, &directory_, &progress_);
      const std::vector<Condition> conditions =
          leveled ? AllConditions(options_.cache_shares) : ColdUniform();
      TreeResults results{tree.shape(), {}, {}};
      for (const std::string& policy : options_.policies) {
        // Most keys have no filter then: it cannot take as much.
        if (policy == kHitsOnly || HasListener(policy)) continue;
        results.results.push_back(
            tree.MeasureWith(policy, options_.bits_per_key, conditions));
      }
      Finish(tree, &results);
      PrintReads(results);
      trees.push_back(ToJson(results));
    }
    return {{"bits_per_key", options_.bits_per_key},
            {"trees", std::move(trees)}};
  }

  // By memory.
  Json Memory() {
    FixedTreeOptions tree_options = options_.tree;
    tree_options.timed_gets = 0;
    FixedTree tree(Shape("leveled"), tree_options, &directory_, &progress_);
    TreeResults results{tree.shape(), {}, {}};
    for (const std::string& policy : options_.policies) {
      if (policy == kNone || HasListener(policy)) continue;
      for (const double bits :
           policy == kHitsOnly ? options_.hits_only_axis : options_.axis) {
        results.results.push_back(tree.MeasureAt(policy, bits, ColdUniform()));
      }
    }
    Finish(tree, &results);
    PrintMemory(results);
    Json json = ToJson(results);
    json["equal_reads"] = EqualReadsJson(results);
    return json;
  }

  // Trees as RocksDB makes them.
  Json Growth() {
    std::vector<GrowResult> grown;
    for (const std::string& name : options_.inserts) {
      for (const bool dynamic : {false, true}) {
        for (const std::string& policy : options_.policies) {
          if (!IsGrown(policy)) continue;
          const GrowTree tree{InsertsOf(name), dynamic};
          progress_.Begin(
              "grow " + name + ", " + policy,
              uint64_t{options_.grow.flushes} * options_.grow.keys_per_flush);
          grown.push_back(
              Grow(policy, tree, options_.grow,
                   directory_.path() + "/grow" + std::to_string(grown.size()),
                   &progress_));
          progress_.End();
          answers_checked_ += grown.back().answers_checked;
          wrong_answers_ += grown.back().wrong_answers;
        }
      }
    }
    PrintGrown(grown);
    return ToJson(grown);
  }

  // Processor time of building the filters, in that of flushes and compactions.
  Json Cpu() {
    FixedTree tree(Shape("leveled"), options_.tree, &directory_, &progress_);
    std::vector<std::vector<double>> seconds(options_.policies.size());
    for (uint32_t round = 0; round < options_.rounds; ++round) {
      for (size_t i = 0; i < options_.policies.size(); ++i) {
        seconds[i].push_back(
            tree.BuildCpuSeconds(options_.policies[i], options_.bits_per_key));
      }
    }
    return CpuJson(&seconds);
  }

  uint64_t wrong_answers() const { return wrong_answers_; }
  uint64_t answers_checked() const { return answers_checked_; }

 private:
  TreeShape Shape(const std::string& kind) const {
    TreeShape shape;
    shape.key_count = options_.keys;
    if (kind == "universal") {
      shape.kind = TreeKind::kUniversal;
      shape.size_ratio = 2;
      shape.level_count = 8;
    }
    return shape;
  }

  // Bits fixed by hand do not fit a tree that grows.
  static bool IsGrown(const std::string& policy) {
    static constexpr const char* kGrown[] = {
        kBaseline,        "composed_ribbon",   "compact",
        "compact_budget", "composed_listener", "compact_listener"};
    return std::find(std::begin(kGrown), std::end(kGrown), policy) !=
           std::end(kGrown);
  }

  void Finish(const FixedTree& tree, TreeResults* results) {
    results->levels = tree.levels();
    answers_checked_ += tree.answers_checked();
    wrong_answers_ += tree.wrong_answers();
  }

  Json CpuJson(std::vector<std::vector<double>>* seconds) const {
    Json rows = Json::array();
    double none = 0;
    std::printf(
        "\nProcessor time of flushes and compactions\n"
        "| policy | seconds | least, most | share of filters |\n"
        "|---|---|---|---|\n");
    for (size_t i = 0; i < seconds->size(); ++i) {
      std::vector<double>& rounds = (*seconds)[i];
      std::sort(rounds.begin(), rounds.end());
      const std::string& policy = options_.policies[i];
      const double median = rounds[rounds.size() / 2];
      if (policy == kNone) none = median;
      const double share = none == 0 ? 0 : 1 - none / median;
      std::printf("| %s | %.3f | %.3f, %.3f | %.1f%% |\n", policy.c_str(),
                  median, rounds.front(), rounds.back(), 100 * share);
      rows.push_back({{"policy", policy},
                      {"cpu_seconds", median},
                      {"least", rounds.front()},
                      {"most", rounds.back()},
                      {"filter_share", share}});
    }
    return rows;
  }

  const Options& options_;
  bench::Progress progress_;
  const bench::WorkDirectory directory_;
  uint64_t answers_checked_ = 0;
  uint64_t wrong_answers_ = 0;
};

void AddFlags(Options* o, CLI::App* app) {
  app->add_option("--json", o->json, "Also write the results to this file");
  app->add_option("--directory", o->directory,
                  "Where to put the databases (default: a temporary one)");
  app->add_option("--keys", o->keys, "Of the fixed tree")
      ->check(CLI::Range(uint64_t{10000}, uint64_t{1} << 32));
  app->add_option("--policies", o->policies, "Only these")
      ->delimiter(',')
      ->check(CLI::IsMember(PolicyNames()));
  app->add_option("--gets", o->tree.limits.gets, "At most, of each repetition");
  app->add_option("--wasted_reads", o->tree.limits.wasted_reads,
                  "A repetition ends with so many");
  app->add_option("--repetitions", o->tree.repetitions)
      ->check(CLI::Range(1, 100));
  app->add_option("--file_size_bytes", o->tree.file_size_bytes,
                  "Size limit of the fixed tree's files")
      ->check(CLI::Range(uint64_t{1} << 16, uint64_t{1} << 40));
  CLI::App* reads =
      app->add_subcommand("reads", "Wasted reads at equal memory");
  reads->add_option("--bits_per_key", o->bits_per_key, "Of all live files")
      ->check(CLI::Range(1.0, 24.0));
  reads
      ->add_option("--cache_shares", o->cache_shares,
                   "Of the data, in the block cache")
      ->delimiter(',')
      ->check(CLI::Range(0.0001, 1.0));
  reads->add_option("--trees", o->trees)
      ->delimiter(',')
      ->check(CLI::IsMember({"leveled", "universal"}));
  reads->add_option("--warm_up_gets", o->tree.warm_up_gets, "At most");
  reads->add_option("--timed_gets", o->tree.timed_gets,
                    "Times of so many gets; 0: none");
  reads->add_option("--delay_us", o->tree.delay_us,
                    "Of a read from storage, while gets are timed");
  CLI::App* memory =
      app->add_subcommand("memory", "Wasted reads by memory, and the reverse");
  memory->add_option("--bits", o->axis, "That policies are asked for")
      ->delimiter(',')
      ->check(CLI::Range(0.1, 24.0));
  memory->add_option("--hits_only_bits", o->hits_only_axis)
      ->delimiter(',')
      ->check(CLI::Range(0.01, 24.0));
  CLI::App* grow =
      app->add_subcommand("grow", "Memory and wasted reads of trees that grow");
  grow->add_option("--inserts", o->inserts)
      ->delimiter(',')
      ->check(CLI::IsMember(AllInserts()));
  grow->add_option("--flushes", o->grow.flushes)->check(CLI::Range(10, 100000));
  grow->add_option("--keys_per_flush", o->grow.keys_per_flush)
      ->check(CLI::Range(10, 1000000));
  grow->add_option("--flushes_per_ingestion", o->grow.flushes_per_ingestion)
      ->check(CLI::Range(1, 100000));
  grow->add_option("--grow_bits_per_key", o->grow.bits_per_key, "The budget")
      ->check(CLI::Range(1.0, 24.0));
  grow->add_option("--grow_gets", o->grow.gets, "Of each kind");
  CLI::App* cpu = app->add_subcommand(
      "cpu", "Processor time of building filters, in that of all building");
  cpu->add_option("--rounds", o->rounds)->check(CLI::Range(1, 1000));
}

Json OptionsJson(const Options& o) {
  return {{"keys", o.keys},
          {"value_size_bytes", kValueSize},
          {"file_size_bytes", o.tree.file_size_bytes},
          {"block_size_bytes", o.tree.block_size_bytes},
          {"gets", o.tree.limits.gets},
          {"wasted_reads", o.tree.limits.wasted_reads},
          {"repetitions", o.tree.repetitions},
          {"warm_up_gets", o.tree.warm_up_gets},
          {"timed_gets", o.tree.timed_gets},
          {"delay_us", o.tree.delay_us},
          {"flushes", o.grow.flushes},
          {"keys_per_flush", o.grow.keys_per_flush},
          {"flushes_per_ingestion", o.grow.flushes_per_ingestion},
          {"rounds", o.rounds}};
}

int Run(const Options& options, const CLI::App& app) {
  const bench::JsonFile json(options.json);
  Benchmark benchmark(options);
  Json results = {{"benchmark", "budget"},
                  {"format_version", 1},
                  {"machine", bench::MachineJson()}};
  results["machine"]["rocksdb_version"] = rocksdb::GetRocksVersionAsString();
  results["options"] = OptionsJson(options);
  const auto run = [&](const char* command, Json (Benchmark::*measure)()) {
    if (!app.get_subcommands().empty() && !app.got_subcommand(command)) return;
    results[command] = (benchmark.*measure)();
  };
  run("reads", &Benchmark::Reads);
  run("memory", &Benchmark::Memory);
  run("grow", &Benchmark::Growth);
  run("cpu", &Benchmark::Cpu);
  std::printf("\n%zu answers checked, %zu wrong.\n",
              static_cast<size_t>(benchmark.answers_checked()),
              static_cast<size_t>(benchmark.wrong_answers()));
  results["answers_checked"] = benchmark.answers_checked();
  results["wrong_answers"] = benchmark.wrong_answers();
  json.Write(results);
  return benchmark.wrong_answers() == 0 ? 0 : bench::kExitFailure;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Data blocks that point gets read for nothing in a RocksDB tree, by how "
      "the memory of its\nfilters is spent. Without a command: all.");
  app.fallthrough();
  app.require_subcommand(0, 0);
  app.option_defaults()->always_capture_default();
  AddFlags(&options, &app);
  return bench::RunProgram("budget_bench", &app, argc, argv,
                           [&] { return Run(options, app); });
}

}  // namespace
}  // namespace rowbloom::budget_bench

int main(int argc, char** argv) {
  return rowbloom::budget_bench::Main(argc, argv);
}
