// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan --sample: counts the filter keys of each key level of a key
// codec in a file of keys, and what they cost and save.

#ifndef ROWBLOOM_TOOLS_PLAN_LEVELS_H_
#define ROWBLOOM_TOOLS_PLAN_LEVELS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "filter_file.h"

namespace rowbloom::tools {

struct PlanKeyLevelsArguments {
  std::string sample;  // A key on each line.
  bool hex = false;
  std::string key_codec;
  // NAME=SHARE: of all lookups, those that ask for a prefix of the key level.
  std::vector<std::string> ask;
  // NAME=SHARE: of these, those whose prefix is absent. Others have
  // missing_share.
  std::vector<std::string> absent;
  double missing_share = 0;
  std::string filter;
  double bits_per_key = 0;
};

// Adds the options; --sample excludes each of `others`.
CLI::Option* AddKeyLevelsOptions(CLI::App* verb,
                                 const std::vector<CLI::Option*>& others,
                                 PlanKeyLevelsArguments* arguments);

// Fields, and the table "key_levels".
Json PlanKeyLevels(const PlanKeyLevelsArguments& arguments);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_PLAN_LEVELS_H_
