// SPDX-License-Identifier: Apache-2.0
//
// compaction_bench: processor time of flushes and compactions by filter
// policy. See bench/README.md.
//
//   compaction_bench
//   compaction_bench --partition_filters --value_bytes 20
//
// Exit codes: 0 fine; 1 a failure; 2 usage.

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
#include "bench/progress.h"
#include "bench/reads/policies.h"
#include "bench/work_directory.h"
#include "measure.h"
#include "nlohmann/json.hpp"
#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom::compaction_bench {
namespace {

struct Options {
  Shape shape;
  double bits_per_key = 10;
  std::optional<double> target_fpr;
  int rounds = 7;
  std::vector<std::string> policies = reads::PolicyNames(reads::kRows);
  std::string directory;  // Empty: a temporary one.
  std::string json;       // Empty: none.
};

double Median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One policy's costs, a value for each round.
struct Series {
  std::string policy;
  std::vector<double> flush;
  std::vector<double> compaction;
  Costs last;
};

// The median of `a` over `b`, round by round: what disturbs a round disturbs
// both.
double MedianRatio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  return Median(ratios);
}

// By the rate, if one was asked for and the policy can be given one.
double BitsPerKey(const Options& options, const std::string& policy) {
  const std::string family = reads::FamilyOf(policy);
  if (!options.target_fpr || family.empty()) return options.bits_per_key;
  return FilterPolicy::TargetFpr(family, *options.target_fpr).bits_per_key();
}

std::vector<Series> Measure(const Options& options) {
  const std::vector<std::string> keys = MakeKeys(options.shape);
  const bench::WorkDirectory work(options.directory, "compaction_bench",
                                  /*keep=*/false);
  std::vector<Series> all;
  for (const std::string& name : options.policies) {
    all.emplace_back();
    all.back().policy = name;
  }
  bench::Progress progress;
  progress.Begin("rounds", options.rounds * all.size());
  for (int round = 0; round < options.rounds; ++round) {
    // Each policy is first in its turn.
    std::rotate(all.begin(), all.begin() + 1, all.end());
    for (Series& series : all) {
      series.last =
          MeasureWrites(options.shape, keys,
                        reads::MakeRowPolicy(
                            series.policy, BitsPerKey(options, series.policy)),
                        work.path() + "/" + series.policy);
      series.flush.push_back(series.last.flush_seconds);
      series.compaction.push_back(series.last.compaction_seconds);
      progress.Add(1);
    }
  }
  progress.End();
  std::sort(all.begin(), all.end(), [&](const Series& a, const Series& b) {
    const auto place = [&](const Series& s) {
      return std::find(options.policies.begin(), options.policies.end(),
                       s.policy);
    };
    return place(a) < place(b);
  });
  return all;
}

// Null where the policy was not run.
nlohmann::ordered_json RatioTo(const std::vector<Series>& all,
                               const char* policy, const Series& series,
                               std::vector<double> Series::*values) {
  for (const Series& base : all) {
    if (base.policy == policy) {
      return MedianRatio(series.*values, base.*values);
    }
  }
  return nullptr;
}

nlohmann::ordered_json RunJson(const std::vector<Series>& all,
                               const Series& series) {
  using reads::kBloom, reads::kRibbon;
  return {{"policy", series.policy},
          {"filter_bytes", series.last.filter_bytes},
          {"filter_keys", series.last.filter_keys},
          {"flush_cpu_seconds", Median(series.flush)},
          {"compaction_cpu_seconds", Median(series.compaction)},
          {"flush_to_bloom", RatioTo(all, kBloom, series, &Series::flush)},
          {"flush_to_ribbon", RatioTo(all, kRibbon, series, &Series::flush)},
          {"compaction_to_bloom",
           RatioTo(all, kBloom, series, &Series::compaction)},
          {"compaction_to_ribbon",
           RatioTo(all, kRibbon, series, &Series::compaction)}};
}

std::string Ratio(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "";
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", value.get<double>());
  return text;
}

void Print(const nlohmann::ordered_json& runs) {
  std::printf(
      "\n| filters | MB | flush, CPU s | in Bloom's | in Ribbon's | "
      "compaction, "
      "CPU s | in Bloom's | in Ribbon's "
      "|\n|---|---|---|---|---|---|---|---|\n");
  for (const nlohmann::ordered_json& run : runs) {
    std::printf("| %s | %.2f | %.3f | %s | %s | %.3f | %s | %s |\n",
                run["policy"].get<std::string>().c_str(),
                run["filter_bytes"].get<double>() / 1e6,
                run["flush_cpu_seconds"].get<double>(),
                Ratio(run["flush_to_bloom"]).c_str(),
                Ratio(run["flush_to_ribbon"]).c_str(),
                run["compaction_cpu_seconds"].get<double>(),
                Ratio(run["compaction_to_bloom"]).c_str(),
                Ratio(run["compaction_to_ribbon"]).c_str());
  }
}

int Run(const Options& options) {
  const bench::JsonFile json(options.json);
  const std::vector<Series> all = Measure(options);
  nlohmann::ordered_json results = {
      {"format_version", 1},
      {"machine", bench::MachineJson()},
      {"rocksdb_version", rocksdb::GetRocksVersionAsString()},
      {"options",
       {{"rows", options.shape.rows},
        {"columns", options.shape.columns},
        {"value_bytes", options.shape.value_bytes},
        {"flushes", options.shape.flushes},
        {"partition_filters", options.shape.partition_filters},
        {"bits_per_key", options.bits_per_key},
        {"target_fpr", options.target_fpr
                           ? nlohmann::ordered_json(*options.target_fpr)
                           : nullptr},
        {"rounds", options.rounds}}},
      {"runs", nlohmann::ordered_json::array()}};
  for (const Series& series : all) {
    results["runs"].push_back(RunJson(all, series));
  }
  Print(results["runs"]);
  json.Write(results);
  return 0;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Processor time that flushes and a compaction of RocksDB take with "
      "different filters.\nTo measure another librocksdb than the "
      "distribution's, name it in LD_LIBRARY_PATH.");
  app.add_option("--rows", options.shape.rows)
      ->check(CLI::Range(uint64_t{100}, uint64_t{100000000}))
      ->capture_default_str();
  app.add_option("--columns", options.shape.columns, "Of each row")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--value_bytes", options.shape.value_bytes)
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  app.add_option("--flushes", options.shape.flushes,
                 "Files that the compaction reads")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_flag("--partition_filters", options.shape.partition_filters);
  app.add_option("--bits_per_key", options.bits_per_key)
      ->check(CLI::Range(1.0, 30.0))
      ->capture_default_str();
  app.add_option("--target_fpr", options.target_fpr,
                 "Rate of rowbloom's filters, in place of their bits")
      ->check(CLI::Range(1e-6, 0.5));
  app.add_option("--rounds", options.rounds, "Medians are over them")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--policies", options.policies)
      ->delimiter(',')
      ->check(CLI::IsMember(reads::PolicyNames(reads::kRows)));
  app.add_option("--directory", options.directory,
                 "For the databases; it is not removed");
  app.add_option("--json", options.json, "Also write the results to this file");
  return bench::RunProgram("compaction_bench", &app, argc, argv,
                           [&] { return Run(options); });
}

}  // namespace
}  // namespace rowbloom::compaction_bench

int main(int argc, char** argv) {
  return rowbloom::compaction_bench::Main(argc, argv);
}
