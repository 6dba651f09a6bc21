// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_warmer.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "rowbloom/filter_reader.h"

namespace rowbloom {
namespace {

using ::testing::Each;
using ::testing::Gt;

constexpr uint64_t kWarmRows = 20000;

class FilterWarmerTest : public ::testing::TestWithParam<std::string_view> {
 protected:
  // Writes a file with other bytes before the filter block.
  void Write(FilterCache* cache, uint64_t file_id,
             FilterCachePriority priority = FilterCachePriority::kNormal) {
    FilterWarmerOptions warm;
    warm.file_id = file_id;
    warm.priority = priority;
    const auto warmer = NewFilterWarmer(cache, warm);
    file_ = std::string(kOffset, 'x');
    testing::AppendBlock(testing::BlockOptions(GetParam(), 10, 4096),
                         testing::EvenRows(kWarmRows), &file_, warmer.get());
  }

  static constexpr uint64_t kOffset = 777;
  std::string file_;
};

TEST_P(FilterWarmerTest, LookupsOfAWarmFileReadNothing) {
  const auto cache = NewShardedLruCache({8 << 20});
  Write(cache.get(), 17);
  const auto memory = NewMemorySource(file_);
  testing::CountingSource counting(memory.get());
  const auto reader = testing::OpenOrDie(
      &counting, testing::CachedIn(cache, FilterLoading::kWhenItPays, 17),
      {kOffset});
  counting.Reset();
  EXPECT_LT(testing::CountFalsePositives(*reader, kWarmRows), kWarmRows / 20);
  EXPECT_EQ(counting.read_count(), 0u);
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 0u);
}

// With any priority and loading, and however full the cache is, lookups then
// need no lock.
TEST_P(FilterWarmerTest, ReadersTakeOverWhatAFullCacheHolds) {
  for (const FilterCachePriority priority :
       {FilterCachePriority::kNormal, FilterCachePriority::kPinned}) {
    for (const FilterLoading loading :
         {FilterLoading::kWhenItPays, FilterLoading::kAlways}) {
      const auto cache = NewShardedLruCache({8 << 20, 0});
      Write(cache.get(), 17, priority);
      const auto memory = NewMemorySource(file_);
      const auto reader = testing::OpenOrDie(
          memory.get(), testing::CachedIn(cache, loading, 17), {kOffset});
      cache->SetCapacity(cache->GetUsage().usage_bytes);
      testing::CountFalsePositives(*reader, kWarmRows);
      EXPECT_THAT(testing::LoadedSteps(*reader), Each(Gt(0u)));
      EXPECT_EQ(cache->GetUsage().rejections, 0u);
      EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 0u);
    }
  }
}

TEST(FilterWarmer, BlocksWithEqualChecksumsDoNotAnswerForEachOther) {
  // Each block has one row; the 32-bit checksums of the two agree.
  const std::string rows[] = {"row00028899", "row00058598"};
  const auto cache = NewShardedLruCache({8 << 20});
  const FilterReaderOptions options =
      testing::CachedIn(cache, FilterLoading::kAlways, 17);
  for (const bool is_warm : {false, true}) {
    cache->EraseFile(17);
    std::vector<FilterDescriptor> descriptors;
    for (const std::string& row : rows) {
      std::string file;
      const auto warmer = NewFilterWarmer(cache.get(), {17});
      // The second block finds the chunk that the first one left in the cache.
      testing::AppendBlock(
          testing::BlockOptions("blocked_bloom", 10, 4096), {{row, ""}}, &file,
          is_warm && descriptors.empty() ? warmer.get() : nullptr);
      const auto memory = NewMemorySource(file);
      const auto reader = testing::OpenOrDie(memory.get(), options);
      descriptors.push_back(reader->Chunks()[0].descriptor);
      EXPECT_TRUE(reader->MayContain(row)) << row << " " << is_warm;
    }
    ASSERT_EQ(descriptors[0], descriptors[1]);
  }
}

// A chunk of the first block would answer for the second.
TEST(FilterWarmerDeathTest, AWarmerIsForOneBlock) {
  const auto cache = NewShardedLruCache({8 << 20});
  const auto warmer = NewFilterWarmer(cache.get(), {17});
  const FilterOptions options =
      testing::BlockOptions("blocked_bloom", 10, 4096);
  for (const bool is_finished : {false, true}) {
    EXPECT_DEATH(
        {
          std::string file;
          const auto sink = NewStringSink(&file);
          FilterBlockWriter writer(options, sink.get(), warmer.get());
          for (uint64_t i = 0; i < kWarmRows; ++i) {
            writer.Add(testing::NumberedRow(2 * i), "");
          }
          if (is_finished) (void)writer.Finish();
          testing::AppendBlock(options, {{"row", ""}}, &file, warmer.get());
        },
        "was given a second filter block: make one for each");
  }
}

TEST_P(FilterWarmerTest, ChunksOfAnUnfinishedFileLeaveWithTheirId) {
  const auto cache = NewShardedLruCache({8 << 20});
  Write(cache.get(), 17);
  EXPECT_GT(cache->GetUsage().entry_count, 0u);
  cache->EraseFile(17);
  EXPECT_EQ(cache->GetUsage().entry_count, 0u);
}

TEST_P(FilterWarmerTest, WithoutRoomNothingIsKept) {
  const auto cache = NewShardedLruCache({1000, 0});
  Write(cache.get(), 17);
  EXPECT_EQ(cache->GetUsage().usage_bytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Families, FilterWarmerTest,
                         ::testing::Values("blocked_bloom", "fast", "compact"),
                         testing::FamilyOf);

}  // namespace
}  // namespace rowbloom
