// SPDX-License-Identifier: Apache-2.0
//
// Measures how fast an HFile's filters answer, with all chunks in the cache,
// and how fast the file is opened, as the command `bench` of
// tests/hosts/hfile/hbase measures HBase's own reader.
// bench/hfile/compare_hbase.py runs both.
//
//   hfile_bench FILE QUESTIONS
//
// QUESTIONS is a table as tests/hosts/hfile/hbase prints it: kind, row and
// qualifier in hexadecimal. Lines of kind ROW are asked.

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "bench/micro.h"
#include "rowbloom/filter_cache.h"
#include "rowbloom/filter_stats.h"
#include "rowbloom/hfile.h"
#include "rowbloom/io.h"

namespace rowbloom::bench {
namespace {

constexpr size_t kLookups = 20000;  // In an iteration.

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
  if (rows.empty()) {
    throw std::runtime_error(path + ": no question of kind ROW");
  }
  return rows;
}

class HFileBench {
 public:
  HFileBench(const std::string& path, const std::string& questions)
      : path_(path), rows_(ReadRows(questions)) {
    options_.cache = cache_.get();
    options_.stats = &stats_;  // HBase counts, too.
    options_.prefetch = true;
    reader_ = OrThrow(HFileReader::Open(source_.get(), options_));
    options_.prefetch = false;
    if (!reader_->general_filter().is_usable) {
      throw std::runtime_error(path + ": " + reader_->general_filter().reason);
    }
  }

  // The whole decision whether a Get has to read the file.
  void TimeLookups(benchmark::State& state) const {
    const auto lookup = [this](const std::string& row) {
      return reader_->MayContain(HFileRead::Get(row));
    };
    TimeRows(state, lookup);
    state.counters["questions"] = static_cast<double>(rows_.size());
    state.counters["maybes"] =
        static_cast<double>(std::count_if(rows_.begin(), rows_.end(), lookup));
  }
  // The filter alone.
  void TimeProbes(benchmark::State& state) const {
    TimeRows(state, [this](const std::string& row) {
      return reader_->MayContain(row);
    });
  }
  void TimeOpens(benchmark::State& state) const {
    for (auto _ : state) {
      const auto source = OrThrow(OpenFileSource(path_));
      const auto reader = OrThrow(HFileReader::Open(source.get(), options_));
      benchmark::DoNotOptimize(reader.get());
    }
    state.counters["time_per_open"] = TimeOfEach(1);
  }

 private:
  template <typename Lookup>
  void TimeRows(benchmark::State& state, const Lookup& lookup) const {
    size_t next = 0;
    for (auto _ : state) {
      for (size_t i = 0; i < kLookups; ++i) {
        benchmark::DoNotOptimize(lookup(rows_[next]));
        if (++next == rows_.size()) next = 0;
      }
    }
    state.counters["time_per_lookup"] = TimeOfEach(kLookups);
  }

  const std::string path_;
  const std::vector<std::string> rows_;
  const std::unique_ptr<FilterCache> cache_ = NewShardedLruCache({256 << 20});
  FilterStats stats_;
  HFileReaderOptions options_;
  const std::unique_ptr<RandomAccessSource> source_ =
      OrThrow(OpenFileSource(path_));
  std::unique_ptr<HFileReader> reader_;
};

int Main(int argc, char** argv) {
  std::string file;
  std::string questions;
  std::unique_ptr<HFileBench> bench;
  CLI::App app(
      "How fast an HFile's filters answer, with all chunks in the cache, and "
      "how fast the\nfile is opened.");
  app.add_option("FILE", file, "The HFile")->required();
  app.add_option("QUESTIONS", questions,
                 "Lines of kind (ROW), row in hexadecimal, tabs between")
      ->required();
  return RunMicro("hfile_bench", &app, argc, argv, [&] {
    bench = std::make_unique<HFileBench>(file, questions);
    const auto add = [&](const char* name,
                         void (HFileBench::*run)(benchmark::State&) const) {
      benchmark::RegisterBenchmark(
          name, [&, run](benchmark::State& state) { (*bench.*run)(state); });
    };
    add("lookup", &HFileBench::TimeLookups);
    add("probe", &HFileBench::TimeProbes);
    add("open", &HFileBench::TimeOpens);
  });
}

}  // namespace
}  // namespace rowbloom::bench

int main(int argc, char** argv) { return rowbloom::bench::Main(argc, argv); }
