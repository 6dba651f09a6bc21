// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_stats.h"

#include <set>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowbloom {
namespace {

using ::testing::Each;

constexpr size_t kCounters = static_cast<size_t>(FilterCounter::kCount);

TEST(FilterStats, StartsAtZero) {
  EXPECT_THAT(FilterStats().Snapshot().values, Each(0));
}

TEST(FilterStats, EachCounterIsItsOwn) {
  FilterStats stats;
  for (size_t i = 0; i < kCounters; ++i) {
    stats.Add(static_cast<FilterCounter>(i), 10 + i);
  }
  const FilterStatsSnapshot snapshot = stats.Snapshot();
  for (size_t i = 0; i < kCounters; ++i) {
    EXPECT_EQ(snapshot[static_cast<FilterCounter>(i)], 10 + i);
  }
}

TEST(FilterStats, AddsOneUnlessTold) {
  FilterStats stats;
  stats.Add(FilterCounter::kLookups);
  stats.Add(FilterCounter::kLookups);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLookups], 2);
}

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

TEST(FilterStats, OutcomeOfMaybeIsTrueOrFalsePositive) {
  FilterStats stats;
  stats.TellOutcome(true);
  stats.TellOutcome(false);
  stats.TellOutcome(false);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kTruePositives], 1);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kFalsePositives], 2);
}

TEST(FilterStats, SnapshotStaysAsItWas) {
  FilterStats stats;
  stats.Add(FilterCounter::kLookups);
  const FilterStatsSnapshot before = stats.Snapshot();
  stats.Add(FilterCounter::kLookups);
  EXPECT_EQ(before[FilterCounter::kLookups], 1);
}

// There are more threads than shards, so that some share one.
TEST(FilterStats, SumIsExactOverManyThreads) {
  constexpr int kThreads = 40;
  constexpr uint64_t kRounds = 5000;
  FilterStats stats;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&stats] {
      for (uint64_t i = 0; i < kRounds; ++i) {
        stats.Add(FilterCounter::kLookups);
        stats.Add(FilterCounter::kChunkLoadBytes, i);
      }
    });
  }
  uint64_t last = 0;
  for (int i = 0; i < 100; ++i) {  // Never counts backwards.
    const uint64_t now = stats.Snapshot()[FilterCounter::kLookups];
    EXPECT_GE(now, last);
    last = now;
  }
  for (std::thread& thread : threads) thread.join();
  const FilterStatsSnapshot snapshot = stats.Snapshot();
  EXPECT_EQ(snapshot[FilterCounter::kLookups], kThreads * kRounds);
  EXPECT_EQ(snapshot[FilterCounter::kChunkLoadBytes],
            kThreads * (kRounds * (kRounds - 1) / 2));
  EXPECT_EQ(snapshot[FilterCounter::kNegatives], 0);
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
            "open_errors 9\n");
}

TEST(FilterStats, TheRateOfFiltersLeavesOutUnloadedLookups) {
  FilterStatsSnapshot snapshot;
  EXPECT_EQ(snapshot.observed_filter_fpr(), 0);
  const auto set = [&](FilterCounter counter, uint64_t value) {
    snapshot.values[static_cast<size_t>(counter)] = value;
  };
  // All keys are absent: 100 lookups found no chunk, and 9 of 909 passed the
  // filter.
  set(FilterCounter::kLookups, 1009);
  set(FilterCounter::kNegatives, 900);
  set(FilterCounter::kFalsePositives, 109);
  set(FilterCounter::kUnloaded, 100);
  EXPECT_DOUBLE_EQ(snapshot.observed_fpr(), 109.0 / 1009);
  EXPECT_DOUBLE_EQ(snapshot.observed_filter_fpr(), 9.0 / 909);
}

TEST(FilterStats, ObservedRateIsOfTheLookupsWhoseKeyWasNotThere) {
  FilterStatsSnapshot snapshot;
  EXPECT_EQ(snapshot.observed_fpr(), 0);
  const auto set = [&](FilterCounter counter, uint64_t value) {
    snapshot.values[static_cast<size_t>(counter)] = value;
  };
  set(FilterCounter::kLookups, 1000);
  set(FilterCounter::kTruePositives, 500);
  EXPECT_EQ(snapshot.observed_fpr(), 0);
  EXPECT_EQ(snapshot.positives(), 1000);
  set(FilterCounter::kNegatives, 30);
  set(FilterCounter::kFalsePositives, 10);
  EXPECT_EQ(snapshot.observed_fpr(), 0.25);
  EXPECT_EQ(snapshot.positives(), 970);
}

// A snapshot that is taken while readers count may include the negative of a
// lookup but not the lookup itself.
TEST(FilterStats, PositivesAreNeverFewerThanNone) {
  FilterStatsSnapshot snapshot;
  snapshot.values[static_cast<size_t>(FilterCounter::kNegatives)] = 1;
  EXPECT_EQ(snapshot.positives(), 0);
}

TEST(FilterStats, CounterOutsideTheEnumIsUnknown) {
  EXPECT_EQ(FilterCounterName(FilterCounter::kCount), "unknown");
  EXPECT_EQ(FilterCounterName(static_cast<FilterCounter>(200)), "unknown");
}

TEST(FilterStats, NamesAreDistinct) {
  std::set<std::string_view> names;
  for (size_t i = 0; i < kCounters; ++i) {
    names.insert(FilterCounterName(static_cast<FilterCounter>(i)));
  }
  EXPECT_EQ(names.size(), kCounters);
  EXPECT_EQ(names.count("unknown"), 0);
}

}  // namespace
}  // namespace rowbloom
