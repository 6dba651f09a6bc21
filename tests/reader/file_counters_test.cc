// SPDX-License-Identifier: Apache-2.0

#include "reader/file_counters.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "cache/load_rules.h"
#include "gtest/gtest.h"
#include "util/epoch.h"

namespace rowbloom::internal::reader {
namespace {

using cache::LoadRules;

// One in sixteen is also a sample among every nth lookup, for any n, so that
// rare answers are sampled too.
TEST(FileCounters, OneLookupInSixteenIsASample) {
  constexpr uint64_t kLookups = 1 << 18;
  std::vector<uint64_t> periods(40);
  std::iota(periods.begin(), periods.end(), 1);
  periods.push_back(1000);
  for (const uint64_t period : periods) {
    FileCounters counters(/*answers_prefixes=*/false);
    std::vector<double> samples(period);
    for (uint64_t i = 0; i < kLookups; ++i) {
      samples[i % period] += counters.CountLookup(util::ThisThread());
    }
    const double expected =
        static_cast<double>(kLookups) /
        static_cast<double>(period * LoadRules::kSampleInterval);
    for (const double count : samples) {
      EXPECT_NEAR(count, expected, 0.05 * expected + 5) << period;
    }
  }
}

TEST(FileCounters, AThreadsOwnCountersAreTheSame) {
  FileCounters counters(/*answers_prefixes=*/false);
  counters.CountLookup(util::ThisThread());  // It makes the counters.
  counters.CountAnswer(util::ThisThread(), true);
  std::atomic<uint64_t>* const own = counters.OwnOf(util::ThisThread());
  ASSERT_NE(own, nullptr);
  uint64_t samples = 0;
  for (int i = 1; i < 1600; ++i) {
    if (!FileCounters::CountUnlessSample(own)) {
      // It is a sample for CountLookup() as well, which counts it.
      EXPECT_TRUE(counters.CountLookup(util::ThisThread()));
      ++samples;
    }
    FileCounters::CountAnswer(own, i % 4 == 0);
  }
  EXPECT_NEAR(static_cast<double>(samples), 1600.0 / LoadRules::kSampleInterval,
              2);
  counters.Add(FilterCounter::kChunkLoads, 5);
  const FilterStatsSnapshot snapshot = counters.Snapshot();
  EXPECT_EQ(snapshot[FilterCounter::kLookups], 1600u);
  EXPECT_EQ(snapshot[FilterCounter::kNegatives], 400u);
  EXPECT_EQ(snapshot[FilterCounter::kChunkLoads], 5u);
}

}  // namespace
}  // namespace rowbloom::internal::reader
