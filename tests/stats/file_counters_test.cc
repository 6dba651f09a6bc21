// SPDX-License-Identifier: Apache-2.0

#include "stats/file_counters.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "threads/epoch.h"

namespace rowbloom::stats {
namespace {

TEST(FileCounters, CountsEachAnswer) {
  FileCounters counters;
  for (int i = 0; i < 10; ++i) {
    counters.CountLookup(threads::ThisThread());
    counters.CountAnswer(threads::ThisThread(), i < 3);
  }
  counters.Add(FilterCounter::kChunkLoads, 5);
  const FilterStatsSnapshot snapshot = counters.Snapshot();
  EXPECT_EQ(snapshot[FilterCounter::kLookups], 10u);
  EXPECT_EQ(snapshot[FilterCounter::kNegatives], 3u);
  EXPECT_EQ(snapshot[FilterCounter::kChunkLoads], 5u);
}

// One in sixteen is also a sample among every nth lookup, for any n.
TEST(FileCounters, OneLookupInSixteenIsASample) {
  constexpr uint64_t kLookups = 1 << 18;
  for (uint64_t period = 1; period <= 40; ++period) {
    FileCounters counters;
    std::vector<double> samples(period);
    for (uint64_t i = 0; i < kLookups; ++i) {
      samples[i % period] += counters.CountLookup(threads::ThisThread());
    }
    const double expected = static_cast<double>(kLookups) /
                            static_cast<double>(period * kSampleInterval);
    for (const double count : samples) {
      EXPECT_NEAR(count, expected, 0.05 * expected + 5) << period;
    }
  }
}

TEST(FileCounters, AThreadsOwnCountersAreTheSame) {
  FileCounters counters;
  counters.CountLookup(threads::ThisThread());  // It makes the counters.
  counters.CountAnswer(threads::ThisThread(), true);
  FileCounters::Own own = counters.OwnOf(threads::ThisThread());
  ASSERT_TRUE(own);
  uint64_t samples = 0;
  for (int i = 1; i < 1600; ++i) {
    samples += own.CountLookup();
    own.CountAnswer(i % 4 == 0);
  }
  EXPECT_NEAR(static_cast<double>(samples), 1600.0 / kSampleInterval, 2);
  const FilterStatsSnapshot snapshot = counters.Snapshot();
  EXPECT_EQ(snapshot[FilterCounter::kLookups], 1600u);
  EXPECT_EQ(snapshot[FilterCounter::kNegatives], 400u);
}

TEST(FileCounters, RareAnswersAreSampledToo) {
  FileCounters counters;
  uint64_t negatives = 0;
  uint64_t positives = 0;
  for (uint64_t i = 0; i < 1 << 20; ++i) {
    const bool is_negative = i % 1000 == 0;
    const bool is_sample = counters.CountLookup(threads::ThisThread());
    (is_negative ? negatives : positives) += is_sample;
  }
  EXPECT_NEAR(static_cast<double>(negatives), 1049.0 / kSampleInterval, 3);
  EXPECT_NEAR(static_cast<double>(positives), 1047527.0 / kSampleInterval, 20);
}

}  // namespace
}  // namespace rowbloom::stats
