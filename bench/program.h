// SPDX-License-Identifier: Apache-2.0
//
// The frame of every benchmark's main(): flags, exit codes and messages of
// errors.
//
//   CLI::App app("What is measured.");
//   app.add_option("--rounds", options.rounds);
//   return bench::RunProgram("cache_bench", &app, argc, argv,
//                            [&] { return Run(options); });

#ifndef ROWBLOOM_BENCH_PROGRAM_H_
#define ROWBLOOM_BENCH_PROGRAM_H_

#include <functional>
#include <stdexcept>
#include <string>

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

// Returns the exit code of `run`, or of the exception that it throws, whose
// message is printed on stderr.
int RunProgram(const char* name, CLI::App* app, int argc, char** argv,
               const std::function<int()>& run);

// The program's name and flags, without those that name an output file.
const std::string& CommandLine();

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_PROGRAM_H_
