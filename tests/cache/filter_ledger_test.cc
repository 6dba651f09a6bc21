// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_ledger.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom {
namespace {

constexpr uint64_t kCost = 4096;

int64_t Balance(const FilterLedger& ledger) {
  return ledger.GetTotals().balance_bytes;
}

TEST(FilterLedger, OfNothingAllowsNothing) {
  FilterLedger ledger;
  EXPECT_FALSE(ledger.WithinGrants());
  EXPECT_FALSE(ledger.MayLoad());
  EXPECT_FALSE(ledger.MayLoad());
  const FilterLedger::Totals totals = ledger.GetTotals();
  EXPECT_EQ(totals.refused_loads, 2);
  EXPECT_EQ(totals.balance_bytes, 0);
  EXPECT_EQ(totals.lookups, 0);
}

TEST(FilterLedger, GrantsAddUpAndLoadsUseThemUp) {
  FilterLedger ledger;
  ledger.Grant(600);
  ledger.Grant(400);
  EXPECT_EQ(Balance(ledger), 1000);
  ledger.CountLoad(999);
  EXPECT_TRUE(ledger.WithinGrants());
  EXPECT_TRUE(ledger.MayLoad());
  ledger.CountLoad(500);  // One load may overdraw.
  EXPECT_FALSE(ledger.WithinGrants());
  EXPECT_FALSE(ledger.MayLoad());
  EXPECT_EQ(Balance(ledger), -499);
  EXPECT_EQ(ledger.GetTotals().loaded_bytes, 1499);
}

TEST(FilterLedger, PlannedLoadsCountAsLoaded) {
  FilterLedger ledger;
  ledger.Grant(1000);
  EXPECT_TRUE(ledger.MayLoad(999));
  EXPECT_FALSE(ledger.MayLoad(1000));
  EXPECT_FALSE(ledger.MayLoad(~uint64_t{0}));
  EXPECT_EQ(ledger.GetTotals().refused_loads, 2);
}

TEST(FilterLedger, SavingsAndOnePercentOfTheCostAreIncome) {
  FilterLedger ledger;
  ledger.CountLookups(100, 0, 1000);
  EXPECT_EQ(Balance(ledger), 1000);
  ledger.CountLookups(10, 4, 1000);
  EXPECT_EQ(Balance(ledger), 1000 + 4000 + 100);
  const FilterLedger::Totals totals = ledger.GetTotals();
  EXPECT_EQ(totals.lookups, 110);
  EXPECT_EQ(totals.unfiltered_bytes, 110000);
  EXPECT_EQ(totals.saved_bytes, 4000);
}

TEST(FilterLedger, TheBalanceIsCutOffAtTheGrantsAndTheSlack) {
  FilterLedger ledger;
  ledger.CountLookups(1000000, 1000000, kCost);
  EXPECT_EQ(Balance(ledger), FilterLedger::kSlackBytes);
  ledger.Grant(5000);
  EXPECT_EQ(Balance(ledger), FilterLedger::kSlackBytes + 5000);
  ledger.CountLookups(1, 1, kCost);
  EXPECT_EQ(Balance(ledger), FilterLedger::kSlackBytes + 5000);
  ledger.CountLoad(10000);
  ledger.CountLookups(1000000, 1000000, kCost);
  EXPECT_EQ(Balance(ledger), FilterLedger::kSlackBytes + 5000);
}

// What loads may cost in all.
TEST(FilterLedger, LoadsAreBoundedBySavingsGrantsAndOnePercent) {
  constexpr uint64_t kLoad = 100000;
  constexpr uint64_t kGrant = 1 << 20;
  FilterLedger ledger;
  ledger.Grant(kGrant);
  for (int i = 0; i < 100000; ++i) {
    ledger.CountLookups(16, i % 50 == 0 ? 16 : 0, kCost);
    if (ledger.MayLoad()) ledger.CountLoad(kLoad);
    const FilterLedger::Totals t = ledger.GetTotals();
    ASSERT_LE(
        static_cast<double>(t.loaded_bytes),
        static_cast<double>(t.saved_bytes + kGrant + kLoad) +
            FilterLedger::kMaxLoss * static_cast<double>(t.unfiltered_bytes));
  }
  EXPECT_GT(ledger.GetTotals().refused_loads, 0);
}

// A cache without a limit.
TEST(FilterLedger, GrantsBeyondAllNumbersAllowLoads) {
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  FilterLedger ledger;
  ledger.Grant(kAll);
  ledger.Grant(kAll);
  EXPECT_TRUE(ledger.WithinGrants());
  EXPECT_TRUE(ledger.MayLoad());
  ledger.CountLookups(kAll, kAll, kAll);
  EXPECT_TRUE(ledger.MayLoad());
  ledger.CountLoad(uint64_t{1} << 50);
  EXPECT_TRUE(ledger.WithinGrants());
  const auto cache = NewShardedLruCache({SIZE_MAX});
  EXPECT_TRUE(cache->ledger().WithinGrants());
  EXPECT_TRUE(cache->ledger().MayLoad());
}

TEST(FilterLedger, CostsBeyondAllNumbersAreIncome) {
  FilterLedger ledger;
  ledger.CountLookups(16, 16, uint64_t{1} << 60);
  EXPECT_EQ(Balance(ledger), FilterLedger::kSlackBytes);
  ledger.CountLookups(16, 0, ~uint64_t{0});
  EXPECT_EQ(Balance(ledger), FilterLedger::kSlackBytes);
}

TEST(FilterLedger, ACacheGrantsItsLargestCapacityOnce) {
  const auto cache = NewShardedLruCache({1000});
  EXPECT_EQ(Balance(cache->ledger()), 1000);
  cache->SetCapacity(10);
  cache->SetCapacity(900);
  EXPECT_EQ(Balance(cache->ledger()), 1000);
  cache->SetCapacity(1500);
  EXPECT_EQ(Balance(cache->ledger()), 1500);
}

TEST(FilterLedger, AnEraEndsAfterSoManyLookupsForEachChunk) {
  FilterLedger ledger;
  EXPECT_EQ(ledger.era(), 0);
  const uint64_t alone = ledger.era_length();
  ledger.AddChunks(10);
  EXPECT_EQ(ledger.chunk_count(), 10);
  EXPECT_EQ(ledger.era_length(), 10 * alone);
  ledger.CountLookups(ledger.era_length() - 1, 0, kCost);
  EXPECT_EQ(ledger.era(), 0);
  ledger.CountLookups(1, 0, kCost);
  EXPECT_EQ(ledger.era(), 1);
  ledger.CountLookups(ledger.era_length(), 0, kCost);
  EXPECT_EQ(ledger.era(), 2);
  ledger.AddChunks(-10);
  EXPECT_EQ(ledger.era_length(), alone);
}

TEST(FilterLedger, ACountLosesHalfOfItsWeightWithEachEra) {
  FilterLedger ledger;
  const auto length = static_cast<double>(ledger.era_length());
  const FilterLedger::Mark start = ledger.Now();
  EXPECT_EQ(ledger.WeightSince(start), 0);
  ledger.CountLookups(100, 0, kCost);
  EXPECT_EQ(ledger.WeightSince(start), 100);
  EXPECT_EQ(ledger.WeightSince(ledger.Now()), 0);
  ledger.CountLookups(ledger.era_length() - 100, 0, kCost);
  EXPECT_EQ(ledger.WeightSince(start), length / 2);
  ledger.CountLookups(48, 0, kCost);
  EXPECT_EQ(ledger.WeightSince(start), length / 2 + 48);
  ledger.CountLookups(ledger.era_length() - 48, 0, kCost);
  EXPECT_EQ(ledger.WeightSince(start), length * 3 / 4);
  for (int i = 0; i < 100; ++i) {
    ledger.CountLookups(ledger.era_length(), 0, kCost);
  }
  EXPECT_EQ(ledger.WeightSince(start), length);
}

TEST(FilterLedgerThreads, LosesNoCount) {
  constexpr int kThreads = 8;
  constexpr uint64_t kRounds = 5000;
  FilterLedger ledger;
  ledger.Grant(1 << 30);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (uint64_t i = 0; i < kRounds; ++i) {
        ledger.CountLookups(16, 8, 100);
        ledger.CountLoad(3);
        ledger.AddChunks(2);
        ledger.AddChunks(-1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const FilterLedger::Totals totals = ledger.GetTotals();
  EXPECT_EQ(totals.lookups, kThreads * kRounds * 16);
  EXPECT_EQ(totals.unfiltered_bytes, kThreads * kRounds * 1600);
  EXPECT_EQ(totals.saved_bytes, kThreads * kRounds * 800);
  EXPECT_EQ(totals.loaded_bytes, kThreads * kRounds * 3);
  EXPECT_EQ(ledger.chunk_count(), kThreads * kRounds);
}

}  // namespace
}  // namespace rowbloom
