// SPDX-License-Identifier: Apache-2.0
//
// Tests Ask() and Offer(): a lookup that leaves the read to the engine.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/chunk_cache.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "testing/counting_source.h"
#include "testing/engine_cache.h"

namespace rowbloom {
namespace {

using testing::NumberedRow;

constexpr uint64_t kRows = 20000;

class AskTest : public ::testing::TestWithParam<std::string_view> {
 protected:
  AskTest() {
    FilterOptions options;
    options.filter_spec = FilterSpec::BitsPerKey(GetParam(), 12);
    options.chunk_size_bytes = 4096;
    block_ = testing::WriteBlock(options, testing::EvenRows(kRows));
    memory_ = NewMemorySource(block_);
    counting_ = std::make_unique<testing::CountingSource>(memory_.get());
    options_.cache = cache_.get();
    reader_ = testing::OpenOrDie(counting_.get(), options_);
    counting_->Reset();
  }

  std::string_view BytesOf(const FilterLoad& load) const {
    return std::string_view(block_).substr(load.offset, load.size_bytes);
  }
  // Asks, and performs the load itself if one is needed.
  FilterAnswer AskAndOffer(const FilterKey& key) {
    FilterLoad load;
    const FilterAnswer answer = reader_->Ask(key, &load);
    if (answer != FilterAnswer::kNotInMemory) return answer;
    ++loads_;
    return reader_->Offer(load, BytesOf(load), key);
  }

  std::string block_;
  std::unique_ptr<RandomAccessSource> memory_;
  std::unique_ptr<testing::CountingSource> counting_;
  const std::unique_ptr<FilterCache> cache_ = NewShardedLruCache({8 << 20, 0});
  FilterReaderOptions options_;
  std::unique_ptr<FilterReader> reader_;
  uint64_t loads_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Families, AskTest,
                         ::testing::ValuesIn(FilterFamilyNames()),
                         [](const auto& param) {
                           return std::string(param.param);
                         });

TEST_P(AskTest, AnswersAsMayContainAndNeverReads) {
  const auto other = testing::OpenOrDie(memory_.get(), {});
  for (uint64_t i = 0; i < 2 * kRows; ++i) {
    const std::string row = NumberedRow(i);
    const FilterKey key = FilterKey::Row(row);
    EXPECT_EQ(AskAndOffer(key) == FilterAnswer::kMaybe, other->MayContain(key));
  }
  EXPECT_EQ(counting_->read_count(), 0u);
  const bool has_bytes = reader_->properties().filter_size_bytes > 0;
  EXPECT_EQ(loads_, has_bytes ? reader_->properties().chunk_count : 0);
  const FilterStatsSnapshot stats = reader_->stats();
  EXPECT_EQ(stats[FilterCounter::kLookups], 2 * kRows);
  EXPECT_EQ(stats[FilterCounter::kNegatives],
            other->stats()[FilterCounter::kNegatives]);
  EXPECT_EQ(stats[FilterCounter::kChunkLoads], loads_);
  EXPECT_EQ(stats[FilterCounter::kChunkLoadBytes],
            reader_->properties().filter_size_bytes);
  EXPECT_EQ(stats[FilterCounter::kUnloaded], 0u);
}

class AskOneChunk : public AskTest {};

INSTANTIATE_TEST_SUITE_P(Families, AskOneChunk,
                         ::testing::Values("blocked_bloom", "fast", "compact"),
                         [](const auto& param) {
                           return std::string(param.param);
                         });

TEST_P(AskOneChunk, GivesTheSameLoadUntilItIsOffered) {
  const std::string row = NumberedRow(10);
  const FilterKey key = FilterKey::Row(row);
  FilterLoad first, second;
  ASSERT_EQ(reader_->Ask(key, &first), FilterAnswer::kNotInMemory);
  ASSERT_EQ(reader_->Ask(key, &second), FilterAnswer::kNotInMemory);
  EXPECT_EQ(first.chunk, 0u);
  EXPECT_EQ(first.offset, reader_->Chunks()[0].offset);
  EXPECT_EQ(first.size_bytes,
            reader_->Chunks()[0].descriptor.total_size_bytes());
  EXPECT_EQ(second.offset, first.offset);
  EXPECT_EQ(reader_->Offer(first, BytesOf(first), key), FilterAnswer::kMaybe);
  EXPECT_EQ(reader_->Ask(key, &second), FilterAnswer::kMaybe);
  // An engine that made one read for both lookups offers it twice.
  EXPECT_EQ(reader_->Offer(second, BytesOf(first), key), FilterAnswer::kMaybe);
  EXPECT_EQ(reader_->stats()[FilterCounter::kChunkLoads], 1u);
}

TEST_P(AskOneChunk, DamagedBytesAnswerMaybeAndAreCounted) {
  const std::string row = NumberedRow(11);  // Absent.
  const FilterKey key = FilterKey::Row(row);
  FilterLoad load;
  for (size_t byte = 0; byte < 100; ++byte) {
    const auto reader = testing::OpenOrDie(memory_.get(), {});
    ASSERT_EQ(reader->Ask(key, &load), FilterAnswer::kNotInMemory);
    std::string bytes(BytesOf(load));
    bytes[byte * (bytes.size() - 1) / 99] ^= 1 << byte % 8;
    EXPECT_EQ(reader->Offer(load, bytes, key), FilterAnswer::kMaybe);
    EXPECT_EQ(reader->stats()[FilterCounter::kLoadErrors], 1u);
    EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 1u);
    EXPECT_EQ(reader->stats()[FilterCounter::kLookups], 1u);
  }
}

TEST_P(AskOneChunk, AnErrorAndBytesOfAnotherSizeAnswerMaybeAndAreCounted) {
  const std::string row = NumberedRow(11);
  const FilterKey key = FilterKey::Row(row);
  FilterLoad load;
  ASSERT_EQ(reader_->Ask(key, &load), FilterAnswer::kNotInMemory);
  EXPECT_EQ(reader_->Offer(load, absl::UnavailableError("disk"), key),
            FilterAnswer::kMaybe);
  EXPECT_EQ(reader_->Offer(load, BytesOf(load).substr(1), key),
            FilterAnswer::kMaybe);
  EXPECT_EQ(reader_->Offer(load, "", key), FilterAnswer::kMaybe);
  EXPECT_EQ(reader_->stats()[FilterCounter::kLoadErrors], 3u);
}

TEST_P(AskOneChunk, ManyOffersOfOneReadInAnEnginesCacheLoadItOnce) {
  testing::EngineCache cache(8 << 20);
  options_.cache = &cache;
  const auto reader = testing::OpenOrDie(memory_.get(), options_);
  const std::string row = NumberedRow(10);
  const FilterKey key = FilterKey::Row(row);
  std::vector<FilterLoad> loads(10);
  for (FilterLoad& load : loads) {
    ASSERT_EQ(reader->Ask(key, &load), FilterAnswer::kNotInMemory);
  }
  for (const FilterLoad& load : loads) {
    EXPECT_EQ(reader->Offer(load, BytesOf(load), key), FilterAnswer::kMaybe);
  }
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 1u);
  EXPECT_EQ(cache::Access::LedgerOf(cache)->GetTotals().loaded_bytes,
            loads[0].size_bytes);
}

