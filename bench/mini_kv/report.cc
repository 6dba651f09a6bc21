// SPDX-License-Identifier: Apache-2.0

#include "report.h"

#include <cstdio>
#include <iterator>

#include "bench/machine.h"
#include "nlohmann/json.hpp"

namespace rowbloom::mini_kv_bench {
namespace {

using Json = nlohmann::ordered_json;

unsigned long long Printable(uint64_t number) { return number; }

double PerGet(uint64_t count, const Measurement& m) {
  return static_cast<double>(count) / static_cast<double>(m.gets);
}

// Lookups in SSTs that do not hold the key.
uint64_t AbsentLookups(const Measurement& m) {
  return m.false_positives + m.negatives;
}

double ObservedFpr(const Measurement& m) {
  return static_cast<double>(m.false_positives) /
         static_cast<double>(AbsentLookups(m));
}

uint64_t FilterBytes(const PolicyResult& result) {
  uint64_t sum = 0;
  for (const LevelStats& level : result.levels) sum += level.filter_bytes;
  return sum;
}

void PrintTree(const Report& report) {
  std::printf("%llu rows, %llu cells; the tree, the same for every policy:\n\n",
              Printable(report.row_count), Printable(report.cell_count));
  std::printf("| level | SSTs | cells | data blocks | data MB |\n");
  std::printf("|---|---|---|---|---|\n");
  int number = 0;
  for (const LevelStats& level : report.results.front().levels) {
    if (level.ssts != 0) {
      std::printf("| L%d | %llu | %llu | %llu | %.2f |\n", number,
                  Printable(level.ssts), Printable(level.cells),
                  Printable(level.data_blocks),
                  static_cast<double>(level.data_bytes) / 1e6);
    }
    ++number;
  }
}

void PrintQuery(const Report& report, size_t query) {
  std::printf("\n%s\n\n", std::string(QueryName(kQueries[query])).c_str());
  std::printf(
      "| policy | filter MB | data reads/get | fewer than none | data "
      "bytes/get | filter bytes/get | fpr |\n|---|---|---|---|---|---|---|\n");
  const Measurement& none = report.results.front().runs[query];
  for (const PolicyResult& result : report.results) {
    const Measurement& m = result.runs[query];
    std::printf(
        "| %s | %.3f | %.4f | %.1fx | %.0f | %.1f |", result.policy.c_str(),
        static_cast<double>(FilterBytes(result)) / 1e6, PerGet(m.data_reads, m),
        static_cast<double>(none.data_reads) /
            static_cast<double>(m.data_reads),
        PerGet(m.data_bytes, m), PerGet(m.filter_bytes, m));
    if (AbsentLookups(m) == 0) {
      std::printf(" - |\n");
    } else {
      std::printf(" %.3f%% |\n", 100 * ObservedFpr(m));
    }
  }
}

Json OptionsJson(const Options& options) {
  return {
      {"words", options.words},
      {"gets", options.get_count},
      {"bits_per_key", options.bits_per_key},
      {"memtable_size_bytes", options.memtable_size_bytes},
      {"file_size_bytes", options.file_size_bytes},
      {"level1_size_bytes", options.level1_size_bytes},
      {"level_ratio", options.level_ratio},
      {"block_size_bytes", options.block_size_bytes},
      {"value_size_bytes", options.value_size_bytes},
      {"filter_cache_bytes", options.filter_cache_bytes},
  };
}

Json TreeJson(const Report& report) {
  Json levels = Json::array();
  for (const LevelStats& level : report.results.front().levels) {
    levels.push_back({{"level", levels.size()},
                      {"ssts", level.ssts},
                      {"cells", level.cells},
                      {"data_blocks", level.data_blocks},
                      {"data_bytes", level.data_bytes}});
  }
  return {{"rows", report.row_count},
          {"cells", report.cell_count},
          {"levels", std::move(levels)}};
}

Json RunJson(const PolicyResult& result, const Measurement& m) {
  return {
      {"policy", result.policy},
      {"query", QueryName(m.query)},
      {"filter_bytes", FilterBytes(result)},
      {"gets", m.gets},
      {"wrong_answers", m.wrong_answers},
      {"data_reads_per_get", PerGet(m.data_reads, m)},
      {"data_bytes_read_per_get", PerGet(m.data_bytes, m)},
      {"filter_reads_per_get", PerGet(m.filter_reads, m)},
      {"filter_bytes_read_per_get", PerGet(m.filter_bytes, m)},
      {"negatives", m.negatives},
      {"false_positives", m.false_positives},
      {"fpr", AbsentLookups(m) == 0 ? Json() : Json(ObservedFpr(m))},
  };
}

}  // namespace

uint64_t Report::wrong_answers() const {
  uint64_t sum = 0;
  for (const PolicyResult& result : results) {
    for (const Measurement& m : result.runs) sum += m.wrong_answers;
  }
  return sum;
}

void Print(const Report& report) {
  PrintTree(report);
  for (size_t query = 0; query < std::size(kQueries); ++query) {
    PrintQuery(report, query);
  }
  std::printf("\n%llu wrong answers\n", Printable(report.wrong_answers()));
}

nlohmann::ordered_json ToJson(const Options& options, const Report& report) {
  Json runs = Json::array();
  for (const PolicyResult& result : report.results) {
    for (const Measurement& m : result.runs) runs.push_back(RunJson(result, m));
  }
  const Json json = {
      {"benchmark", "mini_kv"},
      {"format_version", 1},
      {"machine", bench::MachineJson()},
      {"options", OptionsJson(options)},
      {"tree", TreeJson(report)},
      {"wrong_answers", report.wrong_answers()},
      {"runs", std::move(runs)},
  };
  // A path may hold any bytes.
  return json;
}

}  // namespace rowbloom::mini_kv_bench
