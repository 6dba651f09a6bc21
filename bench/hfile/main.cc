// SPDX-License-Identifier: Apache-2.0
//
// hfile_bench: how fast an HFile's filters answer, with all chunks in the
// cache, and how fast the file is opened. As the command `bench` of
// tests/hfile/hbase measures HBase's own reader: CPU time of one thread,
// medians after a warm-up. compare_hbase.py runs both.
//
//   hfile_bench FILE QUESTIONS
//
// QUESTIONS is a table as tests/hfile/hbase prints it: kind, row and qualifier
// in hexadecimal. Lines of kind ROW are asked. Exit codes: 0 fine; 1 a failure;
// 2 usage.

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "bench/json_file.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "nlohmann/json.hpp"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/hfile.h"
#include "rowbloom/io.h"

namespace rowbloom::bench {
namespace {

struct Options {
  std::string file;
  std::string questions;
  int rounds = 300;  // Short ones, of which most are not interrupted.
  int lookups = 20000;
  int opens = 500;
  std::string json;  // Empty: none.
};

double ThreadCpuNs() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return 1e9 * static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec);
}

double Median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The rows of the questions of kind ROW.
std::vector<std::string> ReadRows(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const std::string kind = "ROW\t";
  std::vector<std::string> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(kind, 0) != 0) continue;
    const std::string hex =
        line.substr(kind.size(), line.find('\t', kind.size()) - kind.size());
    rows.push_back(hex == "-" ? "" : absl::HexStringToBytes(hex));
  }
  if (rows.empty())
    throw std::runtime_error(path + ": no question of kind ROW");
  return rows;
}

template <typename T>
T OrThrow(absl::StatusOr<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return *std::move(result);
}

template <typename Lookup>
double LookupNs(const Options& options, const std::vector<std::string>& rows,
                const Lookup& lookup) {
  std::vector<double> rounds;
  size_t next = 0;
  volatile bool sink = false;  // The answers are used.
  for (int round = -options.rounds; round < options.rounds; ++round) {
    const double start = ThreadCpuNs();
    for (int i = 0; i < options.lookups; ++i) {
      sink = lookup(rows[next]);
      if (++next == rows.size()) next = 0;
    }
    const double ns = ThreadCpuNs() - start;
    if (round >= 0) rounds.push_back(ns / options.lookups);
  }
  static_cast<void>(sink);
  return Median(rounds);
}

double OpenUs(const Options& options, const HFileReaderOptions& reader) {
  std::vector<double> opens;
  for (int i = -options.opens; i < options.opens; ++i) {
    const double start = ThreadCpuNs();
    const auto source = OrThrow(OpenFileSource(options.file));
    const auto opened = OrThrow(HFileReader::Open(source.get(), reader));
    const double ns = ThreadCpuNs() - start;
    if (i >= 0) opens.push_back(ns / 1e3);
  }
  return Median(opens);
}

int Run(const Options& options) {
  const JsonFile json(options.json);
  const std::vector<std::string> rows = ReadRows(options.questions);
  const auto cache = NewShardedLruCache({256 << 20});
  FilterStats stats;  // HBase counts, too.
  HFileReaderOptions reader_options;
  reader_options.cache = cache.get();
  reader_options.stats = &stats;
  reader_options.prefetch = true;
  const auto source = OrThrow(OpenFileSource(options.file));
  const auto reader = OrThrow(HFileReader::Open(source.get(), reader_options));
  if (!reader->general_filter().is_usable) {
    throw std::runtime_error(options.file + ": " +
                             reader->general_filter().reason);
  }
  const auto maybes =
      std::count_if(rows.begin(), rows.end(), [&](const std::string& row) {
        return reader->MayContain(HFileRead::Get(row));
      });
  const double lookup_ns = LookupNs(options, rows, [&](const std::string& row) {
    return reader->MayContain(HFileRead::Get(row));
  });
  const double probe_ns = LookupNs(options, rows, [&](const std::string& row) {
    return reader->MayContain(row);
  });
  reader_options.prefetch = false;
  const double open_us = OpenUs(options, reader_options);
  std::printf(
      "%zu rows, %td maybes\n"
      "lookup %8.1f ns  (%.0f a second)\n"
      "probe  %8.1f ns\n"
      "open   %8.1f us\n",
      rows.size(), maybes, lookup_ns, 1e9 / lookup_ns, probe_ns, open_us);
  json.Write({{"format_version", 1},
              {"machine", MachineJson()},
              {"questions", rows.size()},
              {"maybes", maybes},
              {"cpu_ns_per_lookup", lookup_ns},
              {"lookups_per_second", 1e9 / lookup_ns},
              {"cpu_ns_per_probe", probe_ns},
              {"cpu_us_per_open", open_us}});
  return 0;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "How fast an HFile's filters answer, with all chunks in the cache, and "
      "how fast the\nfile is opened: CPU time of one thread, medians.");
  app.add_option("FILE", options.file, "The HFile")->required();
  app.add_option("QUESTIONS", options.questions,
                 "Lines of kind (ROW), row in hexadecimal, tabs between")
      ->required();
  app.add_option("--rounds", options.rounds,
                 "That are measured, after as many that are not")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--lookups", options.lookups, "Of a round")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  app.add_option("--opens", options.opens,
                 "That are measured, after as many that are not")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--json", options.json, "Also write the results to this file");
  return RunProgram("hfile_bench", &app, argc, argv,
                    [&] { return Run(options); });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
