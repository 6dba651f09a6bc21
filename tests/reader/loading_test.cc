// SPDX-License-Identifier: Apache-2.0
//
// Tests when chunks are read: ahead, again after a failure, or not at all.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"

namespace rowbloom {
namespace {

using testing::CountFalsePositives;
using testing::CountingSource;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::NumberedRow;
using testing::ReadRange;

constexpr uint64_t kRows = 20000;

class LoadingTest : public ::testing::TestWithParam<std::string_view> {
 protected:
  LoadingTest() { options_.cache = cache_.get(); }

  std::unique_ptr<FilterReader> Open() { return file_.Open(options_); }
  size_t ChunkBytes() const {
    return testing::RoleBytes(*cache_, FilterCacheRole::kChunk);
  }

  // A row that the filters deny.
  std::string AbsentRow() {
    FilterReaderOptions options;
    options.loading = FilterLoading::kAlways;
    const auto reader = file_.Open(options);
    uint64_t row = 1;
    while (reader->MayContain(NumberedRow(row))) row += 2;
    return NumberedRow(row);
  }

  testing::TestFile file_{testing::BlockOptions(GetParam(), 10, 2048),
                          testing::EvenRows(kRows)};
  CountingSource& counting_ = file_.source;
  const std::unique_ptr<FilterCache> cache_ = NewShardedLruCache({8 << 20, 0});
  FilterReaderOptions options_;
};

INSTANTIATE_TEST_SUITE_P(Families, LoadingTest,
                         ::testing::Values("blocked_bloom", "fast", "compact"),
                         testing::FamilyOf);

TEST_P(LoadingTest, APrefetchLeavesNothingToRead) {
  options_.prefetch = true;
  for (const FilterLoading loading :
       {FilterLoading::kWhenItPays, FilterLoading::kAlways}) {
    options_.loading = loading;
    counting_.Reset();
    const auto reader = testing::OpenOrDie(&counting_, options_);
    // One read gets the tail, and one gets all chunks together.
    EXPECT_EQ(counting_.read_count(), 2u);
    EXPECT_EQ(counting_.reads().back(),
              (ReadRange{0, reader->properties().filter_size_bytes}));
    EXPECT_THAT(testing::LoadedSteps(*reader),
                Each(FilterSteps(reader->Chunks()[0].descriptor)));
    counting_.Reset();
    EXPECT_LT(CountFalsePositives(*reader, kRows), kRows / 20);
    EXPECT_EQ(counting_.read_count(), 0u);
    EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 0u);
  }
}

TEST_P(LoadingTest, APrefetchReadsNoMoreThanTheCacheHasRoomFor) {
  options_.prefetch = true;
  for (const size_t capacity : {0, 1000, 20000}) {
    cache_->SetCapacity(capacity);
    counting_.Reset();
    const auto reader = testing::OpenOrDie(&counting_, options_);
    EXPECT_LE(counting_.read_bytes(), capacity + (16u << 10));
    EXPECT_LE(cache_->GetUsage().usage_bytes, capacity);
  }
  EXPECT_GT(internal::cache::ChunkCache::Of(*cache_).ledger().loaded_bytes(),
            0u);
}

TEST_P(LoadingTest, APrefetchReadsNothingThatAClosedReaderLeft) {
  options_.file_id = 9;
  options_.prefetch = true;
  Open().reset();
  const auto reader = testing::OpenOrDie(&counting_, options_);
  EXPECT_EQ(counting_.read_count(), 1u);  // The tail.
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 0u);
  EXPECT_LT(CountFalsePositives(*reader, kRows), kRows / 20);
  EXPECT_EQ(counting_.read_count(), 1u);
}

TEST_P(LoadingTest, APrefetchReadsWhatOtherReadersLeftOut) {
  options_.file_id = 9;
  options_.loading = FilterLoading::kAlways;
  const auto other = testing::OpenOrDie(&counting_, options_);
  for (uint64_t i = 0; i < kRows / 2; ++i) {
    EXPECT_TRUE(other->MayContain(NumberedRow(2 * i)));  // Loads a half.
  }
  const uint64_t loaded = other->stats()[FilterCounter::kChunkLoads];
  const FilterBlockProperties properties = other->properties();
  ASSERT_LT(loaded, properties.chunk_count);
  // The other half has room.
  cache_->SetCapacity(cache_->GetUsage().usage_bytes +
                      properties.filter_size_bytes * 3 / 4);
  options_.prefetch = true;
  const auto reader = testing::OpenOrDie(&counting_, options_);
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads],
            properties.chunk_count - loaded);
  counting_.Reset();
  EXPECT_LT(CountFalsePositives(*reader, kRows), kRows / 20);
  EXPECT_EQ(counting_.read_count(), 0u);
}

