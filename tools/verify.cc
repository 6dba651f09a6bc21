// SPDX-License-Identifier: Apache-2.0
//
// rowbloom verify: every checksum and invariant.

#include <memory>
#include <string>
#include <vector>

#include "report.h"
#include "verbs.h"

namespace rowbloom::tools {

void AddVerify(CLI::App* app, int* exit_code) {
  struct Arguments {
    std::vector<std::string> paths;
    bool cells = false;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app->add_subcommand(
      "verify", "Read everything; check every checksum and invariant");
  verb->add_option("PATH", arguments->paths,
                   "Filter blocks, SSTs, HFiles, or directories of them")
      ->required();
  verb->add_flag("--cells", arguments->cells,
                 "Of HFiles: the filters also find the keys of every cell");
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-verify)");
  verb->callback([arguments, exit_code] {
    Report report;
    report.format = "rowbloom-verify";
    report.ask = [arguments](const FilterFile& file, Json*) {
      return file.Verify(arguments->cells);
    };
    report.text = StatusLine;
    *exit_code = RunReport(report, arguments->paths, arguments->json);
  });
}

}  // namespace rowbloom::tools
