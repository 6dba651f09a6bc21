// SPDX-License-Identifier: Apache-2.0
//
// The frame of every benchmark's main(): flags, exit codes, messages of errors
// and the file of results.
//
//   CLI::App app("What is measured.");
//   app.add_option("--rounds", options.rounds);
//   return bench::RunToJson("cache_bench", &app, argc, argv,
//                           [&] { return Measure(options); });

#ifndef ROWBLOOM_BENCH_PROGRAM_H_
#define ROWBLOOM_BENCH_PROGRAM_H_

#include <functional>
#include <stdexcept>
#include <string>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "nlohmann/json.hpp"

namespace rowbloom::bench {

using Json = nlohmann::ordered_json;

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

// As RunProgram(), for a program whose results are JSON. Gives the app and its
// subcommands a flag --json, whose file is opened first, so that a mistyped
// path does not cost a whole run, and adds the machine to the results. Exit
// code 1 if the results have `wrong_answers`.
int RunToJson(const char* name, CLI::App* app, int argc, char** argv,
              const std::function<Json()>& measure);

// The program's name and flags, without those that name an output file.
const std::string& CommandLine();

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_PROGRAM_H_
