// SPDX-License-Identifier: Apache-2.0

#include "bench/program.h"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "bench/progress.h"

namespace rowbloom::bench {

namespace {

std::string command_line;

void SetCommandLine(const char* name, int argc, char** argv) {
  command_line = name;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      ++i;
    } else if (argument.substr(0, 15) != "--benchmark_out") {
      command_line.append(" ").append(argument);
    }
  }
}

}  // namespace

const std::string& CommandLine() { return command_line; }

int RunProgram(const char* name, CLI::App* app, int argc, char** argv,
               const std::function<int()>& run) {
  SetCommandLine(name, argc, argv);
  const auto say = [name](const char* what) {
    std::fprintf(stderr, "\n%s: %s\n", name, what);
  };
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app->exit(error) == 0 ? 0 : kExitUsage;
  }
  try {
    return run();
  } catch (const Interrupted&) {
    say("interrupted");
    return kExitInterrupted;
  } catch (const UsageError& error) {
    say(error.what());
    return kExitUsage;
  } catch (const std::bad_alloc&) {
    say("out of memory; ask for less");
    return kExitFailure;
  } catch (const std::exception& error) {
    say(error.what());
    return kExitFailure;
  }
}

}  // namespace rowbloom::bench
