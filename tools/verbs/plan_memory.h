// SPDX-License-Identifier: Apache-2.0
//
// rowbloom plan --total_memory_bytes: the bits per key that a block cache
// wants, and the reads and microseconds of a get beside those of other filters.

#ifndef ROWBLOOM_TOOLS_VERBS_PLAN_MEMORY_H_
#define ROWBLOOM_TOOLS_VERBS_PLAN_MEMORY_H_

#include <string>

#include "CLI/CLI.hpp"
#include "rowbloom/get_cost.h"
#include "tools/verbs/plan_tree.h"

namespace rowbloom::tools {

struct PlanMemoryArguments {
  std::string filter;
  TotalMemoryOptions options;
  // The bits per key of the filters to compare with.
  double compared_bits = 10;
};

// Adds the options of the cache, the blocks and the device; each needs
// `total_memory`.
void AddMemoryOptions(CLI::App* verb, CLI::Option* total_memory,
                      GetCostOptions* options);

// Fields, and the tables "runs", "plans" and "sweep".
Json PlanMemory(const PlanTree& tree, const PlanMemoryArguments& arguments);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_VERBS_PLAN_MEMORY_H_
