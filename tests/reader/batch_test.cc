// SPDX-License-Identifier: Apache-2.0
//
// Tests batches over many readers: they answer as single lookups do, and read
// no more than they must.

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "cache/cached_chunks.h"
#include "cache/load_ledger.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "testing/counting_source.h"

namespace rowbloom {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::NumberedRow;
using testing::ReadRange;
using testing::TestFile;

constexpr uint64_t kBatchRows = 5000;

FilterOptions Options(std::string_view family,
                      BloomType type = BloomType::kRow) {
  return testing::BlockOptions(family, 10, 1024, type);
}

// Returns the first row of each chunk of a ROW block over EvenRows().
std::vector<std::string> FirstRows(const FilterReader& reader) {
  std::vector<std::string> rows;
  uint64_t rows_before = 0;
  for (const FilterChunkInfo& chunk : reader.Chunks()) {
    rows.push_back(NumberedRow(2 * rows_before));
    rows_before += chunk.descriptor.key_count;
  }
  return rows;
}

TEST(FilterReaderBatch, OverManyReadersAnswersAsSingleLookupsDo) {
  std::vector<std::unique_ptr<TestFile>> files;
  for (const std::string_view family : FilterFamilyNames()) {
    for (const BloomType type :
         {BloomType::kNone, BloomType::kRow, BloomType::kRowCol,
          BloomType::kRowPrefixFixedLength}) {
      files.push_back(std::make_unique<TestFile>(
          Options(family, type), testing::EvenRows(kBatchRows)));
    }
  }
  testing::Random random(1);
  for (const size_t capacity : {0, 30000, 8 << 20}) {
    const auto cache = NewShardedLruCache({capacity, 0});
    FilterReaderOptions options =
        testing::CachedIn(cache, FilterLoading::kAlways);
    if (capacity == 0) options.cache = nullptr;
    FilterStats single_stats, batch_stats;
    std::vector<std::unique_ptr<FilterReader>> singles, readers;
    for (const auto& file : files) {
      options.stats = &single_stats;
      singles.push_back(file->Open(options));
      options.stats = &batch_stats;
      readers.push_back(file->Open(options));
    }
    std::vector<std::string> rows;
    for (int i = 0; i < 300; ++i) {
      rows.push_back(NumberedRow(random.Below(3 * kBatchRows)));
    }
    std::vector<FilterKey> keys;
    for (const std::string& row : rows) {
      keys.push_back(random.Below(2) == 0 ? FilterKey::Row(row)
                                          : FilterKey::RowCol(row, "q0"));
    }
    std::vector<FilterQuestion> questions;
    std::vector<char> expected;
    for (int i = 0; i < 10000; ++i) {
      const size_t reader = random.Below(readers.size());
      const FilterKey& key = keys[random.Below(keys.size())];
      questions.push_back({readers[reader].get(), &key});
      expected.push_back(singles[reader]->MayContain(key));
    }
    EXPECT_EQ(testing::Ask(questions), expected);
    EXPECT_EQ(batch_stats.Snapshot()[FilterCounter::kLookups],
              questions.size());
    EXPECT_EQ(batch_stats.Snapshot()[FilterCounter::kNegatives],
              single_stats.Snapshot()[FilterCounter::kNegatives]);
    EXPECT_EQ(batch_stats.Snapshot()[FilterCounter::kUnloaded], 0u);
  }
}

// Batches of any size, of files that are small or exceed the processor's cache,
// in memory or not, have the answers and counters of a loop.
TEST(FilterReaderBatch, CountsAsALoopDoes) {
  constexpr size_t kLoop = 0;
  constexpr size_t kAll = 2000;
  for (const uint64_t rows : {uint64_t{1000}, uint64_t{500000}}) {
    for (const size_t capacity : {size_t{0}, size_t{64} << 20}) {
      FilterOptions filter_options = testing::BlockOptions("fast", 10, 1 << 17);
      filter_options.key_codec = *KeyCodec::Parse("fixed:6,rest");
      const std::string block =
          testing::WriteBlock(filter_options, testing::EvenRows(rows));
      const auto source = NewMemorySource(block);
      std::vector<FilterStatsSnapshot> stats;
      std::vector<std::vector<char>> answers;
      for (const size_t batch_size : {kLoop, size_t{1}, size_t{3}, kAll}) {
        const auto cache = NewShardedLruCache({capacity, 0});
        std::vector<std::unique_ptr<FilterReader>> readers;
        for (int i = 0; i < 20; ++i) {
          FilterReaderOptions options = testing::CachedIn(cache);
          options.prefetch = true;
          readers.push_back(testing::OpenOrDie(source.get(), options));
        }
        // Some lie before the first row or after the last.
        std::vector<std::string> names = {"a", "zzz"};
        for (uint64_t i = 0; i < 50; ++i) {
          names.push_back(NumberedRow(i * rows / 25 + i % 2));
        }
        std::vector<FilterKey> keys = testing::RowKeys(names);
        for (const std::string& name : names) {
          keys.push_back(FilterKey::Prefix(name));
        }
        std::vector<FilterQuestion> questions;
        for (const FilterKey& key : keys) {
          for (const auto& reader : readers) {
            questions.push_back({reader.get(), &key});
          }
        }
        std::vector<char>& answer = answers.emplace_back();
        for (size_t i = 0; batch_size != kLoop && i < questions.size();
             i += batch_size) {
          const auto some = testing::Ask(
              absl::MakeConstSpan(questions).subspan(i, batch_size));
          answer.insert(answer.end(), some.begin(), some.end());
        }
        for (size_t i = 0; batch_size == kLoop && i < questions.size(); ++i) {
          answer.push_back(questions[i].reader->MayContain(*questions[i].key));
        }
        stats.emplace_back();
        for (const auto& reader : readers) stats.back() += reader->stats();
      }
      for (size_t i = 1; i < stats.size(); ++i) {
        EXPECT_EQ(answers[i], answers[0]) << i;
        EXPECT_EQ(stats[i].values, stats[0].values)
            << rows << " " << capacity << " " << i;
      }
      EXPECT_GT(stats[0][FilterCounter::kPrefixLookups], 0u);
    }
  }
}

TEST(FilterReaderBatch, OfNothingIsAnswered) {
  EXPECT_TRUE(testing::Ask({}).empty());
  TestFile file(Options("fast"), testing::EvenRows(10));
  file.Open()->MayContain(absl::Span<const FilterKey>(), nullptr);
  FilterView().MayContain({}, nullptr);
}

class ColdBatchTest : public ::testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(Capacities, ColdBatchTest,
                         ::testing::Values(0, 10000, 1 << 20));

// This holds even if the cache has no room for the chunks.
TEST_P(ColdBatchTest, ReadsEachChunkOnceAndAllTogether) {
  TestFile file(Options("blocked_bloom"), testing::EvenRows(kBatchRows));
  const auto cache = NewShardedLruCache({GetParam(), 0});
  const auto reader =
      file.Open(testing::CachedIn(cache, FilterLoading::kAlways));
  const std::vector<std::string> rows = FirstRows(*reader);
  ASSERT_GE(rows.size(), 5u);
  EXPECT_THAT(testing::Ask(*reader, testing::RowKeys(rows)), Each(true));
  const uint64_t size = reader->properties().filter_size_bytes;
  EXPECT_THAT(file.source.reads(), ElementsAre(ReadRange{0, size}));
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], rows.size());
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoadBytes], size);
  EXPECT_EQ(internal::cache::ChunkCache::Of(*cache).ledger().loaded_bytes(),
            size);
}

