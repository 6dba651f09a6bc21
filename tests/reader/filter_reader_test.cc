// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_reader.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "testing/fpr.h"

namespace rowbloom {
namespace {

using testing::BlockOptions;
using testing::Cell;
using ::testing::Each;
using testing::EvenRows;
using ::testing::HasSubstr;
using testing::NumberedRow;
using testing::OpenOrDie;
using testing::TestFile;

FilterOptions Options(BloomType type, uint32_t chunk_size_bytes = 4096) {
  return BlockOptions("blocked_bloom", 10, chunk_size_bytes, type);
}

TEST(FilterReader, OpensWithOneReadOfTheTail) {
  TestFile file(Options(BloomType::kRow), EvenRows(20000));
  const auto reader = OpenOrDie(&file.source, {});
  EXPECT_EQ(file.source.read_count(), 1u);
  EXPECT_EQ(file.source.read_bytes(), 16u << 10);
  EXPECT_EQ(reader->properties().chunk_count, 7u);
}

TEST(FilterReader, OpensWithExactlyTheTailIfItsSizeIsKnown) {
  std::string block;
  FilterReaderOptions options;
  options.tail_size_bytes =
      testing::AppendBlock(Options(BloomType::kRow), EvenRows(20000), &block)
          .tail_size_bytes;
  TestFile file(block);
  OpenOrDie(&file.source, options);
  EXPECT_EQ(file.source.read_count(), 1u);
  EXPECT_EQ(file.source.read_bytes(), options.tail_size_bytes);
}

TEST(FilterReader, ALongIndexCostsOneMoreRead) {
  TestFile file(Options(BloomType::kRow, 256), EvenRows(20000));
  FilterReaderOptions options;
  options.tail_size_bytes = 100;
  OpenOrDie(&file.source, options);
  EXPECT_EQ(file.source.read_count(), 2u);
}

TEST(FilterReader, ReadsABlockInsideAFile) {
  const std::string block =
      testing::WriteBlock(Options(BloomType::kRow), EvenRows(5000));
  const TestFile file(std::string(777, 'd') + block + "what follows");
  const auto reader = OpenOrDie(file.memory.get(), {}, {777, block.size()});
  EXPECT_TRUE(reader->Verify().ok());
  EXPECT_LT(testing::CountFalsePositives(*reader, 5000), 200u);
}

TEST(FilterReader, NoCellIsEverLost) {
  testing::Random random(51);
  const auto cache = NewShardedLruCache({1 << 20});
  for (const BloomType type :
       {BloomType::kNone, BloomType::kRow, BloomType::kRowCol,
        BloomType::kRowPrefixFixedLength}) {
    for (const uint32_t chunk_size : {256, 1000, 4096, 131072}) {
      for (const bool with_cache : {false, true}) {
        const std::vector<Cell> cells = testing::SortedCells(&random, 3000);
        TestFile file(Options(type, chunk_size), cells);
        FilterReaderOptions options;
        options.cache = with_cache ? cache.get() : nullptr;
        const auto reader = file.Open(options);
        std::vector<FilterKey> keys;
        for (const Cell& cell : cells) {
          ASSERT_TRUE(reader->MayContain(cell.row));
          ASSERT_TRUE(reader->MayContain(cell.row, cell.qualifier));
          keys.push_back(FilterKey::Row(cell.row));
          keys.push_back(FilterKey::RowCol(cell.row, cell.qualifier));
        }
        ASSERT_THAT(testing::Ask(*reader, keys), Each(true));
      }
    }
  }
}

TEST(FilterReader, ObservedRateIsTheExpectedOneAtEveryChunkSize) {
  constexpr uint64_t kRows = 900000;
  for (const uint32_t chunk_size : {4096, 131072, 1 << 20}) {
    TestFile file(Options(BloomType::kRow, chunk_size), EvenRows(kRows));
    EXPECT_TRUE(testing::WithinBinomialBound(
        testing::CountFalsePositives(*file.Open(), kRows), kRows,
        Options(BloomType::kRow).filter_spec.expected_fpr(), 0.03))
        << chunk_size;
  }
}

TEST(FilterReader, KeysBeforeTheFirstAndBehindTheLastAreNoWithoutIo) {
  TestFile file(Options(BloomType::kRowCol), EvenRows(9));
  const auto reader = file.Open();
  EXPECT_FALSE(reader->MayContain("a"));
  EXPECT_FALSE(reader->MayContain("z"));
  EXPECT_FALSE(reader->MayContain(NumberedRow(16), "q1"));  // Last is q0.
  EXPECT_EQ(file.source.read_count(), 0u);
}

TEST(FilterReader, ARowFilterAnswersACellForItsRow) {
  TestFile file(Options(BloomType::kRow), EvenRows(100));
  EXPECT_TRUE(file.Open()->MayContain(NumberedRow(4), "no such column"));
}

TEST(FilterReader, ARowColFilterWithoutRowKeysCannotSayNoToARow) {
  FilterOptions options = Options(BloomType::kRowCol);
  options.rowcol_adds_rows = false;
  TestFile file(options, EvenRows(1000));
  const auto reader = file.Open();
  EXPECT_FALSE(reader->properties().has_row_keys);
  uint64_t absent_cells = 0;
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_TRUE(reader->MayContain(NumberedRow(2 * i + 1)));
    absent_cells += reader->MayContain(NumberedRow(2 * i + 1), "q0");
  }
  EXPECT_LT(absent_cells, 100u);
}

TEST(FilterReader, OfNoCellsSaysNoAndOfTypeNoneSaysMaybe) {
  for (const BloomType type : {BloomType::kNone, BloomType::kRow}) {
    TestFile file(Options(type), {});
    const auto reader = file.Open();
    EXPECT_EQ(reader->MayContain("row"), type == BloomType::kNone);
    EXPECT_TRUE(reader->Verify().ok());
  }
}

TEST(FilterReader, TwoBlocksUnderOneIdNeverAnswerForEachOther) {
  const auto cache = NewShardedLruCache({8 << 20});
  const FilterReaderOptions options =
      testing::CachedIn(cache, FilterLoading::kWhenItPays, 77);
  std::vector<Cell> odd_cells = EvenRows(1000);
  for (Cell& cell : odd_cells) cell.row += "!";
  TestFile even(Options(BloomType::kRow), EvenRows(1000));
  TestFile odd(Options(BloomType::kRow), odd_cells);
  const auto even_reader = even.Open(options);
  const auto odd_reader = odd.Open(options);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 1000; ++i) {
      ASSERT_TRUE(even_reader->MayContain(NumberedRow(2 * i)));
      ASSERT_TRUE(odd_reader->MayContain(NumberedRow(2 * i) + "!"));
    }
  }
}