TEST_P(LoadingTest, APrefetchThatFailsIsNoErrorAndIsCounted) {
  options_.prefetch = true;
  file_.source.FailRead(2);
  const auto reader = Open();
  const uint64_t chunks = reader->properties().chunk_count;
  EXPECT_EQ(reader->stats()[FilterCounter::kLoadErrors], chunks);
  EXPECT_THAT(testing::LoadedSteps(*reader), Each(0));
  EXPECT_LT(CountFalsePositives(*reader, kRows), kRows / 20);
}

TEST_P(LoadingTest, AReaderReopenedUnderItsIdReadsNoChunk) {
  options_.file_id = 9;
  auto reader = Open();
  const uint64_t positives = CountFalsePositives(*reader, kRows);
  EXPECT_LT(positives, kRows / 20);
  const size_t charged = ChunkBytes();
  EXPECT_GT(charged, reader->properties().filter_size_bytes);
  for (int round = 0; round < 3; ++round) {
    reader.reset();
    EXPECT_EQ(ChunkBytes(), charged);
    reader = Open();
    EXPECT_EQ(CountFalsePositives(*reader, kRows), positives);
    EXPECT_EQ(counting_.read_count(), 0u);
    EXPECT_EQ(ChunkBytes(), charged);
    // The chunks belong to the reader now: it finds them without the cache's
    // lock.
    EXPECT_THAT(testing::LoadedSteps(*reader),
                Each(FilterSteps(reader->Chunks()[0].descriptor)));
  }
}

TEST_P(LoadingTest, TwoLiveReadersOfOneIdShareChunks) {
  options_.file_id = 9;
  auto first = Open();
  auto second = Open();
  const uint64_t positives = CountFalsePositives(*first, kRows);
  EXPECT_EQ(counting_.read_count(), first->properties().chunk_count);
  EXPECT_EQ(CountFalsePositives(*second, kRows), positives);
  EXPECT_EQ(counting_.read_bytes(), first->properties().filter_size_bytes);
  const size_t charged = ChunkBytes();
  first.reset();
  EXPECT_EQ(CountFalsePositives(*second, kRows), positives);
  EXPECT_THAT(testing::LoadedSteps(*second),
              Each(FilterSteps(second->Chunks()[0].descriptor)));
  EXPECT_EQ(counting_.read_bytes(), second->properties().filter_size_bytes);
  EXPECT_EQ(ChunkBytes(), charged);
}

TEST_P(LoadingTest, AnErasedFileIsReadAgain) {
  options_.file_id = 9;
  const auto reader = Open();
  CountFalsePositives(*reader, kRows);
  cache_->EraseFile(9);
  EXPECT_EQ(ChunkBytes(), 0u);
  EXPECT_THAT(testing::LoadedSteps(*reader), Each(0));
  counting_.Reset();
  EXPECT_LT(CountFalsePositives(*reader, kRows), kRows / 20);
  EXPECT_EQ(counting_.read_bytes(), reader->properties().filter_size_bytes);
}

// While all reads of one chunk fail, 2^n - 2 lookups, but at most 254, pass
// between the nth failure and the next read.
TEST_P(LoadingTest, ABrokenSourceIsAskedLessAndLess) {
  const auto reader = Open();
  file_.source.FailAllReads();
  std::vector<uint64_t> tries;
  for (uint64_t lookup = 0; lookup < 1100; ++lookup) {
    const uint64_t before = counting_.read_count();
    EXPECT_TRUE(reader->MayContain(NumberedRow(1)));
    if (counting_.read_count() > before) tries.push_back(lookup);
  }
  EXPECT_THAT(tries,
              ElementsAre(0, 1, 4, 11, 26, 57, 120, 247, 502, 757, 1012));
  EXPECT_EQ(reader->stats()[FilterCounter::kLoadErrors], 11u);
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 1100u);
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 0u);
  file_.source.Heal();
  // The chunk returns within the pause, and stays.
  for (int i = 0; i < 255; ++i) EXPECT_TRUE(reader->MayContain(NumberedRow(0)));
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 1u);
  const uint64_t unloaded = reader->stats()[FilterCounter::kUnloaded];
  for (int i = 0; i < 1000; ++i) reader->MayContain(NumberedRow(1));
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], unloaded);
  // No load has failed since.
  EXPECT_EQ(reader->stats()[FilterCounter::kLoadErrors], 11u);
}

