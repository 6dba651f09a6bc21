// SPDX-License-Identifier: Apache-2.0
//
// One run of the program: its options and the checked answers.

#ifndef ROWBLOOM_BENCH_ROCKSDB_RUN_H_
#define ROWBLOOM_BENCH_ROCKSDB_RUN_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/program.h"
#include "bench/progress.h"
#include "bench/temp_directory.h"

namespace rowbloom::bench {

// Filters have as many as RocksDB's Bloom filters, unless a command varies it.
inline constexpr double kBitsPerKey = 10;

// The number by a format of printf().
std::string Number(double value, const char* format);

// Calls measure(i) for each of `count` contestants in turn in every round. It
// returns numbers by their names. Returns, for each contestant, the median and
// the quartiles of each number, NAME and NAME_quartiles, and, if there is a
// `base`, those of its ratio to the same number of contestant `base` in the
// same round, NAME_ratio.
std::vector<Json> CompareInRounds(uint64_t rounds, size_t count,
                                  std::optional<size_t> base,
                                  const std::function<Json(size_t i)>& measure);

// The answers that were compared with what was loaded.
class Answers {
 public:
  // Reports the first few wrong answers on stderr.
  void Add(bool is_right, std::string_view query, std::string_view key);

  void AddMany(uint64_t checked, uint64_t wrong, std::string_view query);

  uint64_t checked() const { return checked_; }
  uint64_t wrong() const { return wrong_; }

 private:
  uint64_t checked_ = 0;
  uint64_t wrong_ = 0;
};

class Latencies {
 public:
  using Clock = std::chrono::steady_clock;

  void Add(Clock::time_point start, Clock::time_point end);
  void Add(const Latencies& other);
  double QuantileMicroseconds(double quantile);  // Reorders them.

 private:
  std::vector<uint32_t> nanoseconds_;
};

// The default of an optional number depends on the command; see Or().
struct Options {
  bool quick = false;
  std::string directory;              // Empty: a temporary one.
  std::vector<std::string> policies;  // Empty: all of the command.
  std::optional<uint64_t> gets;

  // rows, levels, kvrocks, scans, mini_kv
  std::string input = "/usr/share/dict/american-english-insane";
  std::optional<uint64_t> rows;  // 0: all.
  // keys, memory, cpu, time, phases, places
  std::optional<uint64_t> keys;
  // cpu
  std::vector<size_t> entry_bytes = {16, 116, 416};
  // cpu, time
  std::optional<uint64_t> rounds;
  // phases
  uint64_t seed = 1;
  // time, phases, places
  std::vector<std::string> workloads;  // Empty: all.
  std::vector<std::string> caches = {"lru"};
  std::vector<double> cache_shares = {0.1, 0.02};
  std::vector<int> threads = {2};
  std::optional<double> seconds;
  std::string key_form = "binary";
  // places
  std::vector<std::string> places;  // Empty: all.
  uint32_t levels = 4;

  // The given number, or that of a quick or a full run.
  uint64_t Or(const std::optional<uint64_t>& given, uint64_t of_quick_run,
              uint64_t of_full_run) const {
    return given.value_or(quick ? of_quick_run : of_full_run);
  }
};

struct Run {
  // Makes the directory of the databases: the one that the user named, which
  // stays, or a temporary one, which is removed at the end.
  explicit Run(const Options& given);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  std::string NewPath() {
    return directory + "/" + std::to_string(++database_count);
  }

  const Options options;
  Progress progress;
  std::optional<TempDirectory> temporary;
  std::string directory;
  int database_count = 0;
  Answers answers;
};

// Each command returns its part of the JSON results.
Json MeasureRows(Run* run);
Json MeasureKeys(Run* run);    // At equal memory.
Json MeasureMemory(Run* run);  // By memory.
Json MeasureGrow(Run* run);
Json MeasurePhases(Run* run);
// The phases that MeasurePhases() knows.
std::vector<std::string> PhaseNames();
Json MeasurePlaces(Run* run);
// The workloads and places that MeasurePlaces() knows.
std::vector<std::string> PlaceWorkloadNames();
std::vector<std::string> PlaceNames();
Json MeasureLevels(Run* run);
Json MeasureCpu(Run* run);
Json MeasureKvrocks(Run* run);
Json MeasureScans(Run* run);
Json MeasureTime(Run* run);
// The workloads that MeasureTime() knows.
std::vector<std::string> WorkloadNames();
Json MeasureMiniKv(Run* run);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_ROCKSDB_RUN_H_
