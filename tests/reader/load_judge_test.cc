// SPDX-License-Identifier: Apache-2.0

#include "reader/load_judge.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "cache/chunk_cache.h"
#include "cache/load_ledger.h"
#include "gtest/gtest.h"
#include "reader/resident_chunk.h"
#include "rowbloom/filter.h"
#include "testing/keys.h"

namespace rowbloom::reader {
namespace {

using Answer = FilterAnswer;

constexpr double kSample = LoadRules::kSampleInterval;
constexpr LoadRules kRules;

class LoadJudgeTest : public ::testing::Test {
 protected:
  void EndHalfLife() {
    ledger_->CountLookups(ledger_->HalfLifeLookups(), Answer::kMaybe, 0);
  }

  std::shared_ptr<cache::LoadLedger> ledger_ =
      std::make_shared<cache::LoadLedger>();
  LoadJudge judge_{ledger_, 4, 4096};
};

TEST_F(LoadJudgeTest, KeepsItsLedgerAlive) {
  const std::weak_ptr<cache::LoadLedger> ledger = ledger_;
  ledger_.reset();  // The cache has gone.
  judge_.CountSample(1, Answer::kNo);
  ASSERT_FALSE(ledger.expired());
  EXPECT_EQ(ledger.lock()->chunk_count(), 4);
}

TEST_F(LoadJudgeTest, TheLedgerCountsItsChunksAsLongAsItLives) {
  EXPECT_EQ(ledger_->chunk_count(), 4);
  {
    const LoadJudge other(ledger_, 10, 4096);
    EXPECT_EQ(ledger_->chunk_count(), 14);
  }
  EXPECT_EQ(ledger_->chunk_count(), 4);
}

TEST_F(LoadJudgeTest, ASampleCountsForItsIntervalByChunk) {
  judge_.CountSample(1, Answer::kNo);
  judge_.CountSample(1, Answer::kNo);
  judge_.CountSample(2, Answer::kMaybe);
  EXPECT_EQ(judge_.AbsentLookups(0), 0);
  EXPECT_EQ(judge_.AbsentLookups(1), 2 * kSample);
  EXPECT_EQ(judge_.AbsentLookups(2), 0);
  EXPECT_EQ(ledger_->lookups(), 3 * kSample);
  // The income is what two samples saved, and 1% of the cost of all three.
  EXPECT_NEAR(static_cast<double>(ledger_->balance_bytes()),
              (2 + 3 * kRules.max_loss) * kSample * 4096, 3);
}

TEST_F(LoadJudgeTest, UnloadedLookupsCountByTheKnownShareOfAbsentKeys) {
  judge_.CountSample(0, Answer::kNotInMemory);  // All, as nothing is known yet.
  EXPECT_EQ(judge_.AbsentLookups(0), kSample);
  for (int i = 0; i < 3; ++i) judge_.ReportOutcome(true);
  judge_.CountSample(1, Answer::kNotInMemory);
  EXPECT_EQ(judge_.AbsentLookups(1), kSample / 4);
  for (int i = 0; i < 2; ++i) judge_.ReportOutcome(false);
  judge_.CountSample(2, Answer::kNotInMemory);
  EXPECT_EQ(judge_.AbsentLookups(2), kSample / 2);
}

TEST_F(LoadJudgeTest, ACountLosesHalfWithEachHalfLife) {
  for (int i = 0; i < 8; ++i) judge_.CountSample(0, Answer::kNo);
  for (double expected = 8 * kSample; expected >= 1; expected /= 2) {
    EXPECT_EQ(judge_.AbsentLookups(0), expected);
    EndHalfLife();
  }
  for (int i = 0; i < 100; ++i) EndHalfLife();
  EXPECT_EQ(judge_.AbsentLookups(0), 0);
  judge_.CountSample(0, Answer::kNo);
  EXPECT_EQ(judge_.AbsentLookups(0), kSample);
}

TEST_F(LoadJudgeTest, ARateIsAShareOfAllLookupsSinceTheFileWasOpened) {
  EXPECT_EQ(judge_.AbsentRate(0), 0);
  judge_.CountSample(0, Answer::kNo);
  EXPECT_DOUBLE_EQ(judge_.AbsentRate(0), 1);
  ledger_->CountLookups(1000, Answer::kMaybe, 4096);  // Another file.
  EXPECT_DOUBLE_EQ(judge_.AbsentRate(0), kSample / (1000 + kSample));
  EXPECT_EQ(judge_.AbsentRate(1), 0);
}

TEST_F(LoadJudgeTest, TheCostIsAMovingAverage) {
  EXPECT_EQ(judge_.cost_bytes(), 4096);
  judge_.ReportCost(4096);
  EXPECT_EQ(judge_.cost_bytes(), 4096);
  judge_.ReportCost(20480);
  EXPECT_EQ(judge_.cost_bytes(), 5120);
  for (int i = 0; i < 1000; ++i) judge_.ReportCost(16384);
  EXPECT_NEAR(judge_.cost_bytes(), 16384, 16);
  judge_.ReportCost(~uint64_t{0});
  judge_.ReportCost(~uint64_t{0});
  EXPECT_GT(judge_.cost_bytes(), 1e18);
  judge_.CountSample(0, Answer::kNo);  // It overflows no balance.
  EXPECT_EQ(ledger_->balance_bytes(), kRules.slack_bytes);
}

TEST_F(LoadJudgeTest, OldOutcomesFade) {
  for (int i = 0; i < 1 << 19; ++i) judge_.ReportOutcome(true);
  for (int i = 0; i < 1 << 18; ++i) judge_.CountSample(0, Answer::kNo);
  // 2^22 absent lookups followed; with all 2^19 present ones, 14 of 16 would be
  // absent.
  judge_.CountSample(1, Answer::kNotInMemory);
  EXPECT_GE(judge_.AbsentLookups(1), 15);
}

}  // namespace
}  // namespace rowbloom::reader
