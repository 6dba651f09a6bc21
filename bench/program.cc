// SPDX-License-Identifier: Apache-2.0

#include "bench/program.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <string_view>

#include "bench/machine.h"
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

void WriteText(const std::string& path, std::string_view text,
               std::ios::openmode mode) {
  std::ofstream file(path, mode);
  file << text << std::flush;
  if (!file) {
    throw std::runtime_error("cannot write " + path + ": " +
                             std::strerror(errno));
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

int RunToJson(const char* name, CLI::App* app, int argc, char** argv,
              const std::function<Json()>& measure) {
  std::string path = "/dev/stdout";
  std::vector<CLI::App*> commands = app->get_subcommands({});
  commands.push_back(app);
  for (CLI::App* command : commands) {
    command->add_option("--json", path, "Write the results to this file");
  }
  return RunProgram(name, app, argc, argv, [&] {
    WriteText(path, "", std::ios::app);  // Its content stays until the end.
    Json results = {{"format_version", 1}, {"machine", MachineJson()}};
    results.update(measure(), /*merge_objects=*/true);
    // Paths and names need not be UTF-8.
    constexpr auto kReplace = Json::error_handler_t::replace;
    WriteText(path, results.dump(1, ' ', false, kReplace) + "\n",
              std::ios::trunc);
    return results.value("wrong_answers", 0) == 0 ? 0 : kExitFailure;
  });
}

}  // namespace rowbloom::bench
