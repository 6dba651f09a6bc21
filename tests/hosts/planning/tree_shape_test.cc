// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/tree_shape.h"

#include <gtest/gtest.h>

#include <cmath>

namespace rowbloom {
namespace {

std::vector<uint64_t> KeysOf(const TreeShape& shape) {
  const auto runs = RunsOf(shape);
  EXPECT_TRUE(runs.ok()) << runs.status();
  std::vector<uint64_t> keys;
  for (const TreeRun& run : runs.value()) keys.push_back(run.key_count);
  return keys;
}

TEST(TreeShape, LevelsGrowByTheSizeRatio) {
  TreeShape shape;
  shape.key_count = 1111;
  EXPECT_EQ(KeysOf(shape), (std::vector<uint64_t>{1, 10, 100, 1000}));
  EXPECT_EQ(LevelsOfRuns(shape), (std::vector<uint32_t>{1, 2, 3, 4}));
  shape.kind = TreeKind::kUniversal;
  EXPECT_EQ(KeysOf(shape), (std::vector<uint64_t>{1, 10, 100, 1000}));
}

TEST(TreeShape, TieredLevelsAreOfRunsOfOneSize) {
  TreeShape shape;
  shape.key_count = 4444;
  shape.kind = TreeKind::kTiered;
  shape.level_count = 2;
  shape.size_ratio = 100;
  EXPECT_EQ(KeysOf(shape),
            (std::vector<uint64_t>{11, 11, 11, 11, 1100, 1100, 1100, 1100}));
  shape.kind = TreeKind::kLazyLeveled;
  EXPECT_EQ(KeysOf(shape), (std::vector<uint64_t>{11, 11, 11, 11, 4400}));
  EXPECT_EQ(LevelsOfRuns(shape), (std::vector<uint32_t>{1, 1, 1, 1, 2}));
}

TEST(TreeShape, FlushesAreQuartersOfLevel1) {
  TreeShape shape;
  shape.level_count = 2;
  shape.flush_runs = 2;
  shape.key_count = 4600;
  EXPECT_EQ(KeysOf(shape), (std::vector<uint64_t>{100, 100, 400, 4000}));
  EXPECT_EQ(LevelsOfRuns(shape), (std::vector<uint32_t>{0, 0, 1, 2}));
}

TEST(TreeShape, PetabytesOfKeysAreAllThere) {
  for (const TreeKind kind : {TreeKind::kLeveled, TreeKind::kTiered,
                              TreeKind::kLazyLeveled, TreeKind::kUniversal}) {
    TreeShape shape;
    shape.kind = kind;
    shape.key_count = 1'000'000'000'000'000'000;
    shape.level_count = 8;
    shape.flush_runs = 4;
    double sum = 0;
    for (const uint64_t keys : KeysOf(shape)) {
      sum += static_cast<double>(keys);
    }
    EXPECT_NEAR(sum / 1e18, 1, 1e-9);
    EXPECT_EQ(KeysOf(shape).size(), LevelsOfRuns(shape).size());
  }
}

TEST(TreeShape, KindsHaveNames) {
  for (const char* name : {"leveled", "tiered", "lazy_leveled", "universal"}) {
    const auto kind = ParseTreeKind(name);
    ASSERT_TRUE(kind.ok());
    EXPECT_EQ(TreeKindName(*kind), name);
  }
  EXPECT_EQ(ParseTreeKind("flat").status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TreeShape, WhatIsNoTreeIsRefused) {
  const auto refuses = [](auto set) {
    TreeShape shape;
    set(&shape);
    return RunsOf(shape).status().code() == absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refuses([](auto* s) { s->size_ratio = 1; }));
  EXPECT_TRUE(refuses([](auto* s) { s->size_ratio = std::nan(""); }));
  EXPECT_TRUE(refuses([](auto* s) { s->key_count = kMaxTreeKeys + 1; }));
  EXPECT_TRUE(refuses([](auto* s) { s->level_count = 0; }));
  EXPECT_TRUE(refuses([](auto* s) { s->runs_per_level = 0; }));
  EXPECT_TRUE(refuses([](auto* s) { s->level_count = 1u << 31; }));
  EXPECT_TRUE(refuses([](auto* s) { s->flush_runs = ~0u; }));
}

}  // namespace
}  // namespace rowbloom
