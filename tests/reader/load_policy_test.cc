// SPDX-License-Identifier: Apache-2.0

#include "reader/load_policy.h"

#include <cstdint>
#include <memory>

#include "cache/load_ledger.h"
#include "gtest/gtest.h"
#include "reader/file_counters.h"

namespace rowbloom::reader {
namespace {

using Answer = LoadPolicy::Answer;

constexpr double kSample = reader::kSampleInterval;

class LoadPolicyTest : public ::testing::Test {
 protected:
  void EndHalfLife() {
    ledger_->CountLookups(ledger_->HalfLifeLookups(), Answer::kMaybe, 0);
  }

  std::shared_ptr<cache::LoadLedger> ledger_ =
      std::make_shared<cache::LoadLedger>();
  LoadPolicy policy_{ledger_, 4, 4096};
};

TEST_F(LoadPolicyTest, KeepsItsLedgerAlive) {
  const std::weak_ptr<cache::LoadLedger> ledger = ledger_;
  ledger_.reset();  // The cache has gone.
  policy_.CountSample(1, Answer::kNo);
  ASSERT_FALSE(ledger.expired());
  EXPECT_EQ(ledger.lock()->chunk_count(), 4);
}

TEST_F(LoadPolicyTest, TheLedgerCountsItsChunksAsLongAsItLives) {
  EXPECT_EQ(ledger_->chunk_count(), 4);
  {
    const LoadPolicy other(ledger_, 10, 4096);
    EXPECT_EQ(ledger_->chunk_count(), 14);
  }
  EXPECT_EQ(ledger_->chunk_count(), 4);
}

TEST_F(LoadPolicyTest, ASampleCountsForItsIntervalByChunk) {
  policy_.CountSample(1, Answer::kNo);
  policy_.CountSample(1, Answer::kNo);
  policy_.CountSample(2, Answer::kMaybe);
  EXPECT_EQ(policy_.AbsentLookups(0), 0);
  EXPECT_EQ(policy_.AbsentLookups(1), 2 * kSample);
  EXPECT_EQ(policy_.AbsentLookups(2), 0);
  EXPECT_EQ(ledger_->lookups(), 3 * kSample);
  // The income is what two samples saved, and 1% of the cost of all three.
  EXPECT_NEAR(static_cast<double>(ledger_->balance_bytes()),
              (2 + 3 * cache::LoadLedger::kMaxLoss) * kSample * 4096, 3);
}

TEST_F(LoadPolicyTest, UnloadedLookupsCountByTheKnownShareOfAbsentKeys) {
  policy_.CountSample(0, Answer::kUnloaded);  // All, as nothing is known yet.
  EXPECT_EQ(policy_.AbsentLookups(0), kSample);
  for (int i = 0; i < 3; ++i) policy_.ReportOutcome(true);
  policy_.CountSample(1, Answer::kUnloaded);
  EXPECT_EQ(policy_.AbsentLookups(1), kSample / 4);
  for (int i = 0; i < 2; ++i) policy_.ReportOutcome(false);
  policy_.CountSample(2, Answer::kUnloaded);
  EXPECT_EQ(policy_.AbsentLookups(2), kSample / 2);
}

TEST_F(LoadPolicyTest, ACountLosesHalfWithEachHalfLife) {
  for (int i = 0; i < 8; ++i) policy_.CountSample(0, Answer::kNo);
  for (double expected = 8 * kSample; expected >= 1; expected /= 2) {
    EXPECT_EQ(policy_.AbsentLookups(0), expected);
    EndHalfLife();
  }
  for (int i = 0; i < 100; ++i) EndHalfLife();
  EXPECT_EQ(policy_.AbsentLookups(0), 0);
  policy_.CountSample(0, Answer::kNo);
  EXPECT_EQ(policy_.AbsentLookups(0), kSample);
}

TEST_F(LoadPolicyTest, ARateIsAShareOfAllLookupsSinceTheFileWasOpened) {
  EXPECT_EQ(policy_.AbsentRate(0), 0);
  policy_.CountSample(0, Answer::kNo);
  EXPECT_DOUBLE_EQ(policy_.AbsentRate(0), 1);
  ledger_->CountLookups(1000, Answer::kMaybe, 4096);  // Another file.
  EXPECT_DOUBLE_EQ(policy_.AbsentRate(0), kSample / (1000 + kSample));
  EXPECT_EQ(policy_.AbsentRate(1), 0);
}

TEST_F(LoadPolicyTest, TheCostIsAMovingAverage) {
  EXPECT_EQ(policy_.cost_bytes(), 4096);
  policy_.ReportCost(4096);
  EXPECT_EQ(policy_.cost_bytes(), 4096);
  policy_.ReportCost(20480);
  EXPECT_EQ(policy_.cost_bytes(), 5120);
  for (int i = 0; i < 1000; ++i) policy_.ReportCost(16384);
  EXPECT_NEAR(policy_.cost_bytes(), 16384, 16);
  policy_.ReportCost(~uint64_t{0});
  policy_.ReportCost(~uint64_t{0});
  EXPECT_GT(policy_.cost_bytes(), 1e18);
  policy_.CountSample(0, Answer::kNo);  // It overflows no balance.
  EXPECT_EQ(ledger_->balance_bytes(), cache::LoadLedger::kSlackBytes);
}

TEST_F(LoadPolicyTest, OldOutcomesFade) {
  for (int i = 0; i < 1 << 19; ++i) policy_.ReportOutcome(true);
  for (int i = 0; i < 1 << 18; ++i) policy_.CountSample(0, Answer::kNo);
  // 2^22 absent lookups followed; with all 2^19 present ones, 14 of 16 would be
  // absent.
  policy_.CountSample(1, Answer::kUnloaded);
  EXPECT_GE(policy_.AbsentLookups(1), 15);
}

}  // namespace
}  // namespace rowbloom::reader
