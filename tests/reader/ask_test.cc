// SPDX-License-Identifier: Apache-2.0
//
// Tests Ask() and Offer(): a lookup that leaves the read to the engine.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "testing/engine_cache.h"

namespace rowbloom {
namespace {

using testing::NumberedRow;

constexpr uint64_t kAskedRows = 20000;

class AskTest : public ::testing::TestWithParam<std::string_view> {
 protected:
  AskTest() {
    options_.cache = cache_.get();
    reader_ = file_.Open(options_);
  }

  // Asks for a key whose chunk is not in memory.
  static FilterLoad LoadFor(const FilterReader& reader, const FilterKey& key) {
    FilterLoad load;
    EXPECT_EQ(reader.Ask(key, &load), FilterAnswer::kNotInMemory);
    return load;
  }
  static FilterAnswer Ask(const FilterReader& reader, const FilterKey& key) {
    FilterLoad load;
    return reader.Ask(key, &load);
  }

  testing::TestFile file_{testing::BlockOptions(GetParam(), 12, 4096),
                          testing::EvenRows(kAskedRows)};
  const std::unique_ptr<FilterCache> cache_ = NewShardedLruCache({8 << 20, 0});
  FilterReaderOptions options_;
  std::unique_ptr<FilterReader> reader_;
  const std::string rows_[2] = {NumberedRow(10), NumberedRow(11)};
  const FilterKey present_ = FilterKey::Row(rows_[0]);
  const FilterKey absent_ = FilterKey::Row(rows_[1]);
};

INSTANTIATE_TEST_SUITE_P(Families, AskTest,
                         ::testing::ValuesIn(FilterFamilyNames()),
                         testing::FamilyOf);

TEST_P(AskTest, AnswersAsMayContainAndNeverReads) {
  const auto other = testing::OpenOrDie(file_.memory.get(), {});
  uint64_t loads = 0;
  for (uint64_t i = 0; i < 2 * kAskedRows; ++i) {
    const std::string row = NumberedRow(i);
    const FilterKey key = FilterKey::Row(row);
    FilterLoad load;
    FilterAnswer answer = reader_->Ask(key, &load);
    if (answer == FilterAnswer::kNotInMemory) {
      ++loads;
      answer = reader_->Offer(load, file_.BytesOf(load), key);
    }
    EXPECT_EQ(answer == FilterAnswer::kMaybe, other->MayContain(key));
  }
  EXPECT_EQ(file_.source.read_count(), 0u);
  const bool has_bytes = reader_->properties().filter_size_bytes > 0;
  EXPECT_EQ(loads, has_bytes ? reader_->properties().chunk_count : 0);
  const FilterStatsSnapshot stats = reader_->stats();
  EXPECT_EQ(stats[FilterCounter::kLookups], 2 * kAskedRows);
  EXPECT_EQ(stats[FilterCounter::kNegatives],
            other->stats()[FilterCounter::kNegatives]);
  EXPECT_EQ(stats[FilterCounter::kChunkLoads], loads);
  EXPECT_EQ(stats[FilterCounter::kChunkLoadBytes],
            reader_->properties().filter_size_bytes);
  EXPECT_EQ(stats[FilterCounter::kUnloaded], 0u);
}

class AskOneChunk : public AskTest {};

INSTANTIATE_TEST_SUITE_P(Families, AskOneChunk,
                         ::testing::Values("blocked_bloom", "fast", "compact"),
                         testing::FamilyOf);

TEST_P(AskOneChunk, GivesTheSameLoadUntilItIsOffered) {
  const FilterLoad first = LoadFor(*reader_, present_);
  const FilterLoad second = LoadFor(*reader_, present_);
  EXPECT_EQ(first.chunk, 0u);
  EXPECT_EQ(first.offset, reader_->Chunks()[0].offset);
  EXPECT_EQ(first.size_bytes,
            reader_->Chunks()[0].descriptor.total_size_bytes());
  EXPECT_EQ(second.offset, first.offset);
  EXPECT_EQ(reader_->Offer(first, file_.BytesOf(first), present_),
            FilterAnswer::kMaybe);
  EXPECT_EQ(Ask(*reader_, present_), FilterAnswer::kMaybe);
}

TEST_P(AskOneChunk, DamagedBytesAnswerMaybeAndAreCounted) {
  for (size_t byte = 0; byte < 100; ++byte) {
    const auto reader = file_.Open();
    const FilterLoad load = LoadFor(*reader, absent_);
    std::string bytes(file_.BytesOf(load));
    bytes[byte * (bytes.size() - 1) / 99] ^= 1 << byte % 8;
    EXPECT_EQ(reader->Offer(load, bytes, absent_), FilterAnswer::kMaybe);
    EXPECT_EQ(reader->stats()[FilterCounter::kLoadErrors], 1u);
    EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 1u);
    EXPECT_EQ(reader->stats()[FilterCounter::kLookups], 1u);
  }
}

TEST_P(AskOneChunk, BytesOfAnotherSizeAnswerMaybeAndAreCounted) {
  const FilterLoad load = LoadFor(*reader_, absent_);
  for (const std::string_view bytes :
       {file_.BytesOf(load).substr(1), std::string_view()}) {
    EXPECT_EQ(reader_->Offer(load, bytes, absent_), FilterAnswer::kMaybe);
  }
  EXPECT_EQ(reader_->stats()[FilterCounter::kLoadErrors], 2u);
}

// An engine that made one read for many lookups offers it for each.
TEST_P(AskOneChunk, ManyOffersOfOneReadLoadItOnce) {
  const auto engine_cache = testing::NewEngineCache(8 << 20);
  for (FilterCache* cache : {cache_.get(), engine_cache.get()}) {
    options_.cache = cache;
    const auto reader = file_.Open(options_);
    std::vector<FilterLoad> loads(10);
    for (FilterLoad& load : loads) load = LoadFor(*reader, present_);
    for (const FilterLoad& load : loads) {
      EXPECT_EQ(reader->Offer(load, file_.BytesOf(load), present_),
                FilterAnswer::kMaybe);
    }
    EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 1u);
    EXPECT_EQ(internal::cache::ChunkCache::Of(*cache).ledger().loaded_bytes(),
              loads[0].size_bytes);
  }
}