TEST_P(LoadingTest, WithoutRoomInTheCacheNoChunkIsRead) {
  const auto nothing = NewShardedLruCache({0, 0});
  options_.cache = nothing.get();
  const auto reader = Open();
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(CountFalsePositives(*reader, kRows), kRows - 1);
  }
  EXPECT_EQ(counting_.read_count(), 0u);
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded],
            reader->stats()[FilterCounter::kLookups]);
}

// A chunk that does not pay now is not thought about for 16 lookups, so that
// they cost no more than a look at its pause.
TEST_P(LoadingTest, AChunkThatDoesNotPayIsLookedForAgainAfterSixteenLookups) {
  options_.file_id = 9;
  cache_->SetCapacity(0);
  const auto reader = Open();
  const std::string absent = AbsentRow();
  EXPECT_TRUE(reader->MayContain(absent));  // There is no room.
  cache_->SetCapacity(8 << 20);
  options_.loading = FilterLoading::kAlways;
  const auto other = Open();
  EXPECT_FALSE(other->MayContain(absent));  // Now the cache has the chunk.
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(reader->MayContain(absent)) << i;
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 17u);
  EXPECT_FALSE(reader->MayContain(absent));
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 17u);
}

// Asks for random rows, of which one in `present` is there; returns the bytes
// that are read of data and filters, by those that are read without filters.
double ReadShare(const FilterReader& reader, const CountingSource& counting,
                 uint64_t present) {
  constexpr uint64_t kData = 4096;
  constexpr uint64_t kLookups = 200000;
  testing::Random random(3);
  uint64_t data = 0;
  for (uint64_t i = 0; i < kLookups; ++i) {
    const bool there = random.Below(present) == 0;
    const std::string row =
        NumberedRow(2 * random.Below(kRows) + (there ? 0 : 1));
    const bool answer = reader.MayContain(row);
    EXPECT_TRUE(answer || !there);
    if (!answer) continue;
    data += kData;
    reader.TellOutcome(there, kData);
  }
  return static_cast<double>(counting.read_bytes() + data) /
         static_cast<double>(kLookups * kData);
}

TEST_P(LoadingTest, FiltersOfKeysThatAreAllThereDoNoHarm) {
  for (const size_t capacity : {0, 8000, 16000, 100000}) {
    const auto cache = NewShardedLruCache({capacity, 0});
    options_.cache = cache.get();
    const auto reader = Open();
    EXPECT_LE(ReadShare(*reader, counting_, 1), 1.02);
  }
}

TEST_P(LoadingTest, FiltersThatDoNotFitSaveMoreThanTheyCost) {
  const auto cache = NewShardedLruCache({16000, 0});
  options_.cache = cache.get();
  const auto reader = Open();
  ASSERT_GT(reader->properties().filter_size_bytes, 20000u);
  EXPECT_LT(ReadShare(*reader, counting_, 2), 0.95);
}

TEST_P(LoadingTest, ACacheWithoutALimitLoadsAtOnce) {
  const auto cache = NewShardedLruCache({SIZE_MAX, 0});
  options_.cache = cache.get();
  const auto reader = Open();
  EXPECT_LT(CountFalsePositives(*reader, kRows), kRows / 20);
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 0u);
}

TEST_P(LoadingTest, TheIndexIsChargedAsLongAsTheReaderLives) {
  const auto index_bytes = [&] {
    return testing::RoleBytes(*cache_, FilterCacheRole::kIndex);
  };
  auto first = Open();
  const size_t one = index_bytes();
  EXPECT_GT(one, 40 * first->properties().chunk_count);
  EXPECT_EQ(cache_->GetUsage().pinned_bytes, one);
  const auto second = Open();
  EXPECT_EQ(index_bytes(), 2 * one);
  first.reset();
  EXPECT_EQ(index_bytes(), one);
}

TEST(CacheMemory, ChunksLieInSlabsThatGoBackWithTheCapacity) {
  constexpr size_t kMiB = 1 << 20;
  testing::TestFile file(testing::BlockOptions("compact", 14, 16384),
                         testing::EvenRows(60000));
  const auto cache = NewShardedLruCache({16 * kMiB});
  FilterReaderOptions options;
  options.cache = cache.get();
  options.prefetch = true;
  std::vector<std::unique_ptr<FilterReader>> readers;
  for (int i = 0; i < 60; ++i) {
    readers.push_back(testing::OpenOrDie(&file.source, options));
  }
  const FilterCache::Usage usage = cache->GetUsage();
  EXPECT_GE(usage.resident_bytes, 60 * file.bytes.size() * 9 / 10);
  EXPECT_LE(usage.resident_bytes, usage.usage_bytes + 2 * kMiB);
  cache->SetCapacity(0);
  EXPECT_LE(cache->GetUsage().resident_bytes, 2 * kMiB);
}

}  // namespace
}  // namespace rowbloom