TEST(FilterReaderBatch, LookupsThatHadToLoadCountAsMisses) {
  TestFile file(Options("blocked_bloom"), testing::EvenRows(kBatchRows));
  const auto cache = NewShardedLruCache({8 << 20, 0});
  const auto reader = file.Open(testing::CachedIn(cache));
  // All keys are in one chunk, so that one batch is cold and the next one is
  // warm.
  const std::string row = NumberedRow(0);
  const std::vector<FilterKey> keys(16000, FilterKey::Row(row));
  testing::Ask(*reader, keys);
  EXPECT_EQ(cache->GetUsage().hits, 0u);
  EXPECT_EQ(cache->GetUsage().misses, 16000u);
  testing::Ask(*reader, keys);
  EXPECT_EQ(cache->GetUsage().hits, 16000u);
  EXPECT_EQ(cache->GetUsage().misses, 16000u);
}

TEST(FilterReaderBatch, MayOverdrawTheLedgerByOneLoadOnly) {
  constexpr size_t kCapacity = 20000;
  TestFile file(Options("blocked_bloom"), testing::EvenRows(50000));
  const auto cache = NewShardedLruCache({kCapacity, 0});
  FilterReaderOptions options;
  options.cache = cache.get();
  const auto reader = file.Open(options);
  ASSERT_GT(reader->properties().filter_size_bytes, 3 * kCapacity);
  const std::vector<std::string> rows = FirstRows(*reader);
  const std::vector<FilterKey> keys = testing::RowKeys(rows);
  const internal::cache::LoadLedger& ledger =
      internal::cache::ChunkCache::Of(*cache).ledger();
  for (int i = 0; i < 100; ++i) {
    testing::Ask(*reader, keys);
    // Lookups of present rows save nothing.
    ASSERT_LE(ledger.loaded_bytes(),
              kCapacity + 1024 +
                  ledger.lookups() * options.data_block_size_bytes / 100);
  }
}

