// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan: what other filters of the same cells would take.

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
  if (entry.contains("plans")) text += Table(entry["plans"]);
  if (entry.contains("error")) text += StatusLine(entry);
  return text;
}

}  // namespace

void AddPlan(CLI::App* app, int* exit_code) {
  struct Arguments {
    std::vector<std::string> paths;
    bool json = false;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app->add_subcommand(
      "plan", "Count the keys of HFiles; show what other filters would take");
  verb->add_option("PATH", arguments->paths, "HFiles, or directories of them")
      ->required();
  verb->add_flag("--json", arguments->json, "Print JSON (rowbloom-plan)");
  verb->callback([arguments, exit_code] {
    Report report;
    report.format = "rowbloom-plan";
    report.ask = [](const FilterFile& file, Json* entry) {
      return file.Plan(entry);
    };
    report.text = Text;
    *exit_code = RunReport(report, arguments->paths, arguments->json);
  });
}

}  // namespace rowbloom::tools
