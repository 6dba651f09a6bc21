// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan --sample: counts the filter keys of each level of a schema in a
// file of keys, and what they cost and save.

#ifndef ROWBLOOM_TOOLS_VERBS_PLAN_LEVELS_H_
#define ROWBLOOM_TOOLS_VERBS_PLAN_LEVELS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/text/output.h"

namespace rowbloom::tools {

struct PlanLevelsArguments {
  std::string sample;  // A key on each line.
  bool hex = false;
  std::string key_codec;
  // NAME=SHARE: of all lookups, those that ask for a prefix of the level.
  std::vector<std::string> ask;
  // NAME=SHARE: of these, those whose prefix is absent. Others have
  // missing_share.
  std::vector<std::string> absent;
  double missing_share = 0;
  std::string filter;
  double bits_per_key = 0;
};

// Adds the options; --sample excludes each of `others`.
CLI::Option* AddLevelsOptions(CLI::App* verb,
                              const std::vector<CLI::Option*>& others,
                              PlanLevelsArguments* arguments);

// Fields, and the table "levels".
Json PlanLevels(const PlanLevelsArguments& arguments);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_VERBS_PLAN_LEVELS_H_
