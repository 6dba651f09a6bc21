// SPDX-License-Identifier: Apache-2.0
//
// The commands of memory_bench. Each returns its part of the results.

#ifndef ROWBLOOM_BENCH_MEMORY_MEASURES_H_
#define ROWBLOOM_BENCH_MEMORY_MEASURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/program.h"
#include "bench/temp_directory.h"

namespace rowbloom::bench {

struct MemoryOptions {
  bool quick = false;
  // sst
  std::vector<std::string> filters = {"rocksdb_bloom", "rocksdb_ribbon",
                                      "blocked_bloom", "fast", "compact"};
  std::vector<uint64_t> keys = {1000000, 4000000, 10000000};
};

// For the files of a command.
inline TempDirectory MemoryBenchDirectory() {
  return TempDirectory("memory_bench", "Set TMPDIR to a writable place.");
}

Json MeasureSsts(const MemoryOptions& options);
Json MeasureCaches(const MemoryOptions& options);
Json MeasureReaders(const MemoryOptions& options);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_MEMORY_MEASURES_H_
