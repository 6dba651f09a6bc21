// SPDX-License-Identifier: Apache-2.0
//
// Tests batches over many readers: they answer as single lookups do, and read
// no more than they must.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cache/chunk_cache.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "testing/counting_source.h"
#include "testing/faulty_source.h"

namespace rowbloom {
namespace {

using testing::CountingSource;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::NumberedRow;
using testing::ReadRange;

constexpr uint64_t kRows = 5000;

std::string Block(std::string_view family, BloomType type = BloomType::kRow) {
  FilterOptions options;
  options.filter_spec = FilterSpec::BitsPerKey(family, 10);
  options.bloom_type = type;
  if (type == BloomType::kRowPrefixFixedLength) options.prefix_length_bytes = 8;
  options.chunk_size_bytes = 1024;
  return testing::WriteBlock(options, testing::EvenRows(kRows));
}

struct File {
  explicit File(std::string bytes)
      : block(std::move(bytes)),
        memory(NewMemorySource(block)),
        counting(memory.get()) {}

  const std::string block;
  const std::unique_ptr<RandomAccessSource> memory;
  CountingSource counting;
};

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

std::vector<char> AskAll(const std::vector<FilterQuestion>& questions) {
  const auto answers = std::make_unique<bool[]>(questions.size());
  FilterReader::MayContain(questions, answers.get());
  return {answers.get(), answers.get() + questions.size()};
}

TEST(FilterReaderBatch, OverManyReadersAnswersAsSingleLookupsDo) {
  std::vector<std::unique_ptr<File>> files;
  for (const std::string_view family : FilterFamilyNames()) {
    for (const BloomType type :
         {BloomType::kNone, BloomType::kRow, BloomType::kRowCol,
          BloomType::kRowPrefixFixedLength}) {
      files.push_back(std::make_unique<File>(Block(family, type)));
    }
  }
  testing::Random random(1);
  for (const size_t capacity : {0, 30000, 8 << 20}) {
    const auto cache = NewShardedLruCache({capacity, 0});
    FilterReaderOptions options;
    options.cache = capacity == 0 ? nullptr : cache.get();
    options.loading = FilterLoading::kAlways;
    FilterStats single_stats, batch_stats;
    std::vector<std::unique_ptr<FilterReader>> singles, readers;
    for (const auto& file : files) {
      options.stats = &single_stats;
      singles.push_back(testing::OpenOrDie(file->memory.get(), options));
      options.stats = &batch_stats;
      readers.push_back(testing::OpenOrDie(file->memory.get(), options));
    }
    std::vector<std::string> rows;
    for (int i = 0; i < 300; ++i) {
      rows.push_back(NumberedRow(random.Below(3 * kRows)));
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
    EXPECT_EQ(AskAll(questions), expected);
    EXPECT_EQ(batch_stats.Snapshot()[FilterCounter::kLookups],
              questions.size());
    EXPECT_EQ(batch_stats.Snapshot()[FilterCounter::kNegatives],
              single_stats.Snapshot()[FilterCounter::kNegatives]);
    EXPECT_EQ(batch_stats.Snapshot()[FilterCounter::kUnloaded], 0u);
  }
}

TEST(FilterReaderBatch, OfNothingIsAnswered) { AskAll({}); }

// Batches ask for a present row of every chunk of the file.
class ColdBatchTest : public ::testing::TestWithParam<size_t> {
 protected:
  void Open(FilterLoading loading) {
    FilterReaderOptions options;
    options.cache = cache_.get();
    options.loading = loading;
    reader_ = testing::OpenOrDie(&file_.counting, options);
    rows_ = FirstRows(*reader_);
    for (const std::string& row : rows_) keys_.push_back(FilterKey::Row(row));
    ASSERT_GE(keys_.size(), 5u);
    file_.counting.Reset();
  }
  std::vector<char> AskAllChunks() const {
    std::vector<FilterQuestion> questions;
    for (const FilterKey& key : keys_)
      questions.push_back({reader_.get(), &key});
    return AskAll(questions);
  }

  File file_{Block("blocked_bloom")};
  const std::unique_ptr<FilterCache> cache_ =
      NewShardedLruCache({GetParam(), 0});
  std::unique_ptr<FilterReader> reader_;
  std::vector<std::string> rows_;
  std::vector<FilterKey> keys_;
};

INSTANTIATE_TEST_SUITE_P(Capacities, ColdBatchTest,
                         ::testing::Values(0, 10000, 1 << 20));

// This holds even if the cache has no room for the chunks.
TEST_P(ColdBatchTest, ReadsEachChunkOnceAndAllTogether) {
  Open(FilterLoading::kAlways);
  EXPECT_THAT(AskAllChunks(), Each(true));
  const uint64_t size = reader_->properties().filter_size_bytes;
  EXPECT_THAT(file_.counting.reads(), ElementsAre(ReadRange{0, size}));
  EXPECT_EQ(reader_->stats()[FilterCounter::kChunkLoads], keys_.size());
  EXPECT_EQ(reader_->stats()[FilterCounter::kChunkLoadBytes], size);
  EXPECT_EQ(cache::Access::LedgerOf(*cache_)->GetTotals().loaded_bytes, size);
}

TEST(FilterReaderBatch, LookupsThatHadToLoadCountAsMisses) {
  const File file(Block("blocked_bloom"));
  const auto cache = NewShardedLruCache({8 << 20, 0});
  FilterReaderOptions options;
  options.cache = cache.get();
  const auto reader = testing::OpenOrDie(file.memory.get(), options);
  // All keys are in one chunk, so that one batch is cold and the next one is
  // warm.
  const std::string row = NumberedRow(0);
  const std::vector<FilterKey> keys(16000, FilterKey::Row(row));
  const auto answers = std::make_unique<bool[]>(keys.size());
  reader->MayContain(keys, answers.get());
  const FilterCache::Usage cold = cache->GetUsage();
  EXPECT_EQ(cold.hits, 0u);
  EXPECT_EQ(cold.misses, 16000u);
  reader->MayContain(keys, answers.get());
  const FilterCache::Usage warm = cache->GetUsage();
  EXPECT_EQ(warm.hits, 16000u);
  EXPECT_EQ(warm.misses, 16000u);
}

TEST(FilterReaderBatch, MayOverdrawTheLedgerByOneLoadOnly) {
  constexpr size_t kCapacity = 20000;
  FilterOptions options;
  options.chunk_size_bytes = 1024;
  const File file(testing::WriteBlock(options, testing::EvenRows(50000)));
  const auto cache = NewShardedLruCache({kCapacity, 0});
  FilterReaderOptions reader_options;
  reader_options.cache = cache.get();
  const auto reader = testing::OpenOrDie(file.memory.get(), reader_options);
  ASSERT_GT(reader->properties().filter_size_bytes, 3 * kCapacity);
  const std::vector<std::string> rows = FirstRows(*reader);
  std::vector<FilterKey> keys;
  for (const std::string& row : rows) keys.push_back(FilterKey::Row(row));
  const auto answers = std::make_unique<bool[]>(keys.size());
  for (int i = 0; i < 100; ++i) {
    reader->MayContain(keys, answers.get());
    const cache::LoadLedger::Totals totals =
        cache::Access::LedgerOf(*cache)->GetTotals();
    // Lookups of present rows save nothing.
    ASSERT_LE(
        totals.loaded_bytes,
        kCapacity + 1024 + totals.unfiltered_bytes / 100 + totals.saved_bytes);
  }
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
  std::vector<std::unique_ptr<File>> files;
  std::vector<std::unique_ptr<StoreSource>> sources;
  const auto cache = NewShardedLruCache({8 << 20, 0});
  std::vector<std::unique_ptr<FilterReader>> readers;
  int waits = 0;
  FilterReaderOptions options;
  options.cache = cache.get();
  const std::string row = NumberedRow(10);
  const FilterKey there = FilterKey::Row(row);
  std::vector<FilterQuestion> questions;
  for (int i = 0; i < 20; ++i) {
    files.push_back(std::make_unique<File>(Block("compact")));
    sources.push_back(
        std::make_unique<StoreSource>(files.back()->memory.get(), &waits));
    readers.push_back(testing::OpenOrDie(sources.back().get(), options));
    questions.push_back({readers.back().get(), &there});
  }
  waits = 0;
  EXPECT_THAT(AskAll(questions), Each(true));
  EXPECT_EQ(waits, 1);
  for (const auto& reader : readers) {
    EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], 1u);
  }
  AskAll(questions);
  EXPECT_EQ(waits, 1);
}

TEST(FilterReaderBatch, AFailedReadAnswersMaybeAndIsTriedAgainByTheNext) {
  const std::string block = Block("blocked_bloom");
  const auto memory = NewMemorySource(block);
  testing::FaultySource faulty(memory.get());
  const auto cache = NewShardedLruCache({1 << 20, 0});
  FilterReaderOptions options;
  options.cache = cache.get();
  const auto reader = testing::OpenOrDie(&faulty, options);
  const std::vector<std::string> rows = FirstRows(*reader);
  std::vector<FilterKey> keys;
  std::vector<FilterQuestion> questions;
  for (const std::string& row : rows) keys.push_back(FilterKey::Row(row));
  for (const FilterKey& key : keys) questions.push_back({reader.get(), &key});
  const uint64_t before = faulty.read_count();
  faulty.FailRead(1);
  EXPECT_THAT(AskAll(questions), Each(true));
  EXPECT_EQ(faulty.read_count() - before, 1u);
  EXPECT_EQ(reader->stats()[FilterCounter::kLoadErrors], rows.size());
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], rows.size());
  EXPECT_THAT(AskAll(questions), Each(true));
  EXPECT_EQ(faulty.read_count() - before, 2u);
  EXPECT_EQ(reader->stats()[FilterCounter::kChunkLoads], rows.size());
  EXPECT_EQ(reader->stats()[FilterCounter::kUnloaded], rows.size());
}

}  // namespace
}  // namespace rowbloom
