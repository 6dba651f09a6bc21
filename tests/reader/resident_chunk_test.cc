// SPDX-License-Identifier: Apache-2.0

#include "reader/resident_chunk.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cache/chunk_memory.h"
#include "gtest/gtest.h"
#include "reader/load_judge.h"
#include "rowbloom/filter.h"
#include "testing/keys.h"

namespace rowbloom::internal::reader {
namespace {

class ResidentChunkTest : public ::testing::Test {
 protected:
  ResidentChunkTest() {
    testing::Random random(5);
    digests_ = testing::RandomDigests(&random, 3000);
    compact_ = Build("compact");
    all_ = FilterSteps(compact_.descriptor);
  }

  EncodedFilter Build(std::string_view family) const {
    const auto builder = NewFilterBuilder(FilterSpec::BitsPerKey(family, 11));
    for (const KeyDigest digest : digests_) builder->Add(digest);
    return builder->Finish();
  }

  std::unique_ptr<ResidentChunk> Make(
      const EncodedFilter& filter, uint32_t steps,
      std::shared_ptr<const LoadJudge> judge) const {
    const FilterDescriptor cut = FilterAtStep(filter.descriptor, steps);
    const std::vector<std::string_view> stored = filter.UnitViews();
    UnitPtrs units;
    for (uint32_t u = 0; u < cut.unit_count; ++u) {
      auto unit =
          std::make_shared<cache::ChunkBytes>(cut.unit_size_bytes[u], nullptr);
      CopyUnitAtStep(filter.descriptor, steps, u, stored[u], unit->bytes());
      units[u] = std::move(unit);
    }
    auto chunk = ResidentChunk::Make(filter.descriptor, steps, units, {1},
                                     Kernel::kBest, std::move(judge), 0);
    EXPECT_TRUE(chunk.ok()) << chunk.status();
    return *std::move(chunk);
  }

  static std::unique_ptr<ResidentChunk> ShrunkOf(const ResidentChunk& chunk,
                                                 size_t* freed_bytes) {
    return std::unique_ptr<ResidentChunk>(
        static_cast<ResidentChunk*>(chunk.Shrunk(freed_bytes).release()));
  }
  void ExpectNothingLost(const ResidentChunk& chunk) const {
    for (const KeyDigest digest : digests_) {
      ASSERT_TRUE(chunk.view().MayContain(digest));
    }
  }

