// SPDX-License-Identifier: Apache-2.0
//
// Tests lookups of many keys and files whose reads the engine makes.

#include "rowbloom/filter_loads.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"

namespace rowbloom {
namespace {

using testing::NumberedRow;

constexpr uint64_t kRows = 5000;

// Files of many chunks in one cold cache, and what is asked of them.
class FilterLoadsTest : public ::testing::Test {
 protected:
  explicit FilterLoadsTest(uint32_t chunk_size_bytes = 128 << 10) {
    for (int i = 0; i < 20; ++i) {
      files_.push_back(std::make_unique<testing::TestFile>(
          testing::BlockOptions("fast", 10, chunk_size_bytes),
          testing::EvenRows(kRows)));
      readers_.push_back(files_.back()->Open(testing::CachedIn(cache_)));
    }
  }

  // Asks all files for a row.
  bool Ask(const FilterKey& key, std::vector<FilterQuestion>* questions,
           bool* answers, int* done) {
    for (const auto& reader : readers_) {
      questions->push_back({reader.get(), &key});
    }
    return loads_.Ask(
        *questions, answers, [done] { ++*done; }, &reads_);
  }
  std::string_view BytesOf(const FilterRead& read) const {
    for (size_t i = 0; i < readers_.size(); ++i) {
      if (readers_[i].get() == read.reader) {
        return std::string_view(files_[i]->bytes)
            .substr(read.offset, read.size_bytes);
      }
    }
    return {};
  }
  uint64_t Count(FilterCounter counter) const {
    uint64_t count = 0;
    for (const auto& reader : readers_) count += reader->stats()[counter];
    return count;
  }

  std::unique_ptr<FilterCache> cache_ = NewShardedLruCache({16 << 20, 0});
  std::vector<std::unique_ptr<testing::TestFile>> files_;
  std::vector<std::unique_ptr<FilterReader>> readers_;
  FilterLoads loads_;
  std::vector<FilterRead> reads_;
};
using FilterLoadsDeathTest = FilterLoadsTest;

class SmallChunksTest : public FilterLoadsTest {
 protected:
  SmallChunksTest() : FilterLoadsTest(1024) {}
};

TEST_F(FilterLoadsTest, TwentyColdFilesAreAnsweredByOneGroupOfReads) {
  const std::string row = NumberedRow(2001);
  const FilterKey key = FilterKey::Row(row);
  std::vector<FilterQuestion> questions;
  bool answers[20];
  int done = 0;
  ASSERT_FALSE(Ask(key, &questions, answers, &done));
  ASSERT_EQ(reads_.size(), 20u);
  for (const FilterRead& read : reads_) {
    EXPECT_EQ(done, 0);
    loads_.Offer(read, BytesOf(read));
  }
  EXPECT_EQ(done, 1);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(answers[i], readers_[i]->MayContain(row));
    EXPECT_EQ(files_[i]->source.read_count(), 0u);
  }
  EXPECT_EQ(Count(FilterCounter::kChunkLoads), 20u);
  reads_.clear();
  questions.clear();
  EXPECT_TRUE(Ask(key, &questions, answers, &done));
  EXPECT_TRUE(reads_.empty());
  EXPECT_EQ(done, 1);
}

TEST_F(SmallChunksTest, NeighbouringChunksAreOneRead) {
  ASSERT_GT(readers_[0]->Chunks().size(), 4u);
  std::vector<std::string> rows;
  for (uint64_t i = 0; i < 2 * kRows; i += 50) rows.push_back(NumberedRow(i));
  const std::vector<FilterKey> keys = testing::RowKeys(rows);
  std::vector<FilterQuestion> questions;
  for (const FilterKey& key : keys) {
    questions.push_back({readers_[0].get(), &key});
  }
  const auto answers = std::make_unique<bool[]>(keys.size());
  int done = 0;
  ASSERT_FALSE(loads_.Ask(
      questions, answers.get(), [&] { ++done; }, &reads_));
  ASSERT_EQ(reads_.size(), 1u);
  loads_.Offer(reads_[0], BytesOf(reads_[0]));
  EXPECT_EQ(done, 1);
  for (size_t i = 0; i < keys.size(); ++i) EXPECT_TRUE(answers[i]) << rows[i];
  EXPECT_EQ(Count(FilterCounter::kChunkLoads), readers_[0]->Chunks().size());
}

TEST_F(SmallChunksTest, OverdrawTheLedgerByOneLoadOnly) {
  constexpr size_t kCapacity = 20000;
  const auto cache = NewShardedLruCache({kCapacity, 0});
  FilterReaderOptions options;
  options.cache = cache.get();
  std::vector<std::unique_ptr<FilterReader>> readers;
  uint64_t filter_bytes = 0;
  for (const auto& file : files_) {
    readers.push_back(file->Open(options));
    filter_bytes += readers.back()->properties().filter_size_bytes;
  }
  ASSERT_GT(filter_bytes, 3 * kCapacity);
  std::vector<std::string> rows;
  for (uint64_t i = 0; i < 2 * kRows; i += 1000) rows.push_back(NumberedRow(i));
  const std::vector<FilterKey> keys = testing::RowKeys(rows);
  std::vector<FilterQuestion> questions;
  for (const FilterKey& key : keys) {
    for (const auto& reader : readers) {
      questions.push_back({reader.get(), &key});
    }
  }
  const auto answers = std::make_unique<bool[]>(questions.size());
  int done = 0;
  ASSERT_FALSE(loads_.Ask(
      questions, answers.get(), [&] { ++done; }, &reads_));
  uint64_t read_bytes = 0;
  for (const FilterRead& read : reads_) {
    read_bytes += read.size_bytes;
    loads_.Offer(read, absl::UnavailableError("not read"));
  }
  EXPECT_EQ(done, 1);
  // The grant of an empty cache is its capacity. Lookups may cost 1% more.
  EXPECT_LE(read_bytes,
            kCapacity + 1024 +
                questions.size() * options.data_block_size_bytes / 100);
}

TEST_F(FilterLoadsTest, LookupsThatWantAChunkThatIsReadWaitForThatRead) {
  const std::string rows[] = {NumberedRow(2000), NumberedRow(2001)};
  const FilterKey keys[] = {FilterKey::Row(rows[0]), FilterKey::Row(rows[1])};
  std::vector<FilterQuestion> questions[2];
  bool answers[2][20];
  int done[2] = {};
  ASSERT_FALSE(Ask(keys[0], &questions[0], answers[0], &done[0]));
  ASSERT_FALSE(Ask(keys[1], &questions[1], answers[1], &done[1]));
  ASSERT_EQ(reads_.size(), 20u);
  for (const FilterRead& read : reads_) loads_.Offer(read, BytesOf(read));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(done[i], 1);
    EXPECT_EQ(answers[i][7], readers_[7]->MayContain(rows[i]));
  }
  EXPECT_EQ(Count(FilterCounter::kChunkLoads), 20u);
}