// Notes the bytes of all reads of each call.
class RoundsSource final : public testing::CountingSource {
 public:
  using CountingSource::CountingSource;
  void ReadMany(absl::Span<SourceRead> reads) const override {
    RandomAccessSource::ReadMany(reads);
    rounds_.push_back(0);
    for (const SourceRead& read : reads) rounds_.back() += read.size_bytes;
  }
  const std::vector<uint64_t>& rounds() const { return rounds_; }

 private:
  mutable std::vector<uint64_t> rounds_;
};

// How chunks are loaded, their size, and one in how many is asked.
using RoundsParam = std::tuple<FilterLoading, uint32_t, size_t>;
class BatchRoundsTest : public ::testing::TestWithParam<RoundsParam> {};

// The gaps between small chunks are read as well.
INSTANTIATE_TEST_SUITE_P(
    Loads, BatchRoundsTest,
    ::testing::Values(RoundsParam{FilterLoading::kAlways, 1 << 16, 1},
                      RoundsParam{FilterLoading::kWhenItPays, 1 << 16, 1},
                      RoundsParam{FilterLoading::kAlways, 1024, 4}));

TEST_P(BatchRoundsTest, ABatchReads32MebibytesAndAChunkAtMostAtOnce) {
  constexpr uint64_t kAtOnce = 32 << 20;
  const auto [loading, chunk_size_bytes, one_in] = GetParam();
  const TestFile file(
      testing::BlockOptions("blocked_bloom", 20, chunk_size_bytes),
      testing::EvenRows(1300000));
  const RoundsSource source(file.memory.get());
  // The cache has room for all chunks once, and its grant pays for each once.
  const auto cache = NewShardedLruCache({64 << 20, 0});
  std::vector<std::unique_ptr<FilterReader>> readers;
  for (int i = 0; i < 14; ++i) {
    readers.push_back(
        testing::OpenOrDie(&source, testing::CachedIn(cache, loading)));
  }
  std::vector<std::string> rows = FirstRows(*readers[0]);
  const size_t chunks = (rows.size() - 1) / one_in + 1;
  for (size_t i = 0; i < chunks; ++i) rows[i] = rows[i * one_in];
  rows.resize(chunks);
  for (size_t i = 0; i < chunks; ++i) {
    rows.push_back(rows[i]);
    ++rows.back().back();  // An odd row, of the same chunk.
  }
  const std::vector<FilterKey> keys = testing::RowKeys(rows);
  std::vector<FilterQuestion> questions;
  for (const auto& reader : readers) {
    for (const FilterKey& key : keys) questions.push_back({reader.get(), &key});
  }
  const std::vector<char> answers = testing::Ask(questions);
  uint64_t read_bytes = 0;
  for (size_t i = 0; i < source.rounds().size(); ++i) {
    const uint64_t bytes = source.rounds()[i];
    EXPECT_LE(bytes, kAtOnce + chunk_size_bytes + 4096);
    if (i + 1 < source.rounds().size()) {
      EXPECT_GE(bytes, kAtOnce);
    }
    read_bytes += bytes;
  }
  EXPECT_GT(read_bytes, kAtOnce);
  for (const auto& reader : readers) {
    EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], chunks);
    EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], 0u);
  }
  uint64_t positives = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    if (i % keys.size() < chunks) {
      EXPECT_TRUE(answers[i]);
    } else {
      positives += answers[i] ? 1 : 0;
    }
  }
  EXPECT_LT(positives, answers.size() / 20);
}

