// SPDX-License-Identifier: Apache-2.0

#include "budget/observed_gets.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace rowbloom::plugin {
namespace {

// Counts of gets of which `found` find their key.
class Counter {
 public:
  const GetCounts& Add(uint64_t gets, double found) {
    counts_.gets += gets;
    counts_.found += static_cast<uint64_t>(found * static_cast<double>(gets));
    counts_.filter_asks += 3 * gets;
    counts_.filter_reads += gets / 10;
    counts_.data_asks += 2 * gets;
    counts_.data_reads += gets;
    return counts_;
  }

 private:
  GetCounts counts_;
};

TEST(ObservedGets, AreRatesOfTheGetsSinceTheFirstCounts) {
  ObservedGets gets;
  Counter counter;
  gets.Observe(counter.Add(1000, 1), 0.1);
  EXPECT_FALSE(gets.rates().has_value());
  gets.Observe(counter.Add(1000, 0.25), 0.1);
  ASSERT_TRUE(gets.rates().has_value());
  EXPECT_EQ(gets.rates()->missing_share, 0.75);
  EXPECT_EQ(gets.rates()->filter_asks, 3);
  EXPECT_EQ(gets.rates()->filter_reads, 0.1);
  EXPECT_EQ(gets.rates()->data_asks, 2);
  EXPECT_EQ(gets.rates()->data_reads, 1);
}

TEST(ObservedGets, FewGetsWaitForMore) {
  ObservedGets gets;
  Counter counter;
  gets.Observe(counter.Add(0, 1), 0);
  gets.Observe(counter.Add(ObservedGets::kFewestGets - 1, 1), 0);
  EXPECT_FALSE(gets.rates().has_value());
  gets.Observe(counter.Add(1, 1), 0);
  EXPECT_TRUE(gets.rates().has_value());
}

TEST(ObservedGets, AreWeightedByWhatWasWritten) {
  ObservedGets gets;
  Counter counter;
  gets.Observe(counter.Add(0, 1), 0);
  gets.Observe(counter.Add(1000, 1), 1);
  EXPECT_EQ(gets.rates()->missing_share, 0);
  // A burst during which hardly anything was written.
  gets.Observe(counter.Add(1000000, 0), 0.01 * ObservedGets::kHalfShare);
  EXPECT_LT(gets.rates()->missing_share, 0.01);
  gets.Observe(counter.Add(1000, 0), ObservedGets::kHalfShare);
  EXPECT_NEAR(gets.rates()->missing_share, 0.5, 0.01);
  gets.Observe(counter.Add(1000, 0), 10 * ObservedGets::kHalfShare);
  EXPECT_GT(gets.rates()->missing_share, 0.99);
}

TEST(ObservedGets, CountsThatFellBeginAgain) {
  ObservedGets gets;
  Counter before;
  gets.Observe(before.Add(0, 1), 0);
  gets.Observe(before.Add(100000, 1), 1);
  Counter after;
  gets.Observe(after.Add(50000, 0), 1);
  EXPECT_EQ(gets.rates()->missing_share, 0);
  gets.Observe(after.Add(50000, 0.5), 100);
  EXPECT_NEAR(gets.rates()->missing_share, 0.5, 0.001);
}

}  // namespace
}  // namespace rowbloom::plugin
