// SPDX-License-Identifier: Apache-2.0

#include "budget/observed_gets.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "rocksdb/statistics.h"

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
    counts_.seeks += gets / 4;
    counts_.scanned_bytes += 50 * gets;
    return counts_;
  }

 private:
  GetCounts counts_;
};

Written Share(double share) { return {share, 0, 0}; }

TEST(ObservedGets, AreRatesOfTheGetsSinceTheFirstCounts) {
  ObservedGets gets;
  Counter counter;
  gets.Observe(counter.Add(1000, 1), Share(0.1));
  EXPECT_FALSE(gets.rates().has_value());
  gets.Observe(counter.Add(1000, 0.25), Share(0.1));
  ASSERT_TRUE(gets.rates().has_value());
  EXPECT_EQ(gets.rates()->missing_share, 0.75);
  EXPECT_EQ(gets.rates()->filter_asks, 3);
  EXPECT_EQ(gets.rates()->filter_reads, 0.1);
  EXPECT_EQ(gets.rates()->data_asks, 2);
  EXPECT_EQ(gets.rates()->data_reads, 1);
  EXPECT_EQ(gets.rates()->seeks, 0.25);
  EXPECT_EQ(gets.rates()->scanned_bytes, 50);
}

TEST(ObservedGets, SayWhatIsNewForAGet) {
  ObservedGets gets;
  Counter counter;
  gets.Observe(counter.Add(0, 1), {});
  gets.Observe(counter.Add(10, 1), {0.1, 30, 10000});  // Few gets.
  gets.Observe(counter.Add(990, 1), {0.1, 20, 2000});
  ASSERT_TRUE(gets.rates().has_value());
  EXPECT_EQ(gets.rates()->new_ssts, 0.05);
  EXPECT_EQ(gets.rates()->new_filter_bytes, 12);
}

TEST(ObservedGets, FewGetsWaitForMore) {
  ObservedGets gets;
  Counter counter;
  gets.Observe(counter.Add(0, 1), Share(0));
  gets.Observe(counter.Add(GetRates::kFewestGets - 1, 1), Share(0));
  EXPECT_FALSE(gets.rates().has_value());
  gets.Observe(counter.Add(1, 1), Share(0));
  EXPECT_TRUE(gets.rates().has_value());
}

TEST(ObservedGets, AreWeightedByWhatWasWritten) {
  ObservedGets gets;
  Counter counter;
  gets.Observe(counter.Add(0, 1), Share(0));
  gets.Observe(counter.Add(1000, 1), Share(1));
  EXPECT_EQ(gets.rates()->missing_share, 0);
  // A burst during which hardly anything was written.
  gets.Observe(counter.Add(1000000, 0), Share(0.01 * ObservedGets::kHalfShare));
  EXPECT_LT(gets.rates()->missing_share, 0.01);
  gets.Observe(counter.Add(1000, 0), Share(ObservedGets::kHalfShare));
  EXPECT_NEAR(gets.rates()->missing_share, 0.5, 0.01);
  gets.Observe(counter.Add(1000, 0), Share(10 * ObservedGets::kHalfShare));
  EXPECT_GT(gets.rates()->missing_share, 0.99);
}

TEST(ObservedGets, CountsThatFellBeganAgainAtZero) {
  ObservedGets gets;
  Counter before;
  gets.Observe(before.Add(0, 1), Share(0));
  gets.Observe(before.Add(100000, 1), Share(1));
  Counter after;
  gets.Observe(after.Add(50000, 0.5), Share(100));
  EXPECT_NEAR(gets.rates()->missing_share, 0.5, 0.001);
  // Others may be larger than before already.
  Counter later;
  gets.Observe(later.Add(60000, 0.25), Share(100));
  EXPECT_NEAR(gets.rates()->missing_share, 0.75, 0.001);
}

TEST(ObservedGets, CountsAreTickers) {
  const auto statistics = rdb::CreateDBStatistics();
  statistics->recordTick(rdb::BLOCK_CACHE_DATA_HIT, 5);
  statistics->recordTick(rdb::BLOCK_CACHE_DATA_MISS, 7);
  statistics->recordTick(rdb::BLOCK_CACHE_DATA_ADD, 3);
  statistics->recordTick(rdb::NUMBER_DB_SEEK, 11);
  statistics->recordTick(rdb::ITER_BYTES_READ, 13);
  const GetCounts counts = CountsOf(*statistics);
  EXPECT_EQ(counts.data_asks, 12);
  EXPECT_EQ(counts.data_reads, 3);
  EXPECT_EQ(counts.seeks, 11);
  EXPECT_EQ(counts.scanned_bytes, 13);
}

TEST(ObservedGets, StatisticsMayCountNoTickers) {
  const auto statistics = rdb::CreateDBStatistics();
  EXPECT_TRUE(CountsTickers(*statistics));
  statistics->set_stats_level(rdb::StatsLevel::kExceptHistogramOrTimers);
  EXPECT_TRUE(CountsTickers(*statistics));
  statistics->set_stats_level(rdb::StatsLevel::kExceptTickers);
  EXPECT_FALSE(CountsTickers(*statistics));
}

}  // namespace
}  // namespace rowbloom::plugin
