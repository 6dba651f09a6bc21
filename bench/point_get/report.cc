// SPDX-License-Identifier: Apache-2.0

#include "report.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <ostream>
#include <string_view>

#include "bench/machine.h"
#include "nlohmann/json.hpp"
#include "policies.h"
#include "rocksdb/version.h"

namespace rowbloom::point_get {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kPolicyWidth = 23;
constexpr int kMixWidth = 7;

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

double WastedPer1000(const Measurement& m) {
  return 1000 * m.wasted_reads() / static_cast<double>(m.gets);
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
  return static_cast<double>(FindRun(*none, query, mix)->reads.data_reads) /
         static_cast<double>(m.reads.data_reads);
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

void PrintRun(const Comparison& comparison, const PolicyResult& result,
              const Run& run, std::ostream& out) {
  const Measurement& m = run.measurement;
  Print(out, "  %-*s %-*s %9.4f", kPolicyWidth, result.policy.c_str(),
        kMixWidth, std::string(MixName(run.mix)).c_str(),
        PerGet(m.reads.data_reads, m));
  const double fewer = TimesFewer(comparison, run.query, run.mix, m);
  if (fewer == 0) {
    Print(out, " %9s", "-");
  } else if (!std::isfinite(fewer)) {
    Print(out, " %9s", "no read");
  } else {
    Print(out, " %8.1fx", fewer);
  }
  Print(out, " %11.1f", WastedPer1000(m));
  if (m.reads.filter_lookups == 0) {
    Print(out, " %8s", "-");
  } else {
    Print(out, " %7.3f%%", 100 * m.false_positive_rate);
  }
  for (size_t level = 1; level < m.reads.false_positives_by_level.size();
       ++level) {
    if (m.reads.filter_lookups == 0) {
      Print(out, " %6s", "-");
    } else {
      Print(out, " %6.1f",
            1000 * PerGet(m.reads.false_positives_by_level[level], m));
    }
  }
  Print(out, " %9.0f %7.1f %7.1f\n", PerGet(m.reads.bytes_read, m), m.p50_us,
        m.p99_us);
}

void PrintQuery(const Comparison& comparison, Query query, std::ostream& out) {
  const size_t level_count =
      comparison.results.front()
          .runs.front()
          .measurement.reads.false_positives_by_level.size();
  Print(out, "\n%s: %s\n", std::string(QueryName(query)).c_str(),
        Question(query));
  Print(out, "  %-*s %-*s %9s %9s %11s %8s", kPolicyWidth, "", kMixWidth, "",
        "data", "fewer", "wasted", "filter");
  Print(out, "  %-*s %9s\n", static_cast<int>(7 * (level_count - 1)) - 2,
        "false pos. per 1000", "bytes");
  Print(out, "  %-*s %-*s %9s %9s %11s %8s", kPolicyWidth, "policy", kMixWidth,
        "mix", "reads/get", "than none", "/1000 gets", "fpr");
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

std::string Title(const Comparison& comparison) {
  char title[128];
  if (comparison.sizing == kEqualBits) {
    std::snprintf(title, sizeof(title),
                  "At equal bits asked per filter key: %g",
                  comparison.bits_per_key);
  } else if (comparison.sizing == kEqualBytes) {
    std::snprintf(title, sizeof(title),
                  "At equal bits per filter key: those of rocksdb_bloom (%g)",
                  comparison.bits_per_key);
  } else {
    std::snprintf(title, sizeof(title),
                  "At equal reads: the false positive rate of rocksdb_bloom "
                  "(%g), %.3f%%",
                  comparison.bits_per_key, 100 * comparison.target_fpr);
  }
  return title;
}

const char* SizingNote(const Comparison& comparison) {
  if (comparison.sizing == kEqualFpr) {
    return "  Each takes the fewest bits that reach it; fast has few rates to "
           "choose from.\n";
  }
  return "  Ribbon is asked for the false positive rate of a Bloom filter of "
         "so "
         "many bits.\n"
         "  ROW holds one key per row, the others one per cell too.\n";
}

Json MachineJson() {
  Json machine = bench::MachineJson();
  machine["rocksdb_version"] = rocksdb::GetRocksVersionAsString();
  return machine;
}

Json OptionsJson(const Options& options) {
  return {
      {"gets", options.get_count},
      {"bits_per_key", options.bits_per_key},
      {"family", options.family},
      {"equal_filter_bytes", options.equal_filter_bytes},
      {"equal_fpr", options.equal_fpr},
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
      {"target_fpr",
       comparison.sizing == kEqualFpr ? Json(comparison.target_fpr) : Json()},
      {"bits_per_key", result.bits_per_key},
      {"filter_bytes", size.bytes},
      {"filter_keys", size.key_count},
      {"bits_per_filter_key", BitsPer(size.key_count, size)},
      {"bits_per_cell", BitsPer(size.cell_count, size)},
      {"gets", m.gets},
      {"found", m.found},
      {"wrong_answers", m.wrong_answers},
      {"data_reads_per_get", PerGet(m.reads.data_reads, m)},
      {"times_fewer_reads_than_none",
       std::isfinite(fewer) && fewer != 0 ? Json(fewer) : Json()},
      {"wasted_reads_per_1000_gets", WastedPer1000(m)},
      {"filter_lookups", m.reads.filter_lookups},
      {"false_positives", m.false_positives},
      {"fpr", m.false_positive_rate},
      {"false_positives_by_level", m.reads.false_positives_by_level},
      {"data_reads_by_level", m.reads.data_reads_by_level},
      {"bytes_read_per_get", PerGet(m.reads.bytes_read, m)},
      {"index_and_filter_reads", m.reads.metadata_reads},
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

void PrintQueries(const Comparison& comparison, std::ostream& out) {
  out << "\n" << Title(comparison) << "\n";
  for (const Query query : kReportedQueries) {
    PrintQuery(comparison, query, out);
  }
}

void PrintSummary(const Comparison& comparison, std::ostream& out) {
  out << "\n=== " << Title(comparison) << " ===\n";
  Print(out, "\n  %-*s %7s %8s %11s   %s\n", kPolicyWidth, "", "bits", "filter",
        "bits per", "wasted reads per 1000 gets, uniform mix");
  Print(out, "  %-*s %7s %8s %11s", kPolicyWidth, "policy", "asked", "MB",
        "filter key");
  for (const Query query : kReportedQueries) {
    Print(out, " %14s", std::string(QueryName(query)).c_str());
  }
  out << "\n";
  for (const PolicyResult& result : comparison.results) {
    const FilterSize& size = result.filter_size;
    Print(out, "  %-*s %7.4g %8.3f %11.2f", kPolicyWidth, result.policy.c_str(),
          result.bits_per_key, static_cast<double>(size.bytes) / 1e6,
          BitsPer(size.key_count, size));
    for (const Query query : kReportedQueries) {
      Print(out, " %14.1f",
            WastedPer1000(*FindRun(result, query, Mix::kUniform)));
    }
    out << "\n";
  }
  out << SizingNote(comparison);
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
      const double reads = PerGet(m->reads.data_reads, *m);
      const double decades = std::log10(std::max(reads, kLeast) / kLeast);
      const std::string bar(
          static_cast<size_t>(std::lround(decades * kCharactersPerDecade)),
          '#');
      const bool is_first = &result == &comparison.results.front();
      Print(out, "%s  %-13s %-*s |%s %.4f\n", is_first ? "\n" : "",
            is_first ? std::string(QueryName(query)).c_str() : "", kPolicyWidth,
            result.policy.c_str(), bar.c_str(), reads);
    }
  }
}

nlohmann::ordered_json ToJson(const Options& options, const Report& report) {
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
  return json;
}

}  // namespace rowbloom::point_get