// Counts the calls that wait, as calls to an object store do.
class StoreSource final : public RandomAccessSource {
 public:
  StoreSource(const RandomAccessSource* source, int* waits)
      : source_(source), waits_(waits) {}
  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    ++*waits_;
    return source_->Read(offset, size_bytes, scratch, result);
  }
  void ReadMany(absl::Span<SourceRead> reads) const override {
    RandomAccessSource::ReadMany(reads);
    *waits_ += 1 - static_cast<int>(reads.size());
  }
  const void* read_group() const override { return waits_; }
  uint64_t size_bytes() const override { return source_->size_bytes(); }
  std::string_view name() const override { return source_->name(); }

 private:
  const RandomAccessSource* const source_;
  int* const waits_;
};

TEST(FilterReaderBatch, ManyColdFilesOfOneGroupAreOneWait) {
  const TestFile file(Options("compact"), testing::EvenRows(kBatchRows));
  std::vector<std::unique_ptr<StoreSource>> sources;
  std::vector<std::unique_ptr<FilterReader>> readers;
  int waits = 0;
  const std::string row = NumberedRow(10);
  const FilterKey there = FilterKey::Row(row);
  std::vector<FilterQuestion> questions;
  for (int i = 0; i < 20; ++i) {
    sources.push_back(std::make_unique<StoreSource>(file.memory.get(), &waits));
    readers.push_back(testing::OpenOrDie(sources.back().get(), {}));
    questions.push_back({readers.back().get(), &there});
  }
  waits = 0;
  EXPECT_THAT(testing::Ask(questions), Each(true));
  EXPECT_EQ(waits, 1);
  for (const auto& reader : readers) {
    EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 1u);
  }
  testing::Ask(questions);
  EXPECT_EQ(waits, 1);
}

TEST(FilterReaderBatch, AFailedReadAnswersMaybeAndIsTriedAgainByTheNext) {
  TestFile file(Options("blocked_bloom"), testing::EvenRows(kBatchRows));
  const auto reader = file.Open();
  const std::vector<std::string> rows = FirstRows(*reader);
  const std::vector<FilterKey> keys = testing::RowKeys(rows);
  file.source.FailRead(1);
  EXPECT_THAT(testing::Ask(*reader, keys), Each(true));
  EXPECT_EQ(file.source.read_count(), 1u);
  EXPECT_EQ(reader->stats()[FilterCounter::kLoadErrors], rows.size());
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], rows.size());
  EXPECT_THAT(testing::Ask(*reader, keys), Each(true));
  EXPECT_EQ(file.source.read_count(), 2u);
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], rows.size());
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], rows.size());
}

}  // namespace
}  // namespace rowbloom
