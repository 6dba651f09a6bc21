// SPDX-License-Identifier: Apache-2.0

#include "report.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <string_view>
#include <thread>

#include "nlohmann/json.hpp"
#include "policies.h"
#include "rocksdb/version.h"
#include "rowbloom/version.h"

namespace rowbloom::point_get {
namespace {

using Json = nlohmann::ordered_json;

// printf into an ostream.
[[gnu::format(printf, 2, 3)]] void Print(std::ostream& out, const char* format,
                                         ...) {
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  out << line;
}

double PerGet(uint64_t count, const Measurement& m) {
  return static_cast<double>(count) / static_cast<double>(m.gets);
}

double BitsPer(uint64_t count, const FilterSize& size) {
  return count == 0 ? 0
                    : 8.0 * static_cast<double>(size.bytes) /
                          static_cast<double>(count);
}

const PolicyResult* FindPolicy(const Comparison& comparison,
                               std::string_view policy) {
  for (const PolicyResult& result : comparison.results) {
    if (result.policy == policy) return &result;
  }
  return nullptr;
}

const Measurement* FindRun(const PolicyResult& result, Query query, Mix mix) {
  for (const Run& run : result.runs) {
    if (run.query == query && run.mix == mix) return &run.measurement;
  }
  return nullptr;
}

// How many times fewer data-block reads than without a filter: 0 if that was
// not measured, infinite if there were none at all.
double TimesFewer(const Comparison& comparison, Query query, Mix mix,
                  const Measurement& m) {
  const PolicyResult* none = FindPolicy(comparison, kNone);
  if (none == nullptr) return 0;
  return static_cast<double>(FindRun(*none, query, mix)->data_reads) /
         static_cast<double>(m.data_reads);
}

const char* Question(Query query) {
  switch (query) {
    case Query::kAbsentRow:
      return "Does the row exist? It does not: 0 data blocks are needed.";
    case Query::kAbsentColumn:
      return "Get a column that an existing row lacks: 0 data blocks are "
             "needed.";
    case Query::kPresentCell:
    case Query::kPresentRow:
      return "Get a cell that exists: 1 data block is needed.";
  }
  return "";
}

void PrintSizes(const Comparison& comparison, std::ostream& out) {
  Print(out, "  %-15s %12s %12s %16s %10s\n", "policy", "bits asked",
        "filter MB", "bits/filter key", "bits/cell");
  for (const PolicyResult& result : comparison.results) {
    const FilterSize& size = result.filter_size;
    Print(out, "  %-15s %12.4g %12.3f %16.2f %10.2f\n", result.policy.c_str(),
          result.bits_per_key, static_cast<double>(size.bytes) / 1e6,
          BitsPer(size.key_count, size), BitsPer(size.cell_count, size));
  }
}

void PrintRun(const Comparison& comparison, const PolicyResult& result,
              const Run& run, std::ostream& out) {
  const Measurement& m = run.measurement;
  Print(out, "  %-15s %-8s %9.4f", result.policy.c_str(),
        std::string(MixName(run.mix)).c_str(), PerGet(m.data_reads, m));
  const double fewer = TimesFewer(comparison, run.query, run.mix, m);
  if (fewer == 0) {
    Print(out, " %9s", "-");
  } else if (!std::isfinite(fewer)) {
    Print(out, " %9s", "no read");
  } else {
    Print(out, " %8.1fx", fewer);
  }
  Print(out, " %11.1f", 1000 * m.wasted_reads() / static_cast<double>(m.gets));
  if (m.filter_lookups == 0) {
    Print(out, " %8s", "-");
  } else {
    Print(out, " %7.3f%%", 100 * m.false_positive_rate);
  }
  for (size_t level = 1; level < m.false_positives_by_level.size(); ++level) {
    if (m.filter_lookups == 0) {
      Print(out, " %6s", "-");
    } else {
      Print(out, " %6.1f", 1000 * PerGet(m.false_positives_by_level[level], m));
    }
  }
  Print(out, " %9.0f %7.1f %7.1f\n", PerGet(m.bytes_read, m), m.p50_us,
        m.p99_us);
}

void PrintQuery(const Comparison& comparison, Query query, std::ostream& out) {
  const size_t level_count = comparison.results.front()
                                 .runs.front()
                                 .measurement.false_positives_by_level.size();
  Print(out, "\n%s: %s\n", std::string(QueryName(query)).c_str(),
        Question(query));
  Print(out, "  %-15s %-8s %9s %9s %11s %8s", "", "", "data", "fewer", "wasted",
        "filter");
  Print(out, "  %-*s %9s\n", static_cast<int>(7 * (level_count - 1)) - 2,
        "false pos. per 1000", "bytes");
  Print(out, "  %-15s %-8s %9s %9s %11s %8s", "policy", "mix", "reads/get",
        "than none", "/1000 gets", "fpr");
  for (size_t level = 1; level < level_count; ++level) {
    Print(out, " %6s", ("L" + std::to_string(level)).c_str());
  }
  Print(out, " %9s %7s %7s\n", "read/get", "p50 us", "p99 us");
  for (const Mix mix : kMixes) {
    for (const PolicyResult& result : comparison.results) {
      for (const Run& run : result.runs) {
        if (run.query == query && run.mix == mix) {
          PrintRun(comparison, result, run, out);
        }
      }
    }
  }
}

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) {
      return line.substr(line.find(':') + 2);
    }
  }
  return "unknown";
}

