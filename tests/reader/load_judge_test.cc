// SPDX-License-Identifier: Apache-2.0

#include "reader/load_judge.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "cache/load_rules.h"
#include "gtest/gtest.h"
#include "reader/resident_chunk.h"
#include "rowbloom/filter.h"
#include "testing/keys.h"

namespace rowbloom::internal::reader {
namespace {

using cache::LoadRules;

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

// The rules for loads, each at its own value: half a percent on both sides.
class LoadRulesTest : public LoadJudgeTest {
 protected:
  LoadRulesTest() {
    blocked_ = Describe("blocked_bloom");
    compact_ = Describe("compact");
  }
  static FilterDescriptor Describe(std::string_view family) {
    const auto builder = NewFilterBuilder(FilterSpec::BitsPerKey(family, 12));
    testing::Random random(4);
    for (const KeyDigest digest : testing::RandomDigests(&random, 20000)) {
      builder->Add(digest);
    }
    return builder->Finish().descriptor;
  }
  static cache::Room Unlimited() { return {kAll, kAll, 0}; }
  // A price at which the chunk is worth `factor` times its memory.
  cache::Room RoomAtWorth(double factor) const {
    const auto charge =
        static_cast<double>(ResidentChunk::ChargeBytes(blocked_, 1));
    return {0, kAll,
            judge_.AbsentRate(0) * judge_.cost_bytes() / (charge * factor)};
  }
  static constexpr size_t kAll = std::numeric_limits<size_t>::max();
  FilterDescriptor blocked_;
  FilterDescriptor compact_;
};

TEST_F(LoadRulesTest, AChunkIsLoadedForOnePointFourTimesTheMemoryItEvicts) {
  ledger_->GrantUpTo(1 << 30);
  judge_.CountSample(0, Answer::kNo);
  EXPECT_EQ(judge_.StepsToLoad({0, &blocked_, RoomAtWorth(1.395)}, 0), 0u);
  EXPECT_EQ(judge_.StepsToLoad({0, &blocked_, RoomAtWorth(1.405)}, 0), 1u);
}

TEST_F(LoadRulesTest, AnIncreaseIsWorthOnePointFourTimesItsMemory) {
  ledger_->GrantUpTo(1 << 30);
  judge_.CountSample(0, Answer::kNo);
  const uint32_t all = FilterSteps(compact_);
  const auto charge =
      static_cast<double>(ResidentChunk::ChargeBytes(compact_, all));
  // Step s saves 2^-s of the reads: 8 steps pay, and a ninth does not.
  const auto room = [&](double factor) {
    return cache::Room{0, kAll,
                       judge_.AbsentRate(0) * judge_.cost_bytes() * all /
                           (charge * factor * 256)};
  };
  EXPECT_EQ(judge_.StepsToLoad({0, &compact_, room(1.395)}, 0), 7u);
  EXPECT_EQ(judge_.StepsToLoad({0, &compact_, room(1.405)}, 0), 8u);
}

TEST_F(LoadRulesTest, AfterTheGrantsAChunkIsLoadedOnceHalfOfItIsWasted) {
  const auto load_bytes = static_cast<double>(blocked_.total_size_bytes());
  for (const double share : {0.495, 0.505}) {
    const auto ledger = std::make_shared<cache::LoadLedger>();
    ledger->CountLookups(1 << 20, Answer::kNo, 4096);  // Loads are covered.
    EXPECT_FALSE(ledger->WithinGrants());
    LoadJudge judge(ledger, 1,
                    static_cast<uint64_t>(share * load_bytes / kSample));
    judge.CountSample(0, Answer::kNo);
    ASSERT_TRUE(ledger->MayLoad());
    EXPECT_EQ(judge.StepsToLoad({0, &blocked_, Unlimited()}, 0),
              share < 0.5 ? 0u : 1u);
  }
}

TEST_F(LoadRulesTest, WithinTheGrantsAChunkIsLoadedAtOnce) {
  ledger_->GrantUpTo(1);
  EXPECT_EQ(judge_.StepsToLoad({0, &blocked_, Unlimited()}, 0), 1u);
  ledger_->CountLoad(1);
  EXPECT_EQ(judge_.StepsToLoad({0, &blocked_, Unlimited()}, 0), 0u);
}

TEST_F(LoadRulesTest, MoreStepsPayForTheirReadWithinFourHalfLives) {
  const uint32_t all = FilterSteps(compact_);
  ASSERT_GT(all, 8u);
  const auto new_bytes =
      static_cast<double>(compact_.total_size_bytes() -
                          FilterAtStep(compact_, 8).total_size_bytes());
  // These steps save so many data reads in one half-life.
  const double saves = kSample * SavedBySteps(compact_, 8, all);
  for (const double half_lives : {4.02, 3.98}) {
    const auto ledger = std::make_shared<cache::LoadLedger>();
    ledger->GrantUpTo(1 << 30);
    LoadJudge judge(ledger, 1,
                    static_cast<uint64_t>(new_bytes / (saves * half_lives)));
    judge.CountSample(0, Answer::kNo);
    EXPECT_EQ(judge.StepsToGrow({0, &compact_, Unlimited()}, 8, 0),
              half_lives > 4 ? 8u : all);
  }
}

TEST_F(LoadRulesTest, TheLedgerIsAskedBeforeEachLoad) {
  judge_.CountSample(0, Answer::kMaybe);
  ledger_->CountLoad(1 << 20);
  for (int i = 0; i < 100; ++i) judge_.CountSample(0, Answer::kNo);
  // Other loads of a batch have spent it.
  EXPECT_GT(judge_.StepsToGrow({0, &compact_, Unlimited()}, 8, 0), 8u);
  EXPECT_EQ(judge_.StepsToGrow({0, &compact_, Unlimited()}, 8, 1 << 30), 8u);
  ledger_->CountLoad(1 << 30);
  EXPECT_EQ(judge_.StepsToLoad({0, &blocked_, Unlimited()}, 0), 0u);
  EXPECT_EQ(judge_.StepsToGrow({0, &compact_, Unlimited()}, 8, 0), 8u);
}

TEST_F(LoadRulesTest, ALedgerMayHaveOthers) {
  LoadRules rules;
  rules.ask_ledger = false;
  rules.wasted_share = 0;
  const LoadJudge judge(std::make_shared<cache::LoadLedger>(rules), 1, 4096);
  EXPECT_EQ(judge.StepsToLoad({0, &blocked_, Unlimited()}, 0), 1u);
}

// All of them, for whoever changes one: bench/results/reader_ablation.md.
TEST(LoadRules, HaveTheValuesThatWereMeasured) {
  EXPECT_TRUE(kRules.ask_ledger);
  EXPECT_EQ(kRules.max_loss, 0.01);
  EXPECT_EQ(kRules.slack_bytes, 256 << 10);
  EXPECT_TRUE(kRules.fill_cache_at_once);
  EXPECT_EQ(kRules.wasted_share, 0.5);
  EXPECT_EQ(kRules.hysteresis, 1.4);
  EXPECT_EQ(kRules.half_life_lookups, 2048u);
  EXPECT_EQ(kRules.payback_half_lives, 4);
  EXPECT_EQ(kRules.declined_pause, 16u);
  EXPECT_EQ(LoadRules::kSampleInterval, 16u);
  EXPECT_EQ(LoadRules::kCandidates, 32u);
  EXPECT_EQ(LoadRules::kLoadingPause, 1u << 16);
  EXPECT_EQ(LoadRules::kMaxFailures, 8u);
  EXPECT_EQ(LoadRules::kPrefetchedAtOnceBytes, 4u << 20);
}

}  // namespace
}  // namespace rowbloom::internal::reader