TEST_F(FilterLoadsTest, TheFirstLookupThatIsDoneMayFreeWhatWasRead) {
  const std::string rows[] = {NumberedRow(2000), NumberedRow(2001)};
  const FilterKey keys[] = {FilterKey::Row(rows[0]), FilterKey::Row(rows[1])};
  const FilterQuestion questions[] = {{readers_[0].get(), &keys[0]},
                                      {readers_[0].get(), &keys[1]}};
  bool answers[2] = {};
  int done = 0;
  std::string bytes;
  FilterRead read;
  const auto free_it = [&] {
    ++done;
    read = {};
    bytes.clear();
  };
  ASSERT_FALSE(loads_.Ask({&questions[0], 1}, &answers[0], free_it, &reads_));
  ASSERT_FALSE(loads_.Ask({&questions[1], 1}, &answers[1], free_it, &reads_));
  ASSERT_EQ(reads_.size(), 1u);
  read = reads_[0];
  bytes = BytesOf(read);
  loads_.Offer(read, std::string_view(bytes));
  EXPECT_EQ(done, 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(answers[i], readers_[0]->MayContain(rows[i]));
  }
}

TEST_F(FilterLoadsTest, FailedAndShortReadsAnswerMaybe) {
  const std::string row = NumberedRow(2001);
  const FilterKey key = FilterKey::Row(row);
  std::vector<FilterQuestion> questions;
  bool answers[20];
  int done = 0;
  ASSERT_FALSE(Ask(key, &questions, answers, &done));
  for (size_t i = 0; i < reads_.size(); ++i) {
    if (i % 2 == 0) {
      loads_.Offer(reads_[i], absl::UnavailableError("no answer"));
    } else {
      loads_.Offer(reads_[i], BytesOf(reads_[i]).substr(1));
    }
  }
  EXPECT_EQ(done, 1);
  EXPECT_THAT(answers, ::testing::Each(true));
  EXPECT_EQ(Count(FilterCounter::kLoadErrors), 20u);
}

// A hundred lookups of one chunk, which wait for one read.
class ManyWaitersTest : public FilterLoadsTest {
 protected:
  static constexpr size_t kWaiters = 100;

