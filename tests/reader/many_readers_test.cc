// SPDX-License-Identifier: Apache-2.0
//
// The memory of open readers: how much it is, what is left for chunks, and
// blocks whose filter is so small that the reader holds it.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "block/format.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"

namespace rowbloom {
namespace {

using testing::EvenRows;
using testing::NumberedRow;

size_t IndexBytes(const FilterCache& cache) {
  return testing::RoleBytes(cache, FilterCacheRole::kIndex);
}

size_t BytesOfReader(uint64_t rows, std::string_view family,
                     uint64_t* chunk_count) {
  testing::TestFile file(testing::BlockOptions(family, 10, 1024),
                         EvenRows(rows));
  const auto cache = NewShardedLruCache({64 << 20});
  const auto reader = file.Open(testing::CachedIn(cache));
  *chunk_count = reader->properties().chunk_count;
  return IndexBytes(*cache);
}

TEST(ManyReaders, TakeSixtyBytesForAChunkAndItsKey) {
  uint64_t few = 0, many = 0;
  const size_t bytes = BytesOfReader(20000, "blocked_bloom", &few);
  const size_t more_bytes = BytesOfReader(200000, "blocked_bloom", &many);
  ASSERT_GT(many, 200u);
  const size_t key_bytes = NumberedRow(0).size();
  EXPECT_LE((more_bytes - bytes) / (many - few), 60 + key_bytes);
}

TEST(ManyReaders, Take352BytesBesideTheirIndexAndProperties) {
  uint64_t chunks = 0;
  const size_t bytes = BytesOfReader(800, "blocked_bloom", &chunks);
  ASSERT_EQ(chunks, 1u);
  const size_t stored =
      testing::WriteBlock(testing::BlockOptions("blocked_bloom", 10, 1024),
                          EvenRows(800))
          .size() -
      1024 - block::Footer::kSize;
  EXPECT_LE(bytes, 352 + stored + 38);
}

TEST(ManyReaders, LeaveHalfOfTheCacheToChunks) {
  testing::TestFile file(testing::BlockOptions("blocked_bloom", 10, 4096),
                         EvenRows(1000));
  const auto cache = NewShardedLruCache({1 << 20, 0});
  std::vector<std::unique_ptr<FilterReader>> readers;
  size_t within = 0;
  for (int i = 0; i < 2000; ++i) {
    readers.push_back(file.Open(testing::CachedIn(cache)));
    within += readers.back()->is_within_capacity();
  }
  EXPECT_GT(within, 500u);
  EXPECT_LT(within, 1100u);
  const FilterCache::Usage usage = cache->GetUsage();
  EXPECT_LE(IndexBytes(*cache), size_t{1} << 19);
  EXPECT_GT(usage.index_bytes_outside, 400 * (2000 - within));
  // The last ones still get room for their chunk.
  uint64_t denied = 0;
  for (int round = 0; round < 2; ++round) {
    for (int i = 1900; i < 2000; ++i) {
      denied += !readers[static_cast<size_t>(i)]->MayContain(NumberedRow(1));
    }
  }
  EXPECT_GT(denied, 150u);
  readers.clear();
  EXPECT_EQ(cache->GetUsage().index_bytes_outside, 0u);
  EXPECT_EQ(IndexBytes(*cache), 0u);
}

class TinyBlock : public ::testing::TestWithParam<std::string_view> {
 protected:
  static constexpr uint64_t kRows = 20;

  void ExpectAnswers(const FilterReader& reader) const {
    EXPECT_LE(testing::CountFalsePositives(reader, kRows), kRows / 4);
  }