Json MachineJson() {
  utsname os = {};
  uname(&os);
  return {
      {"cpu", CpuModel()},
      {"cores", std::thread::hardware_concurrency()},
      {"memory_bytes", static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                           static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE))},
      {"os", std::string(os.sysname) + " " + os.release + " " + os.machine},
#ifdef __clang__
      {"compiler", "clang " __VERSION__},
#else
      {"compiler", "gcc " __VERSION__},
#endif
      {"build_type", ROWBLOOM_BUILD_TYPE},
      {"rocksdb_version", rocksdb::GetRocksVersionAsString()},
      {"rowbloom_version", ROWBLOOM_VERSION_STRING},
  };
}

Json OptionsJson(const Options& options) {
  return {
      {"gets", options.get_count},
      {"bits_per_key", options.bits_per_key},
      {"family", options.family},
      {"equal_filter_bytes", options.equal_filter_bytes},
      {"levels", options.level_count},
      {"level_ratio", options.level_ratio},
      {"file_size_bytes", options.file_size_bytes},
      {"block_size_bytes", options.block_size_bytes},
      {"value_size_bytes", options.value_size_bytes},
      {"direct_reads", options.direct_reads},
      {"data_cache", "cold"},
      {"compression", "none"},
  };
}

Json TreeJson(const Report& report) {
  Json levels = Json::array();
  for (const LevelShape& level : report.levels) {
    levels.push_back({{"level", level.level},
                      {"files", level.file_count},
                      {"cells", level.cell_count},
                      {"data_blocks", level.data_block_count},
                      {"data_bytes", level.data_bytes}});
  }
  return {{"input", report.input},
          {"rows", report.row_count},
          {"cells", report.cell_count},
          {"qualifiers", report.qualifier_count},
          {"levels", std::move(levels)}};
}

Json RunJson(const Comparison& comparison, const PolicyResult& result,
             const Run& run) {
  const Measurement& m = run.measurement;
  const FilterSize& size = result.filter_size;
  const double fewer = TimesFewer(comparison, run.query, run.mix, m);
  return {
      {"policy", result.policy},
      {"query", QueryName(run.query)},
      {"mix", MixName(run.mix)},
      {"sizing", comparison.sizing},
      {"compared_at_bits_per_key", comparison.bits_per_key},
      {"bits_per_key", result.bits_per_key},
      {"filter_bytes", size.bytes},
      {"filter_keys", size.key_count},
      {"bits_per_filter_key", BitsPer(size.key_count, size)},
      {"bits_per_cell", BitsPer(size.cell_count, size)},
      {"gets", m.gets},
      {"found", m.found},
      {"wrong_answers", m.wrong_answers},
      {"data_reads_per_get", PerGet(m.data_reads, m)},
      {"times_fewer_reads_than_none",
       std::isfinite(fewer) && fewer != 0 ? Json(fewer) : Json()},
      {"wasted_reads_per_1000_gets",
       1000 * m.wasted_reads() / static_cast<double>(m.gets)},
      {"filter_lookups", m.filter_lookups},
      {"false_positives", m.false_positives},
      {"fpr", m.false_positive_rate},
      {"false_positives_by_level", m.false_positives_by_level},
      {"data_reads_by_level", m.data_reads_by_level},
      {"bytes_read_per_get", PerGet(m.bytes_read, m)},
      {"index_and_filter_reads", m.metadata_reads},
      {"p50_us", m.p50_us},
      {"p99_us", m.p99_us},
  };
}

}  // namespace