TEST_P(AskOneChunk, ManyOffersOfOneFailedReadPauseItAsTwoFailuresDo) {
  const std::string row = NumberedRow(11);
  const FilterKey key = FilterKey::Row(row);
  std::vector<FilterLoad> loads(10);
  for (FilterLoad& load : loads) {
    ASSERT_EQ(reader_->Ask(key, &load), FilterAnswer::kNotInMemory);
  }
  for (const FilterLoad& load : loads) {
    EXPECT_EQ(reader_->Offer(load, absl::UnavailableError("disk"), key),
              FilterAnswer::kMaybe);
  }
  EXPECT_EQ(reader_->stats()[FilterCounter::kLoadErrors], 10u);
  EXPECT_EQ(reader_->Ask(key, &loads[0]), FilterAnswer::kMaybe);
  EXPECT_EQ(reader_->Ask(key, &loads[0]), FilterAnswer::kMaybe);
  EXPECT_EQ(reader_->Ask(key, &loads[0]), FilterAnswer::kNotInMemory);
}

TEST_P(AskOneChunk, ALoadThatIsNotItsOwnIsRefused) {
  const std::string row = NumberedRow(10);
  const FilterKey key = FilterKey::Row(row);
  FilterLoad load;
  ASSERT_EQ(reader_->Ask(key, &load), FilterAnswer::kNotInMemory);
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
    EXPECT_EQ(reader_->Offer(w, BytesOf(w.size_bytes == 0 ? w : load), key),
              FilterAnswer::kMaybe);
  }
  EXPECT_EQ(reader_->stats()[FilterCounter::kLoadErrors], wrong.size());
  EXPECT_EQ(reader_->Ask(key, &load), FilterAnswer::kNotInMemory);
}

TEST_P(AskOneChunk, AnOfferForAnotherChunksKeyIsKeptAndAnswersMaybe) {
  const std::string here = NumberedRow(10);
  const std::string there = NumberedRow(2 * kRows - 10);
  FilterLoad load;
  ASSERT_EQ(reader_->Ask(FilterKey::Row(here), &load),
            FilterAnswer::kNotInMemory);
  EXPECT_EQ(reader_->Offer(load, BytesOf(load), FilterKey::Row(there)),
            FilterAnswer::kMaybe);
  EXPECT_EQ(reader_->Ask(FilterKey::Row(here), &load), FilterAnswer::kMaybe);
}

TEST_P(AskOneChunk, WithoutRoomAnOfferAnswersAndIsNotAskedForAgainSoon) {
  cache_->SetCapacity(cache_->GetUsage().usage_bytes + 3000);
  options_.loading = FilterLoading::kWhenItPays;
  const std::string row = NumberedRow(10);
  const FilterKey key = FilterKey::Row(row);
  FilterLoad load;
  // A load that is smaller than the chunk fits, if the family has such loads.
  uint64_t loads = 0;
  for (int i = 0; i < 1000; ++i) {
    if (reader_->Ask(key, &load) != FilterAnswer::kNotInMemory) continue;
    ++loads;
    cache_->SetCapacity(0);
    EXPECT_EQ(reader_->Offer(load, BytesOf(load), key), FilterAnswer::kMaybe);
  }
  EXPECT_LE(loads, 1u);
}

// The cache holds few planes of a chunk and has room for more.
TEST(AskGrowth, AKeyThatMemoryDeniesIsNotAskedToBeLoaded) {
  FilterOptions options;
  options.filter_spec = FilterSpec::BitsPerKey("compact", 12);
  options.chunk_size_bytes = 16384;
  const std::string block =
      testing::WriteBlock(options, testing::EvenRows(kRows));
  const auto memory = NewMemorySource(block);
  const auto cache = NewShardedLruCache({12000, 0});
  FilterReaderOptions reader_options;
  reader_options.cache = cache.get();
  const auto reader = testing::OpenOrDie(memory.get(), reader_options);
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
    wanted += reader->LoadedSteps()[load.chunk] > 0;
  }
  EXPECT_GT(wanted, 0u);
}

}  // namespace
}  // namespace rowbloom