TEST(FilterReader, GivenIdsAreBelow2To63) {
  const TestFile file(Options(BloomType::kRow), EvenRows(10));
  FilterReaderOptions options;
  options.file_id = (uint64_t{1} << 63) - 1;
  EXPECT_TRUE(FilterReader::Open(file.memory.get(), {}, options).ok());
  ++options.file_id;
  const absl::Status status =
      FilterReader::Open(file.memory.get(), {}, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()),
            "file_id 9223372036854775808 is not below 2^63");
}

TEST(FilterReader, OwnIdsAreNoFileNumbersAndTheirChunksLeaveWithTheReader) {
  const auto cache = NewShardedLruCache({8 << 20});
  TestFile file(Options(BloomType::kRow), EvenRows(20000));
  auto reader = file.Open(testing::CachedIn(cache));
  EXPECT_GE(reader->file_id(), uint64_t{1} << 63);
  testing::CountFalsePositives(*reader, 20000);
  // The cache also has an entry that charges for the index.
  EXPECT_EQ(cache->GetUsage().entry_count, reader->properties().chunk_count);
  reader.reset();
  EXPECT_EQ(cache->GetUsage().entry_count, 0u);
}

TEST(FilterReader, VerifyNoticesAnotherBlockInItsPlace) {
  TestFile file(Options(BloomType::kRow, 256), EvenRows(3000));
  const std::string other = testing::WriteBlock(Options(BloomType::kRow, 256),
                                                {{std::string(300, 'x'), ""}});
  const auto reader = file.Open();
  ASSERT_GT(reader->properties().chunk_count, 10u);
  file.bytes.replace(file.bytes.size() - other.size(), other.size(), other);
  EXPECT_EQ(reader->Verify().code(), absl::StatusCode::kDataLoss);
  for (uint64_t i = 0; i < 3000; ++i) reader->MayContain(NumberedRow(i));
}

