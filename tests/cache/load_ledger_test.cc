// SPDX-License-Identifier: Apache-2.0

#include "cache/load_ledger.h"

#include <cstdint>
#include <limits>

#include "cache/cached_chunks.h"
#include "cache/load_rules.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_cache.h"
#include "testing/threads.h"

namespace rowbloom::internal::cache {
namespace {

using Answer = FilterAnswer;

constexpr uint64_t kCost = 4096;
constexpr LoadRules kRules;

TEST(LoadLedger, AllowsNoLoadAtFirst) {
  LoadLedger ledger;
  EXPECT_FALSE(ledger.WithinGrants());
  EXPECT_FALSE(ledger.MayLoad());
  EXPECT_EQ(ledger.balance_bytes(), 0);
  EXPECT_EQ(ledger.lookups(), 0);
}

TEST(LoadLedger, LoadsUseUpTheLargestGrant) {
  LoadLedger ledger;
  ledger.GrantUpTo(600);
  ledger.GrantUpTo(400);
  EXPECT_EQ(ledger.balance_bytes(), 600);
  ledger.GrantUpTo(1000);
  EXPECT_EQ(ledger.balance_bytes(), 1000);
  ledger.CountLoad(999);
  EXPECT_TRUE(ledger.WithinGrants());
  EXPECT_TRUE(ledger.MayLoad());
  ledger.CountLoad(500);  // One load may overdraw.
  EXPECT_FALSE(ledger.WithinGrants());
  EXPECT_FALSE(ledger.MayLoad());
  EXPECT_EQ(ledger.balance_bytes(), -499);
  EXPECT_EQ(ledger.loaded_bytes(), 1499);
}

TEST(LoadLedger, PlannedLoadsCountAsLoaded) {
  LoadLedger ledger;
  ledger.GrantUpTo(1000);
  EXPECT_TRUE(ledger.MayLoad(999));
  EXPECT_FALSE(ledger.MayLoad(1000));
  EXPECT_FALSE(ledger.MayLoad(~uint64_t{0}));
}

TEST(LoadLedger, SavingsAndOnePercentOfTheCostAreIncome) {
  LoadLedger ledger;
  ledger.CountLookups(100, Answer::kNotInMemory, 1000);
  EXPECT_EQ(ledger.balance_bytes(), 1000);
  ledger.CountLookups(6, Answer::kMaybe, 1000);
  ledger.CountLookups(4, Answer::kNo, 1000);
  EXPECT_EQ(ledger.balance_bytes(), 1000 + 4000 + 100);
  EXPECT_EQ(ledger.lookups(), 110);
  EXPECT_EQ(ledger.misses(), 100);  // Only these did not find their filter.
}

TEST(LoadLedger, TheBalanceIsCutOffAtTheGrantsAndTheSlack) {
  LoadLedger ledger;
  ledger.CountLookups(1000000, Answer::kNo, kCost);
  EXPECT_EQ(ledger.balance_bytes(), kRules.slack_bytes);
  ledger.GrantUpTo(5000);
  EXPECT_EQ(ledger.balance_bytes(), kRules.slack_bytes + 5000);
  ledger.CountLookups(16, Answer::kMaybe, ~uint64_t{0});  // A huge income.
  EXPECT_EQ(ledger.balance_bytes(), kRules.slack_bytes + 5000);
  ledger.CountLoad(10000);
  ledger.CountLookups(16, Answer::kNo, uint64_t{1} << 60);
  EXPECT_EQ(ledger.balance_bytes(), kRules.slack_bytes + 5000);
}

TEST(LoadLedger, LoadsAreBoundedBySavingsGrantsAndOnePercent) {
  constexpr uint64_t kLoad = 100000;
  constexpr uint64_t kGrant = 1 << 20;
  LoadLedger ledger;
  ledger.GrantUpTo(kGrant);
  double income = kGrant + kLoad;
  uint64_t refused = 0;
  for (int i = 0; i < 100000; ++i) {
    const bool saves = i % 50 == 0;
    ledger.CountLookups(16, saves ? Answer::kNo : Answer::kMaybe, kCost);
    income += 16 * kCost * (kRules.max_loss + (saves ? 1 : 0));
    if (ledger.MayLoad()) {
      ledger.CountLoad(kLoad);
    } else {
      ++refused;
    }
    ASSERT_LE(static_cast<double>(ledger.loaded_bytes()), income);
  }
  EXPECT_GT(refused, 0);
}

// A cache without a limit grants SIZE_MAX.
TEST(LoadLedger, HugeGrantsAllowLoads) {
  constexpr uint64_t kAll = std::numeric_limits<uint64_t>::max();
  LoadLedger ledger;
  ledger.GrantUpTo(kAll);
  EXPECT_TRUE(ledger.WithinGrants());
  EXPECT_TRUE(ledger.MayLoad());
  ledger.CountLookups(kAll, Answer::kNo, kAll);
  EXPECT_TRUE(ledger.MayLoad());
  ledger.CountLoad(uint64_t{1} << 50);
  EXPECT_TRUE(ledger.WithinGrants());
  const auto cache = NewShardedLruCache({SIZE_MAX});
  EXPECT_TRUE(ChunkCache::Of(*cache).ledger().WithinGrants());
  EXPECT_TRUE(ChunkCache::Of(*cache).ledger().MayLoad());
}

TEST(LoadLedger, ACacheGrantsItsLargestCapacityOnce) {
  const auto cache = NewShardedLruCache({1000});
  const LoadLedger& ledger = ChunkCache::Of(*cache).ledger();
  EXPECT_EQ(ledger.balance_bytes(), 1000);
  cache->SetCapacity(10);
  cache->SetCapacity(900);
  EXPECT_EQ(ledger.balance_bytes(), 1000);
  cache->SetCapacity(1500);
  EXPECT_EQ(ledger.balance_bytes(), 1500);
}

TEST(LoadLedger, AHalfLifeEndsAfter2048LookupsForEachChunk) {
  LoadLedger ledger;
  EXPECT_EQ(ledger.half_lives(), 0);
  EXPECT_EQ(ledger.HalfLifeLookups(), 2048);  // 0 chunks count as 1.
  ledger.AddChunks(10);
  EXPECT_EQ(ledger.chunk_count(), 10);
  EXPECT_EQ(ledger.HalfLifeLookups(), 20480);
  ledger.CountLookups(ledger.HalfLifeLookups() - 1, Answer::kMaybe, kCost);
  EXPECT_EQ(ledger.half_lives(), 0);
  ledger.CountLookups(1, Answer::kMaybe, kCost);
  EXPECT_EQ(ledger.half_lives(), 1);
  ledger.CountLookups(ledger.HalfLifeLookups(), Answer::kMaybe, kCost);
  EXPECT_EQ(ledger.half_lives(), 2);
  ledger.AddChunks(-10);
  EXPECT_EQ(ledger.HalfLifeLookups(), 2048);
}

TEST(LoadLedger, ACountLosesHalfOfItsWeightWithEachHalfLife) {
  LoadLedger ledger;
  const auto length = static_cast<double>(ledger.HalfLifeLookups());
  const LoadLedger::Moment start = ledger.Now();
  EXPECT_EQ(ledger.WeightSince(start), 0);
  ledger.CountLookups(100, Answer::kMaybe, kCost);
  EXPECT_EQ(ledger.WeightSince(start), 100);
  EXPECT_EQ(ledger.WeightSince(ledger.Now()), 0);
  ledger.CountLookups(ledger.HalfLifeLookups() - 100, Answer::kMaybe, kCost);
  EXPECT_EQ(ledger.WeightSince(start), length / 2);
  ledger.CountLookups(48, Answer::kMaybe, kCost);
  EXPECT_EQ(ledger.WeightSince(start), length / 2 + 48);
  ledger.CountLookups(ledger.HalfLifeLookups() - 48, Answer::kMaybe, kCost);
  EXPECT_EQ(ledger.WeightSince(start), length * 3 / 4);
  for (int i = 0; i < 100; ++i) {
    ledger.CountLookups(ledger.HalfLifeLookups(), Answer::kMaybe, kCost);
  }
  EXPECT_EQ(ledger.WeightSince(start), length);
}

TEST(LoadLedgerThreads, LosesNoCount) {
  constexpr int kThreads = 8;
  constexpr uint64_t kRounds = 5000;
  LoadLedger ledger;
  LoadLedger granted;
  testing::RunThreads(kThreads, [&](int) {
    for (uint64_t i = 0; i < kRounds; ++i) {
      ledger.CountLookups(8, Answer::kNo, 100);
      ledger.CountLookups(8, Answer::kNotInMemory, 100);
      ledger.CountLoad(3);
      ledger.AddChunks(2);
      ledger.AddChunks(-1);
      granted.GrantUpTo(i);
    }
  });
  EXPECT_EQ(ledger.lookups(), kThreads * kRounds * 16);
  EXPECT_EQ(ledger.misses(), kThreads * kRounds * 8);
  EXPECT_EQ(ledger.loaded_bytes(), kThreads * kRounds * 3);
  EXPECT_EQ(ledger.chunk_count(), kThreads * kRounds);
  EXPECT_EQ(granted.balance_bytes(), kRounds - 1);
}

}  // namespace
}  // namespace rowbloom::internal::cache
