// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/tree_shape.h"

#include <cmath>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {

constexpr double kFlushesOfLevel1 = 4;

uint64_t RunsInLevel(const TreeShape& shape, uint32_t level) {
  const bool is_tiered =
      shape.kind == TreeKind::kTiered ||
      (shape.kind == TreeKind::kLazyLeveled && level < shape.level_count);
  return is_tiered ? shape.runs_per_level : 1;
}

}  // namespace

std::string_view TreeKindName(TreeKind kind) {
  switch (kind) {
    case TreeKind::kLeveled:
      return "leveled";
    case TreeKind::kTiered:
      return "tiered";
    case TreeKind::kLazyLeveled:
      return "lazy_leveled";
    case TreeKind::kUniversal:
      return "universal";
  }
  return "unknown";
}

absl::StatusOr<TreeKind> ParseTreeKind(std::string_view name) {
  for (const TreeKind kind : {TreeKind::kLeveled, TreeKind::kTiered,
                              TreeKind::kLazyLeveled, TreeKind::kUniversal}) {
    if (TreeKindName(kind) == name) return kind;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("tree \"", util::AbslView(name),
                   "\" is not leveled, tiered, lazy_leveled or universal"));
}

absl::StatusOr<std::vector<TreeRun>> RunsOf(const TreeShape& shape) {
  // Written so that NaN fails, too.
  if (!(shape.size_ratio > 1 && shape.size_ratio <= kMaxSizeRatio)) {
    return absl::InvalidArgumentError(
        absl::StrCat("size_ratio ", shape.size_ratio,
                     " is not above 1, at most ", kMaxSizeRatio));
  }
  if (shape.key_count > kMaxTreeKeys) {
    return absl::InvalidArgumentError(absl::StrCat(
        "key_count ", shape.key_count, " is above ", kMaxTreeKeys));
  }
  const uint64_t run_count =
      uint64_t{shape.flush_runs} +
      uint64_t{shape.level_count} * uint64_t{shape.runs_per_level};
  if (shape.level_count == 0 || shape.runs_per_level == 0 ||
      run_count > kMaxTreeRuns) {
    return absl::InvalidArgumentError(
        absl::StrCat("level_count ", shape.level_count, ", runs_per_level ",
                     shape.runs_per_level, " and flush_runs ", shape.flush_runs,
                     ": must be at least one level of one run, and at most ",
                     kMaxTreeRuns, " runs"));
  }
  std::vector<double> shares(
      shape.flush_runs, std::pow(shape.size_ratio, -(shape.level_count - 1.0)) /
                            kFlushesOfLevel1);
  for (uint32_t level = 1; level <= shape.level_count; ++level) {
    const uint64_t count = RunsInLevel(shape, level);
    const double share = std::pow(
        shape.size_ratio, static_cast<double>(level) - shape.level_count);
    shares.insert(shares.end(), count, share / static_cast<double>(count));
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<TreeRun> runs(shares.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i].key_count = static_cast<uint64_t>(
        std::llround(static_cast<double>(shape.key_count) * (shares[i] / sum)));
  }
  return runs;
}

std::vector<uint32_t> LevelsOfRuns(const TreeShape& shape) {
  std::vector<uint32_t> levels(shape.flush_runs, 0);
  for (uint32_t level = 1; level <= shape.level_count; ++level) {
    levels.insert(levels.end(), RunsInLevel(shape, level), level);
  }
  return levels;
}

}  // namespace rowbloom
