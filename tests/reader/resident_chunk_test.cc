// SPDX-License-Identifier: Apache-2.0

#include "reader/resident_chunk.h"

#include <atomic>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "rowbloom/filter.h"
#include "testing/keys.h"

namespace rowbloom::reader {
namespace {

using Answer = LoadPolicy::Answer;

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
      std::shared_ptr<const LoadPolicy> policy) const {
    const FilterDescriptor cut = FilterAtStep(filter.descriptor, steps);
    const std::vector<std::string_view> stored = filter.UnitViews();
    UnitPtrs units;
    for (uint32_t u = 0; u < cut.unit_count; ++u) {
      auto unit = std::make_shared<UnitBuffer>(cut.unit_size_bytes[u]);
      CopyUnitAtStep(filter.descriptor, steps, u, stored[u], unit->bytes());
      units[u] = std::move(unit);
    }
    auto chunk =
        ResidentChunk::Make({100, filter.descriptor, block_}, steps, units,
                            Kernel::kBest, std::move(policy), 0);
    EXPECT_TRUE(chunk.ok()) << chunk.status();
    return *std::move(chunk);
  }

  void ExpectNothingLost(const ResidentChunk& chunk) const {
    for (const KeyDigest digest : digests_) {
      ASSERT_TRUE(chunk.version().view.MayContain(digest));
    }
  }

  const SharedBlockIdentity block_ = std::make_shared<std::atomic<uint64_t>>(1);
  std::vector<KeyDigest> digests_;
  EncodedFilter compact_;
  uint32_t all_ = 0;
  std::shared_ptr<LoadPolicy> policy_ = std::make_shared<LoadPolicy>(
      std::make_shared<cache::LoadLedger>(), 1, 4096);
};

TEST_F(ResidentChunkTest, ShrinksByItsLastUnitUntilOneIsLeft) {
  ASSERT_GT(all_, 8u);
  const auto chunk = Make(compact_, all_, policy_);
  const size_t charge = ResidentChunk::ChargeBytes(compact_.descriptor, all_);
  std::vector<uint32_t> steps = {chunk->version().steps};
  size_t freed = 0;
  std::vector<std::unique_ptr<FilterCache::Value>> parts;
  while (true) {
    size_t bytes = 1;
    auto part = chunk->Shrink(&bytes);
    if (part == nullptr) {
      EXPECT_EQ(bytes, 0u);
      break;
    }
    EXPECT_GT(bytes, 0u);
    freed += bytes;
    EXPECT_EQ(charge - freed, ResidentChunk::ChargeBytes(
                                  compact_.descriptor, chunk->version().steps));
    steps.push_back(chunk->version().steps);
    parts.push_back(std::move(part));
    ExpectNothingLost(*chunk);
  }
  EXPECT_EQ(steps, (std::vector<uint32_t>{all_, 8, 4}));
  parts.clear();
  ExpectNothingLost(*chunk);
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
  for (int i = 0; i < 10; ++i) policy_->CountSample(0, Answer::kNo);
  const double saves = policy_->AbsentRate(0) * policy_->cost_bytes();
  const auto charge = [&](uint32_t steps) {
    return static_cast<double>(
        ResidentChunk::ChargeBytes(compact_.descriptor, steps));
  };
  const auto chunk = Make(compact_, 8, policy_);
  EXPECT_DOUBLE_EQ(chunk->Worth(),
                   saves * (1.0 / 16 - 1.0 / 256) / (charge(8) - charge(4)));
  size_t bytes = 0;
  const auto part = chunk->Shrink(&bytes);
  EXPECT_DOUBLE_EQ(chunk->Worth(), saves * (1 - 1.0 / 16) / charge(4));
  // A filter of one unit is worth all that it saves.
  const EncodedFilter blocked = Build("blocked_bloom");
  const auto other = Make(blocked, 1, policy_);
  EXPECT_DOUBLE_EQ(other->Worth(),
                   saves / static_cast<double>(ResidentChunk::ChargeBytes(
                               blocked.descriptor, 1)));
}

TEST_F(ResidentChunkTest, WithoutAPolicyItStaysWhole) {
  const auto chunk = Make(compact_, all_, nullptr);
  EXPECT_EQ(chunk->Worth(), cache::ChunkValue::kUnknownWorth);
  size_t bytes = 0;
  EXPECT_EQ(chunk->Shrink(&bytes), nullptr);
}

TEST_F(ResidentChunkTest, AFamilyWithoutStepsDoesNotShrink) {
  for (const char* family : {"blocked_bloom", "fast", "always_maybe"}) {
    const EncodedFilter filter = Build(family);
    const auto chunk = Make(filter, FilterSteps(filter.descriptor), policy_);
    size_t bytes = 0;
    EXPECT_EQ(chunk->Shrink(&bytes), nullptr) << family;
    EXPECT_GE(chunk->Worth(), 0) << family;
    ExpectNothingLost(*chunk);
  }
}

TEST_F(ResidentChunkTest, AnotherReadersPolicyMakesItShrink) {
  const auto chunk = Make(compact_, 8, nullptr);
  chunk->set_policy(policy_);
  EXPECT_GE(chunk->Worth(), 0);
  size_t bytes = 0;
  chunk->Shrink(&bytes).reset();
  EXPECT_EQ(chunk->version().steps, 4u);
  ExpectNothingLost(*chunk);
}

TEST_F(ResidentChunkTest, ItsUnitsLieOnCacheLines) {
  for (const size_t size : {0, 1, 100, 4096}) {
    UnitBuffer unit(size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(unit.bytes()) % 64, 0u);
    EXPECT_EQ(unit.view().size(), size);
  }
}

}  // namespace
}  // namespace rowbloom::reader
