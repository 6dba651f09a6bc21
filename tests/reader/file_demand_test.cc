// SPDX-License-Identifier: Apache-2.0

#include "reader/file_demand.h"

#include <cstdint>
#include <memory>

#include "base/epoch.h"
#include "gtest/gtest.h"
#include "rowbloom/filter_ledger.h"
#include "stats/file_counters.h"

namespace rowbloom::reader {
namespace {

using Answer = FileDemand::Answer;

constexpr double kSample = stats::kSampleInterval;

class FileDemandTest : public ::testing::Test {
 protected:
  void EndEra() { ledger_->CountLookups(ledger_->era_length(), 0, 0); }

  std::shared_ptr<FilterLedger> ledger_ = std::make_shared<FilterLedger>();
  FileDemand demand_{ledger_, 4, 4096};
};

TEST_F(FileDemandTest, KeepsItsLedgerAlive) {
  const std::weak_ptr<FilterLedger> ledger = ledger_;
  ledger_.reset();  // The cache has gone.
  demand_.CountSample(1, Answer::kNo);
  ASSERT_FALSE(ledger.expired());
  EXPECT_EQ(ledger.lock()->chunk_count(), 4);
}

TEST_F(FileDemandTest, ItsChunksAreTheLedgersAsLongAsItLives) {
  EXPECT_EQ(ledger_->chunk_count(), 4);
  {
    const FileDemand other(ledger_, 10, 4096);
    EXPECT_EQ(ledger_->chunk_count(), 14);
  }
  EXPECT_EQ(ledger_->chunk_count(), 4);
  EXPECT_FALSE(demand_.closed());
  demand_.Close();
  EXPECT_TRUE(demand_.closed());
  EXPECT_EQ(ledger_->chunk_count(), 4);
}

TEST_F(FileDemandTest, ASampleCountsForItsIntervalByChunk) {
  demand_.CountSample(1, Answer::kNo);
  demand_.CountSample(1, Answer::kNo);
  demand_.CountSample(2, Answer::kMaybe);
  EXPECT_EQ(demand_.AbsentLookups(0), 0);
  EXPECT_EQ(demand_.AbsentLookups(1), 2 * kSample);
  EXPECT_EQ(demand_.AbsentLookups(2), 0);
  const FilterLedger::Totals totals = ledger_->GetTotals();
  EXPECT_EQ(totals.lookups, 3 * kSample);
  EXPECT_EQ(totals.unfiltered_bytes, 3 * kSample * 4096);
  EXPECT_EQ(totals.saved_bytes, 2 * kSample * 4096);
}

TEST_F(FileDemandTest, WithoutAFilterKeysAreAbsentAsOftenAsIsKnown) {
  demand_.CountSample(0, Answer::kUnloaded);  // All, until something is known.
  EXPECT_EQ(demand_.AbsentLookups(0), kSample);
  for (int i = 0; i < 3; ++i) demand_.TellOutcome(true);
  demand_.CountSample(1, Answer::kUnloaded);
  EXPECT_EQ(demand_.AbsentLookups(1), kSample / 4);
  for (int i = 0; i < 2; ++i) demand_.TellOutcome(false);
  demand_.CountSample(2, Answer::kUnloaded);
  EXPECT_EQ(demand_.AbsentLookups(2), kSample / 2);
}

TEST_F(FileDemandTest, ACountLosesHalfWithEachEra) {
  for (int i = 0; i < 8; ++i) demand_.CountSample(0, Answer::kNo);
  for (double expected = 8 * kSample; expected >= 1; expected /= 2) {
    EXPECT_EQ(demand_.AbsentLookups(0), expected);
    EndEra();
  }
  for (int i = 0; i < 100; ++i) EndEra();
  EXPECT_EQ(demand_.AbsentLookups(0), 0);
  demand_.CountSample(0, Answer::kNo);
  EXPECT_EQ(demand_.AbsentLookups(0), kSample);
}

TEST_F(FileDemandTest, ARateIsOfAllLookupsAndDoubtedAtFirst) {
  const double doubt = 32 * 4;
  demand_.CountSample(0, Answer::kNo);
  EXPECT_DOUBLE_EQ(demand_.AbsentRate(0), kSample / (kSample + doubt));
  ledger_->CountLookups(1000, 0, 4096);  // Of another file.
  EXPECT_DOUBLE_EQ(demand_.AbsentRate(0), kSample / (1000 + kSample + doubt));
  EXPECT_EQ(demand_.AbsentRate(1), 0);
}

TEST_F(FileDemandTest, TheCostIsAMovingAverage) {
  EXPECT_EQ(demand_.cost_bytes(), 4096);
  demand_.TellCost(4096);
  EXPECT_EQ(demand_.cost_bytes(), 4096);
  demand_.TellCost(20480);
  EXPECT_EQ(demand_.cost_bytes(), 5120);
  for (int i = 0; i < 1000; ++i) demand_.TellCost(16384);
  EXPECT_NEAR(demand_.cost_bytes(), 16384, 16);
  demand_.TellCost(~uint64_t{0});
  demand_.TellCost(~uint64_t{0});
  EXPECT_GT(demand_.cost_bytes(), 1e18);
  demand_.CountSample(0, Answer::kNo);  // Overflows no balance.
  EXPECT_EQ(ledger_->GetTotals().balance_bytes, FilterLedger::kSlackBytes);
}

// Both kinds, however they were learnt.
TEST_F(FileDemandTest, OldOutcomesFade) {
  for (int i = 0; i < 1 << 19; ++i) demand_.TellOutcome(true);
  for (int i = 0; i < 1 << 18; ++i) demand_.CountSample(0, Answer::kNo);
  // 2^22 absent ones since; with 2^19 present ones 14 of 16 would be absent.
  demand_.CountSample(1, Answer::kUnloaded);
  EXPECT_GE(demand_.AbsentLookups(1), 15);
}

}  // namespace
}  // namespace rowbloom::reader
