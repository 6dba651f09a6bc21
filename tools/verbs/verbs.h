// SPDX-License-Identifier: Apache-2.0
//
// The verbs of the tool, one file each. Each declares its arguments and sets
// *exit_code when CLI11 has parsed them; a further verb is one more line here
// and in rowbloom.cc.

#ifndef ROWBLOOM_TOOLS_VERBS_VERBS_H_
#define ROWBLOOM_TOOLS_VERBS_VERBS_H_

#include "CLI/CLI.hpp"

namespace rowbloom::tools {

void AddInspect(CLI::App* app, int* exit_code);
void AddVerify(CLI::App* app, int* exit_code);
void AddLookup(CLI::App* app, int* exit_code);
void AddPlan(CLI::App* app, int* exit_code);
void AddAdvise(CLI::App* app, int* exit_code);
void AddRefresh(CLI::App* app, int* exit_code);
void AddRebuild(CLI::App* app, int* exit_code);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_VERBS_VERBS_H_
