// SPDX-License-Identifier: Apache-2.0
//
// A program that plans the filters of a tree for its block cache. Exit code 0
// if the plan has some bits.

#include "rowbloom/filter_cost.h"
#include "rowbloom/get_cost.h"
#include "rowbloom/tree_shape.h"

int main() {
  rowbloom::TreeShape shape;
  shape.key_count = 1000000;
  const auto runs = rowbloom::RunsOf(shape);
  if (!runs.ok()) return 1;
  rowbloom::TotalMemoryOptions options;
  options.get.cache_bytes = 10000000;
  const auto plan = rowbloom::PlanTotalMemory(
      rowbloom::FilterCost::OfRocksDbBloom(), *runs, options);
  return plan.ok() && plan->filters.bits_per_key > 0 ? 0 : 1;
}