  std::vector<KeyDigest> digests_;
  EncodedFilter compact_;
  uint32_t all_ = 0;
  std::shared_ptr<LoadJudge> judge_ = std::make_shared<LoadJudge>(
      std::make_shared<cache::LoadLedger>(), 1, 4096);
};

TEST_F(ResidentChunkTest, ShrinksByItsLastUnitUntilOneIsLeft) {
  ASSERT_GT(all_, 8u);
  std::unique_ptr<ResidentChunk> chunk = Make(compact_, all_, judge_);
  const size_t charge = ResidentChunk::ChargeBytes(compact_.descriptor, all_);
  std::vector<uint32_t> steps = {chunk->steps()};
  size_t freed = 0;
  while (true) {
    size_t bytes = 0;
    std::unique_ptr<ResidentChunk> smaller = ShrunkOf(*chunk, &bytes);
    EXPECT_EQ(chunk->steps(), steps.back());  // It stays as it was.
    ExpectNothingLost(*chunk);
    if (smaller == nullptr) break;
    EXPECT_GT(bytes, 0u);
    freed += bytes;
    EXPECT_EQ(charge - freed, ResidentChunk::ChargeBytes(compact_.descriptor,
                                                         smaller->steps()));
    steps.push_back(smaller->steps());
    chunk = std::move(smaller);  // The units that they share stay.
    ExpectNothingLost(*chunk);
  }
  EXPECT_EQ(steps, (std::vector<uint32_t>{all_, 8, 4}));
}

TEST_F(ResidentChunkTest, SharesTheUnitsThatAreLeft) {
  const auto chunk = Make(compact_, all_, judge_);
  size_t bytes = 0;
  const auto smaller = ShrunkOf(*chunk, &bytes);
  ASSERT_NE(smaller, nullptr);
  EXPECT_EQ(smaller->units()[0], chunk->units()[0]);
  EXPECT_EQ(smaller->units()[1], chunk->units()[1]);
  EXPECT_NE(chunk->units()[2], nullptr);
  EXPECT_EQ(smaller->units()[2], nullptr);
}

TEST_F(ResidentChunkTest, ChargesTheBytesOfItsUnitsAndOfItself) {
  for (uint32_t steps = 1; steps <= all_; ++steps) {
    const FilterDescriptor cut = FilterAtStep(compact_.descriptor, steps);
    const size_t charge =
        ResidentChunk::ChargeBytes(compact_.descriptor, steps);
    EXPECT_GT(charge, cut.total_size_bytes() + sizeof(ResidentChunk));
    EXPECT_LT(charge, cut.total_size_bytes() + 2048);
    if (steps > 1) {
      EXPECT_GT(charge,
                ResidentChunk::ChargeBytes(compact_.descriptor, steps - 1));
    }
  }
}

TEST_F(ResidentChunkTest, IsWorthWhatItsLastUnitSavesForEachByte) {
  for (int i = 0; i < 10; ++i) judge_->CountSample(0, FilterAnswer::kNo);
  const double saves = judge_->AbsentRate(0) * judge_->cost_bytes();
  const auto charge = [&](uint32_t steps) {
    return static_cast<double>(
        ResidentChunk::ChargeBytes(compact_.descriptor, steps));
  };
  const auto chunk = Make(compact_, 8, judge_);
  EXPECT_DOUBLE_EQ(chunk->Worth(),
                   saves * (1.0 / 16 - 1.0 / 256) / (charge(8) - charge(4)));
  size_t bytes = 0;
  EXPECT_DOUBLE_EQ(ShrunkOf(*chunk, &bytes)->Worth(),
                   saves * (1 - 1.0 / 16) / charge(4));
  // A filter of one unit is worth all that it saves.
  const EncodedFilter blocked = Build("blocked_bloom");
  const auto other = Make(blocked, 1, judge_);
  EXPECT_DOUBLE_EQ(other->Worth(),
                   saves / static_cast<double>(ResidentChunk::ChargeBytes(
                               blocked.descriptor, 1)));
}

TEST_F(ResidentChunkTest, WithoutAJudgeItStaysWhole) {
  const auto chunk = Make(compact_, all_, nullptr);
  EXPECT_EQ(chunk->Worth(), cache::CachedFilter::kUnknownWorth);
  size_t bytes = 0;
  EXPECT_EQ(chunk->Shrunk(&bytes), nullptr);
}

TEST_F(ResidentChunkTest, AFamilyWithoutStepsDoesNotShrink) {
  for (const char* family : {"blocked_bloom", "fast", "always_maybe"}) {
    const EncodedFilter filter = Build(family);
    const auto chunk = Make(filter, FilterSteps(filter.descriptor), judge_);
    size_t bytes = 0;
    EXPECT_EQ(chunk->Shrunk(&bytes), nullptr) << family;
    EXPECT_GE(chunk->Worth(), 0) << family;
    ExpectNothingLost(*chunk);
  }
}

TEST_F(ResidentChunkTest, AnotherReadersJudgeMakesItShrink) {
  const auto chunk = Make(compact_, 8, nullptr);
  chunk->set_judge(judge_);
  EXPECT_GE(chunk->Worth(), 0);
  size_t bytes = 0;
  const auto smaller = ShrunkOf(*chunk, &bytes);
  EXPECT_EQ(smaller->steps(), 4u);
  EXPECT_GE(smaller->Worth(), 0);
  ExpectNothingLost(*smaller);
}

}  // namespace
}  // namespace rowbloom::internal::reader