TEST(FilterReader, ACacheThatIsTooSmallCostsReadsButNoAnswers) {
  TestFile file(Options(BloomType::kRow), EvenRows(20000));
  const auto cache = NewShardedLruCache({1000, 0});
  const auto reader =
      file.Open(testing::CachedIn(cache, FilterLoading::kAlways));
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_TRUE(reader->MayContain(NumberedRow(2 * i)));
  }
  EXPECT_EQ(file.source.read_count(), 1000u);
  // The reader itself takes half of it.
  EXPECT_EQ(cache->GetUsage().usage_bytes, 500u);
}

TEST(FilterReader, FailedAndShortReadsAreErrorsOfStrictCallsOnly) {
  TestFile file(Options(BloomType::kRow), EvenRows(5000));
  const auto reader = file.Open();
  file.source.ShortenReads(1);
  EXPECT_TRUE(reader->MayContain(NumberedRow(1)));
  EXPECT_EQ(reader->Verify().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(FilterReader::Open(&file.source, {}, {}).ok());
  file.source.FailAllReads();
  EXPECT_EQ(reader->Verify().code(), absl::StatusCode::kUnavailable);
  file.source.Heal();
  EXPECT_TRUE(reader->Verify().ok());
}

TEST(FilterReader, DamageToAChunkAfterOpenAnswersMaybeForThisChunkOnly) {
  TestFile file(Options(BloomType::kRow), EvenRows(5000));
  const auto reader = file.Open();
  const std::vector<FilterChunkInfo> chunks = reader->Chunks();
  ASSERT_EQ(chunks.size(), 2u);
  file.source.FlipBit(chunks[1].offset + 100, 5);
  uint64_t absent[2] = {}, positives[2] = {};
  for (uint64_t i = 1; i < 9999; i += 2) {
    const std::string row = NumberedRow(i);
    const auto chunk =
        static_cast<size_t>(reader->ChunkOf(FilterKey::Row(row)));
    ++absent[chunk];
    positives[chunk] += reader->MayContain(row);
  }
  EXPECT_LT(positives[0], absent[0] / 20);
  EXPECT_EQ(positives[1], absent[1]);
  const absl::Status status = reader->Verify();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.ToString(),
              HasSubstr("f.sst: offset " + std::to_string(chunks[1].offset) +
                        ": checksum of filter unit 0"));
}

TEST(FilterReader, TheFirstChunkBeginsWithTheFirstKey) {
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    FilterOptions options = Options(type);
    options.rowcol_adds_rows = false;
    TestFile file(options, EvenRows(5000));
    const auto reader = file.Open();
    const FilterChunkInfo first = reader->Chunks().front();
    EXPECT_EQ(first.first_row, NumberedRow(0));
    EXPECT_EQ(first.first_has_qualifier, type == BloomType::kRowCol);
    EXPECT_EQ(first.first_qualifier, type == BloomType::kRowCol ? "q0" : "");
  }
}

TEST(FilterReader, ARangeOutsideTheFileIsDataLoss) {
  const TestFile file("short");
  for (const FilterBlockRange& range :
       {FilterBlockRange{100, 50}, FilterBlockRange{1, ~uint64_t{0}}}) {
    EXPECT_EQ(FilterReader::Open(file.memory.get(), range, {}).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(FilterReader, PropertiesAndChunksAreReported) {
  TestFile file(Options(BloomType::kRowCol), EvenRows(2000, 2));
  const auto reader = file.Open();
  const FilterBlockProperties& p = reader->properties();
  EXPECT_EQ(p.bloom_type, BloomType::kRowCol);
  EXPECT_EQ(p.cell_count, 4000u);
  EXPECT_EQ(p.key_count, 6000u);
  EXPECT_EQ(p.first_row, NumberedRow(0));
  EXPECT_EQ(p.last_row, NumberedRow(3998));
  EXPECT_EQ(p.last_qualifier, "q1");
  uint64_t keys = 0;
  for (const FilterChunkInfo& chunk : reader->Chunks()) {
    keys += chunk.descriptor.key_count;
  }
  EXPECT_EQ(keys, p.key_count);
}

}  // namespace
}  // namespace rowbloom
