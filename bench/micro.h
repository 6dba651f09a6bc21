// SPDX-License-Identifier: Apache-2.0
//
// Does what main() does in each program of this folder. All of them time
// something by Google Benchmark.
//
//   CLI::App app("What is measured.");
//   return RunMicro("rows_bench", &app, argc, argv, [&] {
//     benchmark::RegisterBenchmark(...);
//   });

#ifndef ROWBLOOM_BENCH_MICRO_H_
#define ROWBLOOM_BENCH_MICRO_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "bench/or_throw.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace rowbloom::bench {

// Reads the flags of `app` and of Google Benchmark, calls add_benchmarks(), and
// runs what was added. The machine stands in the context of the JSON file.
// Returns the exit code: 0 fine, 1 a wrong answer or a failure, 2 usage.
int RunMicro(const char* name, CLI::App* app, int argc, char** argv,
             const std::function<void()>& add_benchmarks);

// Wrong answers make RunMicro() return 1. Any thread may call this.
void CountWrongAnswers(uint64_t count);

// Under callgrind, which instructions.py starts, counts the instructions of a
// second call of `work`, for each of its `count` lookups (or keys, ...): once
// for each name. Elsewhere it does nothing.
void CountInstructions(const std::string& name, size_t count,
                       const std::function<void()>& work);

// The time of each of the `count` lookups (or keys, ...) of an iteration, as a
// counter: in seconds in the JSON file. With several threads it is real time by
// the lookups of all of them, or the processor time of a lookup.
inline benchmark::Counter TimeOfEach(size_t count) {
  return {static_cast<double>(count),
          benchmark::Counter::kIsIterationInvariantRate |
              benchmark::Counter::kAvgThreads | benchmark::Counter::kInvert};
}

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_MICRO_H_
