// SPDX-License-Identifier: Apache-2.0
//
// What the main() of every benchmark does around its run: flags, exit codes,
// and what is said of an error.
//
//   CLI::App app("What is measured.");
//   app.add_option("--rounds", options.rounds);
//   return bench::RunProgram("cache_bench", &app, argc, argv,
//                            [&] { return Run(options); });

#ifndef ROWBLOOM_BENCH_PROGRAM_H_
#define ROWBLOOM_BENCH_PROGRAM_H_

#include <functional>
#include <stdexcept>

namespace CLI {
class App;
}  // namespace CLI

namespace rowbloom::bench {

inline constexpr int kExitFailure = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitInterrupted = 130;

// Thrown by a run that cannot do with its flags.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The exit code of `run`, or of what it throws, which is said on stderr.
int RunProgram(const char* name, CLI::App* app, int argc, char** argv,
               const std::function<int()>& run);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_PROGRAM_H_