TEST_P(AskOneChunk, ManyOffersOfOneFailedReadPauseItAsTwoFailuresDo) {
  std::vector<FilterLoad> loads(10);
  for (FilterLoad& load : loads) load = LoadFor(*reader_, absent_);
  for (const FilterLoad& load : loads) {
    EXPECT_EQ(reader_->Offer(load, absl::UnavailableError("disk"), absent_),
              FilterAnswer::kMaybe);
  }
  EXPECT_EQ(reader_->stats()[FilterCounter::kLoadErrors], 10u);
  EXPECT_EQ(Ask(*reader_, absent_), FilterAnswer::kMaybe);
  EXPECT_EQ(Ask(*reader_, absent_), FilterAnswer::kMaybe);
  LoadFor(*reader_, absent_);
}

TEST_P(AskOneChunk, ALoadThatIsNotItsOwnIsRefused) {
  const FilterLoad load = LoadFor(*reader_, present_);
  std::vector<FilterLoad> wrong(8, load);
  wrong[0].chunk = reader_->properties().chunk_count;
  wrong[1].chunk = ~uint64_t{0};
  wrong[2].offset += 1;
  wrong[3].size_bytes -= 1;
  wrong[4].steps = 99;
  wrong[5].steps -= 1;
  wrong[5].size_bytes += 1;
  wrong[6].chunk = 1;
  wrong[7].steps = 0;
  wrong[7].size_bytes = 0;
  for (const FilterLoad& w : wrong) {
    EXPECT_EQ(reader_->Offer(w, file_.BytesOf(w.size_bytes == 0 ? w : load),
                             present_),
              FilterAnswer::kMaybe);
  }
  EXPECT_EQ(reader_->stats()[FilterCounter::kLoadErrors], wrong.size());
  LoadFor(*reader_, present_);
}

TEST_P(AskOneChunk, AnOfferForAnotherChunksKeyIsKeptAndAnswersMaybe) {
  const std::string there = NumberedRow(2 * kAskedRows - 10);
  const FilterLoad load = LoadFor(*reader_, present_);
  EXPECT_EQ(reader_->Offer(load, file_.BytesOf(load), FilterKey::Row(there)),
            FilterAnswer::kMaybe);
  EXPECT_EQ(Ask(*reader_, present_), FilterAnswer::kMaybe);
}

TEST_P(AskOneChunk, AnOfferForAKeyOutsideOfTheIndexIsKeptAndAnswersNo) {
  const FilterLoad load = LoadFor(*reader_, present_);
  EXPECT_EQ(reader_->Offer(load, file_.BytesOf(load), FilterKey::Row("~")),
            FilterAnswer::kNo);
  EXPECT_EQ(Ask(*reader_, present_), FilterAnswer::kMaybe);
}

TEST_P(AskOneChunk, WithoutRoomAnOfferAnswersAndIsNotAskedForAgainSoon) {
  cache_->SetCapacity(cache_->GetUsage().usage_bytes + 3000);
  FilterLoad load;
  // A load that is smaller than the chunk fits, if the family has such loads.
  uint64_t loads = 0;
  for (int i = 0; i < 1000; ++i) {
    if (reader_->Ask(present_, &load) != FilterAnswer::kNotInMemory) continue;
    ++loads;
    cache_->SetCapacity(0);
    EXPECT_EQ(reader_->Offer(load, file_.BytesOf(load), present_),
              FilterAnswer::kMaybe);
  }
  EXPECT_LE(loads, 1u);
}

// The cache holds few planes of a chunk and has room for more.
TEST(AskGrowth, AKeyThatMemoryDeniesIsNotAskedToBeLoaded) {
  testing::TestFile file(testing::BlockOptions("compact", 12, 16384),
                         testing::EvenRows(kAskedRows));
  const auto cache = NewShardedLruCache({12000, 0});
  const auto reader = file.Open(testing::CachedIn(cache));
  const std::string present = NumberedRow(10);
  for (int i = 0; i < 100; ++i) reader->MayContain(present);
  cache->SetCapacity(1 << 20);
  std::vector<bool> is_denied(1000);
  uint64_t wanted = 0;
  for (uint64_t i = 0; i < 40000; ++i) {
    const std::string row = NumberedRow(2 * (i % 1000) + 1);
    FilterLoad load;  // Never offered.
    const FilterAnswer answer = reader->Ask(FilterKey::Row(row), &load);
    if (answer == FilterAnswer::kNo) is_denied[i % 1000] = true;
    if (answer != FilterAnswer::kNotInMemory) continue;
    EXPECT_FALSE(is_denied[i % 1000]);
    wanted += testing::LoadedSteps(*reader)[load.chunk] > 0;
  }
  EXPECT_GT(wanted, 0u);
}

}  // namespace
}  // namespace rowbloom
