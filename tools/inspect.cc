// SPDX-License-Identifier: Apache-2.0
//
// rowbloom inspect: what filters say about themselves.

#include <memory>
#include <string>
#include <vector>

#include "output.h"
#include "report.h"
#include "verbs.h"

namespace rowbloom::tools {
namespace {

std::string Text(const Json& entry) {
  Json fields = entry;
  fields.erase("path");
  fields.erase("error");  // Below, in full.
  std::string text = entry["path"].get<std::string>() + "\n";
  text += FieldLines(fields);
  if (entry.contains("chunks")) text += Table(entry["chunks"]);
  if (entry.contains("error")) text += StatusLine(entry);
  return text;
}

}  // namespace

void AddInspect(CLI::App* app, int* exit_code) {
  struct Arguments {
    std::vector<std::string> paths;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app->add_subcommand(
      "inspect", "Show properties, chunks and expected false positive rates");
  verb->add_option("PATH", arguments->paths,
                   "Filter blocks, SSTs, HFiles, or directories of them")
      ->required();
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-inspect)");
  verb->callback([arguments, exit_code] {
    Report report;
    report.format = "rowbloom-inspect";
    report.ask = [](const TargetFile&, const FilterFile& file, Json* entry) {
      return file.Inspect(entry);
    };
    report.text = Text;
    *exit_code = RunReport(report, arguments->paths, arguments->json);
  });
}

}  // namespace rowbloom::tools
