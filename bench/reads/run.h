// SPDX-License-Identifier: Apache-2.0
//
// One run of the program: its options and what every command needs.

#ifndef ROWBLOOM_BENCH_READS_RUN_H_
#define ROWBLOOM_BENCH_READS_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/progress.h"
#include "bench/work_directory.h"
#include "counts.h"
#include "policies.h"
#include "report.h"

namespace rowbloom::reads {

// The default of an optional number depends on the command; see Or().
struct Options {
  bool quick = false;
  std::string json;                   // Empty: no file.
  std::string directory;              // Empty: a temporary one.
  std::vector<std::string> policies;  // Empty: all of the command.
  std::optional<uint64_t> gets;

  // rows, mini_kv
  std::string input = "/usr/share/dict/american-english-insane";
  std::optional<uint64_t> rows;  // 0: all.
  // rows
  std::vector<double> bits_per_key = {10};
  bool direct_reads = false;
  // keys, memory, cpu, times
  std::optional<uint64_t> keys;
  // mini_kv
  std::optional<uint64_t> memtable_size_bytes;
  std::optional<uint64_t> file_size_bytes;
  std::optional<uint64_t> level1_size_bytes;
  uint64_t level_ratio = 4;
  uint64_t filter_cache_bytes = 32 << 20;

  // The given number, or that of a quick or a full run.
  uint64_t Or(const std::optional<uint64_t>& given, uint64_t of_quick_run,
              uint64_t of_full_run) const {
    return given.value_or(quick ? of_quick_run : of_full_run);
  }
};

struct Run {
  explicit Run(const Options& given)
      : options(given),
        directory(given.directory, "reads_bench", /*keep=*/false) {}

  std::string NewPath() {
    return directory.path() + "/" + std::to_string(++database_count);
  }

  const Options options;
  bench::Progress progress;
  const bench::WorkDirectory directory;
  int database_count = 0;
  Answers answers;
};

// The command's policies that the options select.
std::vector<std::string> PoliciesOf(Command command, const Options& options);

// Each command prints its tables and returns its part of the JSON results.
Json MeasureRows(Run* run);
Json MeasureKeys(Run* run);    // At equal memory.
Json MeasureMemory(Run* run);  // By memory.
Json MeasureGrow(Run* run);
Json MeasureCpu(Run* run);
Json MeasureTimes(Run* run);
Json MeasureMiniKv(Run* run);

}  // namespace rowbloom::reads

#endif  // ROWBLOOM_BENCH_READS_RUN_H_
