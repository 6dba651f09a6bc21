// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan PATH: the size of other filters over the cells of HFiles.

#ifndef ROWBLOOM_TOOLS_PLAN_HFILES_H_
#define ROWBLOOM_TOOLS_PLAN_HFILES_H_

#include <string>
#include <vector>

namespace rowbloom::tools {

// Returns the exit code.
int PlanHFiles(const std::vector<std::string>& paths, bool as_json);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_PLAN_HFILES_H_
