// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan PATH: the size of other filters over the cells of HFiles.

#include "plan_hfiles.h"

#include <string>
#include <vector>

#include "report.h"

namespace rowbloom::tools {
int PlanHFiles(const std::vector<std::string>& paths, bool as_json) {
  Report report;
  report.format = "rowbloom-plan";
  report.ask = [](const TargetFile&, const FilterFile& file, Json* entry) {
    return file.Plan(entry);
  };
  report.text = [](const Json& entry) {
    return FieldsAndTable(entry, "plans");
  };
  return RunReport(report, paths, as_json);
}

}  // namespace rowbloom::tools
