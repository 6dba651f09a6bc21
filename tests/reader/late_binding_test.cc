// SPDX-License-Identifier: Apache-2.0
//
// Tests that precision is bound late: memory holds as many planes of compact
// chunks as the cache has room for and the lookups are worth.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"

namespace rowbloom {
namespace {

using ::testing::Each;
using ::testing::Not;
using testing::NumberedRow;

constexpr uint64_t kLateRows = 60000;
constexpr size_t kRoomForAll = 4 << 20;

class LateBindingTest : public ::testing::Test {
 protected:
  LateBindingTest() {
    reader_ = file_.Open(testing::CachedIn(cache_));
    all_ = FilterSteps(reader_->Chunks()[0].descriptor);
    EXPECT_GT(all_, 8u);
    AskAbsent(20000);
    EXPECT_THAT(testing::LoadedSteps(*reader_), Each(all_));
  }

  // Asks for random absent rows; returns how many were "maybe".
  uint64_t AskAbsent(uint64_t lookups) {
    uint64_t positives = 0;
    for (uint64_t i = 0; i < lookups; ++i) {
      const std::string row = NumberedRow(2 * random_.Below(kLateRows) + 1);
      if (!reader_->MayContain(row)) continue;
      ++positives;
      reader_->TellOutcome(false, 4096);
    }
    return positives;
  }
  void ExpectNothingLost() const {
    testing::CountFalsePositives(*reader_, kLateRows);
  }
  // Sets the capacity that the index leaves.
  void SetRoom(size_t bytes) {
    cache_->SetCapacity(bytes + cache_->GetUsage().pinned_bytes);
  }

