// SPDX-License-Identifier: Apache-2.0
//
// The sorted runs of an LSM tree of a regular shape, for planning.
//
//   TreeShape shape;
//   shape.kind = TreeKind::kLeveled;
//   shape.key_count = 1000000000;
//   auto runs = RunsOf(shape);                  // 4, each 10 times the next
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
  kLeveled,      // Each level one run.
  kTiered,       // Each level runs_per_level runs of one size.
  kLazyLeveled,  // The same, but for the last level: one run.
  kUniversal,    // As kLeveled, where size_ratio is that of a run to the next.
};
// "leveled", "tiered", "lazy_leveled", "universal".
std::string_view TreeKindName(TreeKind kind);
// InvalidArgument names the four.
absl::StatusOr<TreeKind> ParseTreeKind(std::string_view name);

struct TreeShape {
  TreeKind kind = TreeKind::kLeveled;
  uint64_t key_count = 0;       // Of all runs.
  double size_ratio = 10;       // Keys of a level to those of the newer one.
  uint32_t level_count = 4;     // Without level 0.
  uint32_t runs_per_level = 4;  // Of tiered levels.
  // SSTs in level 0, each a run with a quarter of the keys of level 1.
  uint32_t flush_runs = 0;
};

inline constexpr double kMaxSizeRatio = 1e6;
inline constexpr uint64_t kMaxTreeKeys = uint64_t{1} << 60;
inline constexpr uint32_t kMaxTreeRuns = 10000;

// The newest first; rounded to whole keys. InvalidArgument for values that make
// no tree, or one beyond these limits.
absl::StatusOr<std::vector<TreeRun>> RunsOf(const TreeShape& shape);

// The level of each of these runs: 0 is that of flushes.
std::vector<uint32_t> LevelsOfRuns(const TreeShape& shape);

}  // namespace rowbloom

#endif  // ROWBLOOM_TREE_SHAPE_H_
