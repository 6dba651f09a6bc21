// SPDX-License-Identifier: Apache-2.0
//
// The command line tool: inspects filter blocks, SSTs and HFiles, gives HFiles
// and the SSTs of a RocksDB database other filters, plans filters by numbers,
// and advises on those of a database, of HFiles and of a sample of keys. See
// rowbloom.1.

#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "rowbloom/version.h"
#include "tools/formats/paths.h"
#include "tools/platform/platform.h"
#include "tools/text/arguments.h"
#include "tools/text/output.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace {

namespace tools = rowbloom::tools;

int Run(int argc, char** argv) {
  tools::platform::PrepareStreams();
  CLI::App app("Looks into filters, and finds those that a store needs.",
               "rowbloom");
  app.set_version_flag("--version", "rowbloom " ROWBLOOM_VERSION_STRING);
  app.require_subcommand(1);
  const auto formatter = std::make_shared<tools::HelpFormatter>();
  formatter->column_width(38);
  app.formatter(formatter);
  app.footer(
      "Exit codes: 0 fine, 1 damaged, 2 wrong usage or a file that cannot be "
      "read,\n3 of another format or a newer one, or encrypted where cells are "
      "to be read,\n4 older than what is supported.");
  int exit_code = tools::kExitOk;
  tools::AddInspect(&app, &exit_code);
  tools::AddVerify(&app, &exit_code);
  tools::AddLookup(&app, &exit_code);
  tools::AddPlan(&app, &exit_code);
  tools::AddAdvise(&app, &exit_code);
  tools::AddRefresh(&app, &exit_code);
  tools::AddRebuild(&app, &exit_code);
  app.failure_message([](const CLI::App* parsed, const CLI::Error& error) {
    // Arguments are quoted in it; its lines are CLI11's.
    std::vector<std::string> lines = absl::StrSplit(
        tools::WithoutPasswords(CLI::FailureMessage::simple(parsed, error)),
        '\n');
    for (std::string& line : lines) line = tools::EscapeControls(line);
    return absl::StrJoin(lines, "\n");
  });
  // A variable of the shell that is not set is no value.
  for (CLI::App* verb : app.get_subcommands(nullptr)) {
    for (CLI::Option* option : verb->get_options()) {
      if (option->get_positional() || option->get_type_size() == 0) continue;
      option->check([](const std::string& value) {
        return value.empty() ? std::string("has an empty value") : "";
      });
    }
  }

  try {
    // For --option= CLI11 would take the next argument.
    for (int i = 1; i < argc && argv[i] != std::string_view("--"); ++i) {
      const std::string_view argument = argv[i];
      if (argument.substr(0, 2) == "--" &&
          argument.find('=') == argument.size() - 1) {
        throw CLI::ValidationError(
            std::string(argument.substr(0, argument.size() - 1)),
            "has an empty value");
      }
    }
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 names no unknown arguments if one is in the place of a verb.
    const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
    const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
    if (!extras.empty() && (code == CLI::ExitCodes::ExtrasError ||
                            code == CLI::ExitCodes::RequiredError)) {
      app.exit(CLI::ParseError(
          absl::StrCat(extras.size() > 1
                           ? "The following arguments were not expected: "
                           : "The following argument was not expected: ",
                       absl::StrJoin(extras, " ")),
          CLI::ExitCodes::ExtrasError));
      return tools::kExitUsage;
    }
    // CLI11 has codes of its own for usage errors; 0 is --help.
    return app.exit(error) == 0 ? tools::kExitOk : tools::kExitUsage;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::exception& error) {  // In practice out of memory.
    std::fprintf(stderr, "rowbloom: %s\n", error.what());
    return tools::kExitUsage;
  }
}