  testing::TestFile file_{testing::BlockOptions("compact", 12, 8192),
                          testing::EvenRows(kLateRows)};
  const std::unique_ptr<FilterCache> cache_ =
      NewShardedLruCache({kRoomForAll, 0});
  std::unique_ptr<FilterReader> reader_;
  uint32_t all_ = 0;
  testing::Random random_{8};
};

TEST_F(LateBindingTest, UnderPressureChunksKeepTheirFirstUnitsAndLoseNothing) {
  const uint64_t size = reader_->properties().filter_size_bytes;
  SetRoom(size / 2);
  const std::vector<uint32_t> steps = testing::LoadedSteps(*reader_);
  // Chunks that were whole shrink by whole units; few chunks are evicted.
  for (const uint32_t s : steps) {
    EXPECT_TRUE(s == all_ || s == 8 || s == 4 || s == 0) << s;
  }
  EXPECT_LT(std::count(steps.begin(), steps.end(), 0u),
            static_cast<int64_t>(steps.size()) / 10 + 1);
  EXPECT_GT(std::count(steps.begin(), steps.end(), 4u), 0);
  EXPECT_GT(cache_->GetUsage().shrinks, 0u);
  EXPECT_LE(cache_->GetUsage().usage_bytes, cache_->GetUsage().capacity_bytes);
  ExpectNothingLost();
  // Four planes let 1 of 16 pass.
  EXPECT_LT(AskAbsent(50000), 50000 / 8);
  ExpectNothingLost();
}

TEST_F(LateBindingTest, WhenRoomAppearsChunksGrowAtOnce) {
  const uint64_t size = reader_->properties().filter_size_bytes;
  SetRoom(size / 2);
  AskAbsent(1000);
  file_.source.Reset();
  cache_->SetCapacity(kRoomForAll);
  AskAbsent(1000000);
  EXPECT_THAT(testing::LoadedSteps(*reader_), Each(all_));
  // Each chunk is read once from its beginning, or twice.
  EXPECT_LT(file_.source.read_bytes(), 2 * size);
  ExpectNothingLost();
  EXPECT_LT(AskAbsent(50000), 50000 / 500);
}

TEST_F(LateBindingTest, BatchesReadPrecisionBackToo) {
  for (const bool of_one_reader : {true, false}) {
    SetRoom(reader_->properties().filter_size_bytes / 2);
    AskAbsent(1000);
    EXPECT_THAT(testing::LoadedSteps(*reader_), Not(Each(all_)));
    cache_->SetCapacity(kRoomForAll);
    constexpr size_t kBatch = 32;
    for (int i = 0; i < 1000000; i += kBatch) {
      std::vector<std::string> rows;
      for (size_t j = 0; j < kBatch; ++j) {
        rows.push_back(NumberedRow(2 * random_.Below(kLateRows) + 1));
      }
      const std::vector<FilterKey> keys = testing::RowKeys(rows);
      bool answers[kBatch];
      if (of_one_reader) {
        reader_->MayContain(keys, answers);
        continue;
      }
      std::vector<FilterQuestion> questions;
      for (const FilterKey& key : keys) {
        questions.push_back({reader_.get(), &key});
      }
      FilterReader::MayContain(questions, answers);
    }
    EXPECT_THAT(testing::LoadedSteps(*reader_), Each(all_));
    ExpectNothingLost();
  }
}

// Chunks with more lookups have more planes.
TEST_F(LateBindingTest, HotChunksAreMorePrecise) {
  const size_t chunks = reader_->Chunks().size();
  SetRoom(reader_->properties().filter_size_bytes / 2);
  for (int i = 0; i < 600000; ++i) {
    // 15 of 16 lookups ask for the first quarter of the rows.
    const uint64_t range = random_.Below(16) == 0 ? kLateRows : kLateRows / 4;
    const std::string row = NumberedRow(2 * random_.Below(range) + 1);
    if (reader_->MayContain(row)) {
      reader_->TellOutcome(false, 4096);
    }
  }
  const std::vector<uint32_t> steps = testing::LoadedSteps(*reader_);
  double hot = 0, cold = 0;
  for (size_t i = 0; i < chunks; ++i) (i < chunks / 4 ? hot : cold) += steps[i];
  hot /= static_cast<double>(chunks / 4);
  cold /= static_cast<double>(chunks - chunks / 4);
  EXPECT_GT(hot, cold + 1);
  ExpectNothingLost();
}

// A damaged unit costs precision only, and is not read again and again.
TEST_F(LateBindingTest, GrowthThatFailsIsTriedLessAndLessAndLosesNothing) {
  SetRoom(reader_->properties().filter_size_bytes / 2);
  const std::vector<FilterChunkInfo> chunks = reader_->Chunks();
  const std::vector<uint32_t> steps = testing::LoadedSteps(*reader_);
  const auto cut = std::find(steps.begin(), steps.end(), 4u);
  ASSERT_NE(cut, steps.end());
  const FilterChunkInfo& chunk = chunks[cut - steps.begin()];
  const uint64_t second = chunk.offset + chunk.descriptor.unit_size_bytes[0];
  file_.source.FlipBit(second, 0);
  cache_->SetCapacity(kRoomForAll);
  std::vector<std::string> absent;
  for (uint64_t i = 0; i < kLateRows; ++i) {
    const std::string row = NumberedRow(2 * i + 1);
    if (reader_->ChunkOf(FilterKey::Row(row)) == cut - steps.begin()) {
      absent.push_back(row);
    }
  }
  file_.source.Reset();
  uint64_t positives = 0;
  constexpr int kLookups = 200000;
  for (int i = 0; i < kLookups; ++i) {
    positives += reader_->MayContain(absent[random_.Below(absent.size())]);
  }
  // The chunk filters with its first unit.
  EXPECT_NEAR(positives / static_cast<double>(kLookups), 1.0 / 16, 0.01);
  EXPECT_EQ(testing::LoadedSteps(*reader_)[cut - steps.begin()], 4u);
  // Once the damage is known, one of 255 samples tries again; one lookup in 16
  // is a sample.
  const uint64_t errors = reader_->stats()[FilterCounter::kLoadErrors];
  EXPECT_GT(errors, 5u);
  EXPECT_LT(errors, 100u);
  EXPECT_EQ(file_.source.read_count(), errors);
  EXPECT_EQ(reader_->stats()[FilterCounter::kUnloaded], 0u);
  file_.source.Heal();
  for (int i = 0; i < kLookups; ++i) {
    reader_->MayContain(absent[random_.Below(absent.size())]);
  }
  EXPECT_EQ(testing::LoadedSteps(*reader_)[cut - steps.begin()], all_);
  ExpectNothingLost();
}

// If a chunk is loaded at once with all steps, a damaged unit costs all of it.
TEST_F(LateBindingTest, AChunkThatIsLoadedWithADamagedUnitAnswersMaybe) {
  const FilterChunkInfo chunk = reader_->Chunks()[0];
  cache_->EraseFile(reader_->file_id());
  file_.source.FlipBit(chunk.offset + chunk.descriptor.total_size_bytes() - 1,
                       0);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(reader_->MayContain(NumberedRow(1)));
  }
  EXPECT_EQ(testing::LoadedSteps(*reader_)[0], 0u);
  EXPECT_GT(reader_->stats()[FilterCounter::kLoadErrors], 0u);
}

}  // namespace
}  // namespace rowbloom