  ManyWaitersTest() {
    for (uint64_t i = 0; i < kWaiters; ++i) rows_.push_back(NumberedRow(i));
    keys_ = testing::RowKeys(rows_);
  }
  // Asks in ten batches, damages the bytes of the read if told so, offers them,
  // and returns the number of "no".
  size_t AskAndOffer(const FilterReader& reader, bool damaged) {
    std::vector<FilterQuestion> questions;
    for (const FilterKey& key : keys_) questions.push_back({&reader, &key});
    bool answers[kWaiters];
    int done = 0;
    reads_.clear();
    for (size_t i = 0; i < kWaiters; i += 10) {
      loads_.Ask(
          absl::MakeConstSpan(questions).subspan(i, 10), &answers[i],
          [&] { ++done; }, &reads_);
    }
    EXPECT_EQ(reads_.size(), 1u);
    std::string bytes =
        files_[0]->bytes.substr(reads_[0].offset, reads_[0].size_bytes);
    if (damaged) bytes[bytes.size() / 2] ^= 1;
    loads_.Offer(reads_[0], std::string_view(bytes));
    EXPECT_EQ(done, 10);
    size_t negatives = 0;
    for (size_t i = 0; i < kWaiters; ++i) {
      EXPECT_TRUE(answers[i] || i % 2 == 1);
      negatives += answers[i] ? 0 : 1;
    }
    return negatives;
  }
  uint64_t LoadedBytes() const {
    return internal::cache::ChunkCache::Of(*cache_).ledger().loaded_bytes();
  }

  std::vector<std::string> rows_;
  std::vector<FilterKey> keys_;
};

TEST_F(ManyWaitersTest, ADamagedReadCountsOnceAndAnswersMaybe) {
  const FilterReader& reader = *readers_[0];
  EXPECT_EQ(AskAndOffer(reader, /*damaged=*/true), 0u);
  const FilterStatsSnapshot stats = reader.stats();
  EXPECT_EQ(stats[FilterCounter::kLoadErrors], 1u);
  EXPECT_EQ(stats[FilterCounter::kChunkLoads], 0u);
  EXPECT_EQ(stats[FilterCounter::kChunkLoadBytes], reads_[0].size_bytes);
  EXPECT_EQ(LoadedBytes(), reads_[0].size_bytes);
  EXPECT_EQ(stats[FilterCounter::kLookups], kWaiters);
  EXPECT_EQ(stats[FilterCounter::kUnloaded], kWaiters);
  // After one failure the next lookup tries again.
  EXPECT_GT(AskAndOffer(reader, /*damaged=*/false), 0u);
  EXPECT_EQ(reader.stats()[FilterCounter::kChunkLoads], 1u);
}

TEST_F(ManyWaitersTest, AChunkThatTheCacheRefusesCountsOnceAndAnswersAll) {
  const auto reader =
      files_[0]->Open(testing::CachedIn(cache_, FilterLoading::kAlways));
  cache_->SetCapacity(0);
  const size_t negatives = AskAndOffer(*reader, /*damaged=*/false);
  EXPECT_GT(negatives, 30u);
  const FilterStatsSnapshot stats = reader->stats();
  EXPECT_EQ(stats[FilterCounter::kChunkLoads], 1u);
  EXPECT_EQ(stats[FilterCounter::kChunkLoadBytes], reads_[0].size_bytes);
  EXPECT_EQ(LoadedBytes(), reads_[0].size_bytes);
  EXPECT_EQ(stats[FilterCounter::kNegatives], negatives);
  EXPECT_EQ(stats[FilterCounter::kUnloaded], 0u);
  EXPECT_EQ(testing::LoadedSteps(*reader)[0], 0u);
}

TEST_F(SmallChunksTest, ThreadsLoseNoRow) {
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t, &lost] {
      for (uint64_t i = 0; i < 300; ++i) {
        const std::string row = NumberedRow(2 * (i * 16 + t));
        const FilterKey key = FilterKey::Row(row);
        std::vector<FilterQuestion> questions;
        for (const auto& reader : readers_) {
          questions.push_back({reader.get(), &key});
        }
        bool answers[20];
        std::vector<FilterRead> reads;
        std::atomic<bool> done{false};
        if (!loads_.Ask(
                questions, answers, [&] { done = true; }, &reads)) {
          for (const FilterRead& read : reads) {
            loads_.Offer(read, BytesOf(read));
          }
          while (!done) std::this_thread::yield();
        }
        for (const bool answer : answers) lost += answer ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lost, 0);
}

TEST_F(FilterLoadsDeathTest, MistakesNameTheCall) {
  std::vector<FilterRead> reads;
  const FilterQuestion question;
  bool answer = false;
  EXPECT_DEATH(loads_.Ask(
                   {&question, 1}, &answer, [] {}, &reads),
               "a question without a reader or a key");
  EXPECT_DEATH(loads_.Ask({}, &answer, nullptr, &reads), "done or reads is");
  EXPECT_DEATH(loads_.Ask(
                   {&question, 1}, nullptr, [] {}, &reads),
               "may_contain, done or reads is null");
  EXPECT_DEATH(loads_.Offer({readers_[0].get(), 0, 1}, ""),
               "not one of Ask.., or was offered before");
  const auto leave_a_read = [&] {
    const std::string row = NumberedRow(2001);
    const FilterKey key = FilterKey::Row(row);
    const FilterQuestion asked = {readers_[0].get(), &key};
    FilterLoads loads;
    loads.Ask(
        {&asked, 1}, &answer, [] {}, &reads);
  };
  EXPECT_DEATH(leave_a_read(), "destroyed while a read is under way");
}

}  // namespace
}  // namespace rowbloom