  const std::string block_ = testing::WriteBlock(
      testing::BlockOptions(GetParam(), 14, 4096), EvenRows(kRows));
  testing::TestFile file_{block_};
};

INSTANTIATE_TEST_SUITE_P(Families, TinyBlock,
                         ::testing::Values("blocked_bloom", "fast", "compact"),
                         testing::FamilyOf);

TEST_P(TinyBlock, IsHeldByItsReaderAndNeedsNoCache) {
  const auto cache = NewShardedLruCache({0});
  FilterReaderOptions options = testing::CachedIn(cache);
  for (const uint64_t tail_size : {uint64_t{0}, uint64_t{16 << 10}}) {
    options.tail_size_bytes = tail_size;
    file_.source.Reset();
    const auto reader = testing::OpenOrDie(&file_.source, options);
    EXPECT_EQ(file_.source.read_count(), 1u);
    file_.source.Reset();
    ExpectAnswers(*reader);
    const std::string row = NumberedRow(1);
    const FilterKey absent = FilterKey::Row(row);
    FilterLoad load;
    EXPECT_EQ(reader->Ask(absent, &load), reader->MayContain(absent)
                                              ? FilterAnswer::kMaybe
                                              : FilterAnswer::kNo);
    std::vector<std::string> rows;
    for (uint64_t i = 0; i < 2 * kRows; ++i) rows.push_back(NumberedRow(i));
    const std::vector<char> batch =
        testing::Ask(*reader, testing::RowKeys(rows));
    for (uint64_t i = 0; i < 2 * kRows; ++i) {
      EXPECT_EQ(batch[i], reader->MayContain(rows[i]));
    }
    EXPECT_EQ(file_.source.read_count(), 0u);
    EXPECT_GT(testing::LoadedSteps(*reader).at(0), 0u);
    const FilterStatsSnapshot stats = reader->stats();
    EXPECT_GT(stats[FilterCounter::kNegatives], kRows / 2);
    EXPECT_EQ(stats[FilterCounter::kUnloaded], 0u);
    EXPECT_EQ(stats[FilterCounter::kChunkLoads], 0u);
    EXPECT_TRUE(reader->Verify().ok());
  }
}

TEST_P(TinyBlock, IsCachedWithoutAReadIfThereIsRoom) {
  const auto cache = NewShardedLruCache({8 << 20});
  const auto reader = file_.Open(testing::CachedIn(cache));
  for (int i = 0; i < 100; ++i) ExpectAnswers(*reader);
  EXPECT_GT(testing::RoleBytes(*cache, FilterCacheRole::kChunk), 0u);
  EXPECT_EQ(file_.source.read_count(), 0u);
  cache->EraseFile(reader->file_id());
  ExpectAnswers(*reader);
  EXPECT_EQ(file_.source.read_count(), 0u);
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 0u);
}

TEST_P(TinyBlock, IsCachedOnceForTwoReadersOfOneId) {
  const auto cache = NewShardedLruCache({8 << 20});
  const auto options =
      testing::CachedIn(cache, FilterLoading::kWhenItPays, /*file_id=*/7);
  const auto first = file_.Open(options);
  const auto second = file_.Open(options);
  for (int i = 0; i < 50; ++i) {
    ExpectAnswers(*first);
    ExpectAnswers(*second);
  }
  EXPECT_EQ(cache->GetUsage().inserts, 1u);
}

TEST_P(TinyBlock, IsLoadedAsOthersAreIfItIsDamaged) {
  file_.source.FlipBit(5, 1);
  const auto cache = NewShardedLruCache({8 << 20});
  const auto reader = file_.Open(testing::CachedIn(cache));
  ASSERT_NE(reader, nullptr);
  for (uint64_t i = 0; i < 2 * kRows; ++i) {
    EXPECT_TRUE(reader->MayContain(NumberedRow(i)) || i % 2 == 1);
  }
  EXPECT_GT(reader->stats()[FilterCounter::kLoadErrors], 0u);
  EXPECT_FALSE(reader->Verify().ok());
  file_.source.FlipBit(5, 1);
  for (uint64_t i = 0; i < 600; ++i) reader->MayContain(NumberedRow(1));
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 1u);
}

}  // namespace
}  // namespace rowbloom
