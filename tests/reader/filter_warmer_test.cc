// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_warmer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "rowbloom/filter_reader.h"
#include "testing/counting_source.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

using testing::NumberedRow;

constexpr uint64_t kRows = 20000;

class FilterWarmerTest : public ::testing::TestWithParam<std::string> {
 protected:
  // Writes a file with other bytes before the filter block.
  void Write(FilterCache* cache, uint64_t file_id,
             FilterCachePriority priority = FilterCachePriority::kNormal) {
    file_ = std::string(kOffset, 'x');
    FilterWarmerOptions warm;
    warm.file_id = file_id;
    warm.priority = priority;
    const auto warmer = NewFilterWarmer(cache, warm);
    FilterOptions options;
    options.filter_spec = FilterSpec::BitsPerKey(GetParam(), 10);
    options.chunk_size_bytes = 4096;
    const auto sink = NewStringSink(&file_);
    FilterBlockWriter writer(options, sink.get(), warmer.get());
    for (const auto& cell : testing::EvenRows(kRows)) writer.Add(cell.row, "");
    ASSERT_TRUE(writer.Finish().ok());
  }

  // Returns how many odd rows are answered "maybe"; all even ones must be.
  static uint64_t CountFalsePositives(const FilterReader& reader) {
    uint64_t count = 0;
    for (uint64_t i = 0; i < kRows; ++i) {
      EXPECT_TRUE(reader.MayContain(NumberedRow(2 * i)));
      count += reader.MayContain(NumberedRow(2 * i + 1));
    }
    return count;
  }

  static constexpr uint64_t kOffset = 777;
  std::string file_;
};

TEST_P(FilterWarmerTest, LookupsOfAWarmFileReadNothing) {
  const auto cache = NewShardedLruCache({8 << 20});
  Write(cache.get(), 17);
  const auto memory = NewMemorySource(file_);
  testing::CountingSource counting(memory.get());
  FilterReaderOptions options;
  options.cache = cache.get();
  options.file_id = 17;
  const auto reader = FilterReader::Open(&counting, {kOffset}, options);
  ASSERT_TRUE(reader.ok()) << reader.status();
  counting.Reset();
  EXPECT_LT(CountFalsePositives(**reader), kRows / 20);
  EXPECT_EQ(counting.read_count(), 0u);
  EXPECT_EQ((*reader)->stats()[FilterCounter::kChunkLoads], 0u);
  // The reader has taken the chunks over.
  for (const uint32_t steps : (*reader)->LoadedSteps()) EXPECT_GT(steps, 0u);
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
      FilterReaderOptions options;
      options.cache = cache.get();
      options.file_id = 17;
      options.loading = loading;
      const auto reader = FilterReader::Open(memory.get(), {kOffset}, options);
      ASSERT_TRUE(reader.ok()) << reader.status();
      cache->SetCapacity(cache->GetUsage().usage_bytes);
      CountFalsePositives(**reader);
      for (const uint32_t steps : (*reader)->LoadedSteps()) {
        EXPECT_GT(steps, 0u);
      }
      EXPECT_EQ(cache->GetUsage().rejections, 0u);
      EXPECT_EQ((*reader)->stats()[FilterCounter::kChunkLoads], 0u);
    }
  }
}

TEST_P(FilterWarmerTest, AnotherFileUnderTheIdIsNotAnswered) {
  const auto cache = NewShardedLruCache({8 << 20});
  Write(cache.get(), 17);
  // The other file has a block of other rows at the same offset.
  std::string other = std::string(kOffset, 'x');
  FilterOptions filter_options;
  filter_options.filter_spec = FilterSpec::BitsPerKey(GetParam(), 10);
  filter_options.chunk_size_bytes = 4096;
  const auto sink = NewStringSink(&other);
  FilterBlockWriter writer(filter_options, sink.get());
  for (uint64_t i = 0; i < kRows; ++i) writer.Add(NumberedRow(2 * i + 1), "");
  ASSERT_TRUE(writer.Finish().ok());
  const auto memory = NewMemorySource(other);
  FilterReaderOptions options;
  options.cache = cache.get();
  options.file_id = 17;
  const auto reader = FilterReader::Open(memory.get(), {kOffset}, options);
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (uint64_t i = 0; i < kRows; ++i) {
    ASSERT_TRUE((*reader)->MayContain(NumberedRow(2 * i + 1)));
  }
}

TEST(FilterWarmer, BlocksWithEqualChecksumsDoNotAnswerForEachOther) {
  // Each block has one row; the 32-bit checksums of the two agree.
  const std::string rows[] = {"row00028899", "row00058598"};
  const auto cache = NewShardedLruCache({8 << 20});
  FilterReaderOptions options;
  options.cache = cache.get();
  options.file_id = 17;
  options.loading = FilterLoading::kAlways;
  for (const bool is_warm : {false, true}) {
    cache->EraseFile(17);
    std::vector<FilterDescriptor> descriptors;
    for (const std::string& row : rows) {
      std::string file;
      const auto sink = NewStringSink(&file);
      const auto warmer = NewFilterWarmer(cache.get(), {17});
      // The second block finds the chunk that the first one left in the cache.
      FilterBlockWriter writer(
          {}, sink.get(),
          is_warm && descriptors.empty() ? warmer.get() : nullptr);
      writer.Add(row, "");
      ASSERT_TRUE(writer.Finish().ok());
      const auto memory = NewMemorySource(file);
      const auto reader = testing::OpenOrDie(memory.get(), options);
      descriptors.push_back(reader->Chunks()[0].descriptor);
      EXPECT_TRUE(reader->MayContain(row)) << row << " " << is_warm;
    }
    ASSERT_EQ(descriptors[0], descriptors[1]);
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
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace rowbloom