void PrintTree(const Report& report, std::ostream& out) {
  out << report.input << "\n";
  Print(out, "%zu rows, %zu cells, %zu distinct columns\n\n",
        static_cast<size_t>(report.row_count),
        static_cast<size_t>(report.cell_count),
        static_cast<size_t>(report.qualifier_count));
  Print(out, "The tree, the same for every policy (L0 is empty):\n");
  Print(out, "  %-6s %6s %10s %12s %10s\n", "level", "files", "cells",
        "data blocks", "data MB");
  for (const LevelShape& level : report.levels) {
    Print(out, "  L%-5d %6zu %10zu %12zu %10.2f\n", level.level,
          static_cast<size_t>(level.file_count),
          static_cast<size_t>(level.cell_count),
          static_cast<size_t>(level.data_block_count),
          static_cast<double>(level.data_bytes) / 1e6);
  }
}

void PrintTables(const Comparison& comparison, std::ostream& out) {
  const std::string title = comparison.sizing == kEqualBits
                                ? "At equal bits per filter key"
                                : "At the filter bytes of rocksdb_bloom";
  Print(out, "\n=== %s (%g) ===\n\n", title.c_str(), comparison.bits_per_key);
  PrintSizes(comparison, out);
  out << (comparison.sizing == kEqualBits
              ? "  Ribbon is asked for the false positive rate of a Bloom "
                "filter of so many bits;\n"
                "  it needs fewer. ROW holds one key per row, the others one "
                "per cell too.\n"
              : "  No policy is asked for more bits per key than it accepts: "
                "ROW may stay smaller.\n");
  for (const Query query : kReportedQueries) {
    PrintQuery(comparison, query, out);
  }
}

void PrintChart(const Comparison& comparison, std::ostream& out) {
  constexpr double kLeast = 0.001;  // Where bars begin.
  constexpr double kCharactersPerDecade = 12;
  Print(out,
        "\nData-block reads per get, uniform mix, %g bits per filter key "
        "(log scale; shorter is better)\n",
        comparison.bits_per_key);
  for (const Query query : kReportedQueries) {
    for (const PolicyResult& result : comparison.results) {
      const Measurement* m = FindRun(result, query, Mix::kUniform);
      const double reads = PerGet(m->data_reads, *m);
      const double decades = std::log10(std::max(reads, kLeast) / kLeast);
      const std::string bar(
          static_cast<size_t>(std::lround(decades * kCharactersPerDecade)),
          '#');
      const bool is_first = &result == &comparison.results.front();
      Print(out, "%s  %-13s %-15s |%s %.4f\n", is_first ? "\n" : "",
            is_first ? std::string(QueryName(query)).c_str() : "",
            result.policy.c_str(), bar.c_str(), reads);
    }
  }
}

std::string ToJson(const Options& options, const Report& report) {
  Json runs = Json::array();
  for (const Comparison& comparison : report.comparisons) {
    for (const PolicyResult& result : comparison.results) {
      for (const Run& run : result.runs) {
        runs.push_back(RunJson(comparison, result, run));
      }
    }
  }
  const Json json = {
      {"benchmark", "point_get"},
      {"format_version", 1},
      {"machine", MachineJson()},
      {"options", OptionsJson(options)},
      {"tree", TreeJson(report)},
      {"answers_checked", report.answers_checked},
      {"wrong_answers", report.wrong_answers},
      {"runs", std::move(runs)},
  };
  // Rows of an input may hold any bytes; paths too.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rowbloom::point_get
