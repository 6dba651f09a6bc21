// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_stats.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowbloom {
namespace {

using ::testing::Each;

constexpr size_t kCounters = static_cast<size_t>(FilterCounter::kCount);

TEST(FilterStats, WhatNoFileIsKnownForMayHaveALevel) {
  FilterStats stats;
  stats.Add(FilterCounter::kLookups, 3, 0);
  stats.Add(FilterCounter::kLookups, 4, FilterStats::kLevels - 1);
  for (int beyond : {FilterStats::kUnknownLevel, FilterStats::kLevels, -7}) {
    stats.Add(FilterCounter::kLookups, 1, beyond);
  }
  const auto levels = stats.Levels();
  ASSERT_EQ(levels.size(), 3);
  EXPECT_EQ(levels.at(0)[FilterCounter::kLookups], 3);
  EXPECT_EQ(levels.at(FilterStats::kLevels - 1)[FilterCounter::kLookups], 4);
  EXPECT_EQ(levels.at(FilterStats::kUnknownLevel)[FilterCounter::kLookups], 3);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLookups], 10);
}

TEST(FilterStatsDeathTest, ACounterThatDoesNotExistIsTheCallersMistake) {
  FilterStats stats;
  EXPECT_DEATH(stats.Add(FilterCounter::kCount), "no such counter");
}

TEST(FilterStats, OutcomeOfMaybeIsTrueOrFalsePositive) {
  FilterStats stats;
  stats.TellOutcome(true);
  stats.TellOutcome(false);
  stats.TellOutcome(false);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kTruePositives], 1);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kFalsePositives], 2);
}

TEST(FilterStats, AddsOneUnlessToldAndLeavesSnapshotsAsTheyWere) {
  FilterStats stats;
  EXPECT_THAT(stats.Snapshot().values, Each(0));
  stats.Add(FilterCounter::kLookups);
  const FilterStatsSnapshot before = stats.Snapshot();
  stats.Add(FilterCounter::kLookups);
  EXPECT_EQ(before[FilterCounter::kLookups], 1);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLookups], 2);
}

TEST(FilterStats, TextHasOneNamedLineForEachCounter) {
  FilterStats stats;
  for (size_t i = 0; i < kCounters; ++i) {
    stats.Add(static_cast<FilterCounter>(i), i + 1);
  }
  EXPECT_EQ(stats.Snapshot().ToString(),
            "lookups 1\n"
            "negatives 2\n"
            "true_positives 3\n"
            "false_positives 4\n"
            "unloaded 5\n"
            "chunk_loads 6\n"
            "chunk_load_bytes 7\n"
            "load_errors 8\n"
            "open_errors 9\n"
            "prefix_lookups 10\n"
            "prefix_negatives 11\n");
}

FilterStatsSnapshot SnapshotOf(uint64_t lookups, uint64_t negatives,
                               uint64_t true_positives,
                               uint64_t false_positives, uint64_t unloaded) {
  FilterStatsSnapshot snapshot;
  snapshot.values = {lookups, negatives, true_positives, false_positives,
                     unloaded};
  return snapshot;
}

TEST(FilterStats, TheRateOfFiltersLeavesOutUnloadedLookups) {
  EXPECT_EQ(FilterStatsSnapshot().observed_filter_fpr(), 0);
  // All keys are absent: 100 lookups found no chunk, and 9 of 909 passed the
  // filter.
  const FilterStatsSnapshot snapshot = SnapshotOf(1009, 900, 0, 109, 100);
  EXPECT_DOUBLE_EQ(snapshot.observed_fpr(), 109.0 / 1009);
  EXPECT_DOUBLE_EQ(snapshot.observed_filter_fpr(), 9.0 / 909);
}

TEST(FilterStats, ObservedRateIsOfTheLookupsWhoseKeyWasNotThere) {
  EXPECT_EQ(FilterStatsSnapshot().observed_fpr(), 0);
  EXPECT_EQ(SnapshotOf(1000, 0, 500, 0, 0).observed_fpr(), 0);
  EXPECT_EQ(SnapshotOf(1000, 0, 500, 0, 0).positives(), 1000);
  EXPECT_EQ(SnapshotOf(1000, 30, 500, 10, 0).observed_fpr(), 0.25);
  EXPECT_EQ(SnapshotOf(1000, 30, 500, 10, 0).positives(), 970);
}

// A snapshot that is taken while readers count may include the negative of a
// lookup but not the lookup itself.
TEST(FilterStats, PositivesAreNeverFewerThanNone) {
  EXPECT_EQ(SnapshotOf(0, 1, 0, 0, 0).positives(), 0);
}

}  // namespace
}  // namespace rowbloom
