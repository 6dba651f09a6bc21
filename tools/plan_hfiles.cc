// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan PATH: what other filters of the cells of HFiles would take.

#include "plan_hfiles.h"

#include <string>
#include <vector>

#include "output.h"
#include "report.h"

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

int PlanHFiles(const std::vector<std::string>& paths, bool as_json) {
  Report report;
  report.format = "rowbloom-plan";
  report.ask = [](const TargetFile&, const FilterFile& file, Json* entry) {
    return file.Plan(entry);
  };
  report.text = Text;
  return RunReport(report, paths, as_json);
}

}  // namespace rowbloom::tools
