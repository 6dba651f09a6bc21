// SPDX-License-Identifier: Apache-2.0
//
// The sorted runs of an LSM tree of a regular shape, for planning.
//
//   TreeShape shape;
//   shape.kind = TreeKind::kLeveled;
//   shape.key_count = 1000000000;
//   auto runs = RunsOf(shape);  // 4, the newest first, each 10 times larger.
//   auto plan = PlanFilterBudget(cost, *runs, options);
//
// Values and arithmetic: any thread.

#ifndef ROWBLOOM_TREE_SHAPE_H_
#define ROWBLOOM_TREE_SHAPE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "rowbloom/export.h"
#include "rowbloom/filter_budget.h"

namespace ROWBLOOM_EXPORT rowbloom {

enum class TreeKind : uint8_t {
  kLeveled,      // Each level is one run.
  kTiered,       // Each level has runs_per_level runs of one size.
  kLazyLeveled,  // kTiered, but the last level is one run.
  kUniversal,    // kLeveled; size_ratio is that of one run to the next.
};
// "leveled", "tiered", "lazy_leveled", "universal".
std::string_view TreeKindName(TreeKind kind);
// An InvalidArgument lists the four names.
absl::StatusOr<TreeKind> ParseTreeKind(std::string_view name);

struct TreeShape {
  TreeKind kind = TreeKind::kLeveled;
  uint64_t key_count = 0;       // The sum of all runs.
  double size_ratio = 10;       // Keys of a level / keys of the newer level.
  uint32_t level_count = 4;     // Without level 0.
  uint32_t runs_per_level = 4;  // In tiered levels.
  // SSTs in level 0, each a run with a quarter of the keys of level 1.
  uint32_t flush_runs = 0;
};

inline constexpr uint64_t kMaxTreeKeys = uint64_t{1} << 60;

// The runs, the newest first, rounded to whole keys. InvalidArgument for values
// that make no tree, or a tree beyond these limits.
absl::StatusOr<std::vector<TreeRun>> RunsOf(const TreeShape& shape);

// The level of each of these runs; flushes are in level 0.
std::vector<uint32_t> LevelsOfRuns(const TreeShape& shape);

}  // namespace rowbloom

#endif  // ROWBLOOM_TREE_SHAPE_H_
