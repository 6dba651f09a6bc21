// SPDX-License-Identifier: Apache-2.0
//
// rowbloom inspect: prints the properties that filters store.

#include <memory>
#include <string>
#include <vector>

#include "report.h"
#include "verbs.h"

namespace rowbloom::tools {
void AddInspect(CLI::App* app, int* exit_code) {
  struct InspectArguments {
    std::vector<std::string> paths;
    bool json = false;
  };
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* verb = app->add_subcommand(
      "inspect", "Show properties, chunks and expected false positive rates");
  verb->add_option("PATH", arguments->paths,
                   "Filter blocks, SSTs, HFiles, saved mem filters, "
                   "directories of them, or URLs of filters in Redis")
      ->required();
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-inspect)");
  verb->callback([arguments, exit_code] {
    Report report;
    report.format = "rowbloom-inspect";
    report.ask = [](const TargetFile&, const FilterFile& file, Json* entry) {
      return file.Inspect(entry);
    };
    report.text = [](const Json& entry) {
      return FieldsAndTable(entry, "chunks");
    };
    *exit_code = RunReport(report, arguments->paths, arguments->json);
  });
}

}  // namespace rowbloom::tools
