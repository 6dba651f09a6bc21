// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_reader.h"

#include <gtest/gtest.h>

#include "reader/test_block.h"
#include "testing/counting_source.h"
#include "testing/faulty_source.h"
#include "testing/fpr.h"

namespace rowbloom {
namespace {

using testing::Cell;
using testing::CountingSource;
using testing::EvenRows;
using testing::FaultySource;
using testing::NumberedRow;
using testing::OpenOrDie;
using testing::Random;
using testing::WriteBlock;

FilterOptions Options(BloomType type, uint32_t chunk_size_bytes = 4096) {
  FilterOptions options;
  options.bloom_type = type;
  options.chunk_size_bytes = chunk_size_bytes;
  if (type == BloomType::kRowPrefixFixedLength) options.prefix_length_bytes = 4;
  return options;
}

TEST(FilterReader, OpensWithOneReadOfTheTail) {
  const std::string block =
      WriteBlock(Options(BloomType::kRow), EvenRows(20000));
  const auto memory = NewMemorySource(block);
  CountingSource counting(memory.get());
  const auto reader = OpenOrDie(&counting, {});
  EXPECT_EQ(counting.read_count(), 1u);
  EXPECT_EQ(counting.read_bytes(), 16u << 10);
  EXPECT_EQ(reader->properties().chunk_count, 7u);
}

TEST(FilterReader, OpensWithExactlyTheTailIfItsSizeIsKnown) {
  std::string block;
  const auto sink = NewStringSink(&block);
  FilterBlockWriter writer(Options(BloomType::kRow), sink.get());
  for (const Cell& cell : EvenRows(20000)) writer.Add(cell.row, cell.qualifier);
  const auto info = writer.Finish();
  const auto memory = NewMemorySource(block);
  CountingSource counting(memory.get());
  FilterReaderOptions options;
  options.tail_size_bytes = info->tail_size_bytes;
  OpenOrDie(&counting, options);
  EXPECT_EQ(counting.read_count(), 1u);
  EXPECT_EQ(counting.read_bytes(), info->tail_size_bytes);
}

TEST(FilterReader, ALongIndexCostsOneMoreRead) {
  const std::string block =
      WriteBlock(Options(BloomType::kRow, 256), EvenRows(20000));
  const auto memory = NewMemorySource(block);
  CountingSource counting(memory.get());
  FilterReaderOptions options;
  options.tail_size_bytes = 100;
  OpenOrDie(&counting, options);
  EXPECT_EQ(counting.read_count(), 2u);
}

TEST(FilterReader, ReadsABlockInsideAFile) {
  const std::string block =
      WriteBlock(Options(BloomType::kRow), EvenRows(5000));
  const std::string file = std::string(777, 'd') + block + "what follows";
  const auto memory = NewMemorySource(file, "the.sst");
  const auto reader = FilterReader::Open(memory.get(), {777, block.size()}, {});
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_TRUE((*reader)->Verify().ok());
  for (uint64_t i = 0; i < 5000; ++i) {
    ASSERT_TRUE((*reader)->MayContain(NumberedRow(2 * i)));
  }
}

TEST(FilterReader, NoCellIsEverLost) {
  Random random(51);
  const auto cache = NewShardedLruCache({1 << 20});
  for (const BloomType type :
       {BloomType::kNone, BloomType::kRow, BloomType::kRowCol,
        BloomType::kRowPrefixFixedLength}) {
    for (const uint32_t chunk_size : {256, 1000, 4096, 131072}) {
      for (const bool with_cache : {false, true}) {
        const std::vector<Cell> cells = testing::SortedCells(&random, 3000);
        const std::string block = WriteBlock(Options(type, chunk_size), cells);
        const auto memory = NewMemorySource(block);
        FilterReaderOptions options;
        options.cache = with_cache ? cache.get() : nullptr;
        const auto reader = OpenOrDie(memory.get(), options);
        std::vector<FilterKey> keys;
        for (const Cell& cell : cells) {
          ASSERT_TRUE(reader->MayContain(cell.row));
          ASSERT_TRUE(reader->MayContain(cell.row, cell.qualifier));
          keys.push_back(FilterKey::Row(cell.row));
          keys.push_back(FilterKey::RowCol(cell.row, cell.qualifier));
        }
        const auto answers = std::make_unique<bool[]>(keys.size());
        reader->MayContain(keys, answers.get());
        for (size_t i = 0; i < keys.size(); ++i) ASSERT_TRUE(answers[i]);
      }
    }
  }
}

TEST(FilterReader, TheBatchAnswersAsTheSingleLookupsDo) {
  Random random(52);
  const std::string block =
      WriteBlock(Options(BloomType::kRowCol, 256), EvenRows(3000, 3));
  const auto memory = NewMemorySource(block);
  FilterStats single_stats, batch_stats;
  FilterReaderOptions options;
  options.stats = &single_stats;
  const auto single = OpenOrDie(memory.get(), options);
  options.stats = &batch_stats;
  const auto batch = OpenOrDie(memory.get(), options);
  std::vector<std::string> rows;
  for (int i = 0; i < 5000; ++i)
    rows.push_back(NumberedRow(random.Below(7000)));
  std::vector<FilterKey> keys;
  for (const std::string& row : rows) {
    keys.push_back(random.Below(2) == 0 ? FilterKey::Row(row)
                                        : FilterKey::RowCol(row, "q1"));
  }
  const auto answers = std::make_unique<bool[]>(keys.size());
  batch->MayContain(keys, answers.get());
  for (size_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(answers[i], single->MayContain(keys[i])) << i;
  }
  const FilterStatsSnapshot one = single_stats.Snapshot();
  const FilterStatsSnapshot many = batch_stats.Snapshot();
  EXPECT_EQ(many[FilterCounter::kLookups], keys.size());
  EXPECT_EQ(many[FilterCounter::kNegatives], one[FilterCounter::kNegatives]);
  // Each chunk was fetched once, although there is no cache.
  EXPECT_EQ(many[FilterCounter::kChunkLoads], batch->properties().chunk_count);
}

TEST(FilterReader, ObservedRateIsTheExpectedOneAtEveryChunkSize) {
  for (const uint32_t chunk_size : {4096, 131072, 1 << 20}) {
    const std::string block =
        WriteBlock(Options(BloomType::kRow, chunk_size), EvenRows(900000));
    const auto memory = NewMemorySource(block);
    const auto cache = NewShardedLruCache({8 << 20, 0});
    FilterReaderOptions options;
    options.cache = cache.get();
    const auto reader = OpenOrDie(memory.get(), options);
    uint64_t positives = 0;
    for (uint64_t i = 0; i < 900000; ++i) {
      positives += reader->MayContain(NumberedRow(2 * i + 1));
    }
    EXPECT_TRUE(testing::WithinBinomialBound(positives, 900000,
                                             FilterSpec().expected_fpr(), 0.03))
        << chunk_size;
  }
}

TEST(FilterReader, KeysBeforeTheFirstAndBehindTheLastAreNoWithoutIo) {
  const std::string block =
      WriteBlock(Options(BloomType::kRowCol), EvenRows(9));
  const auto memory = NewMemorySource(block);
  CountingSource counting(memory.get());
  const auto reader = OpenOrDie(&counting, {});
  counting.Reset();
  EXPECT_FALSE(reader->MayContain("a"));
  EXPECT_FALSE(reader->MayContain("z"));
  EXPECT_FALSE(reader->MayContain(NumberedRow(16), "q1"));  // Last is q0.
  EXPECT_EQ(counting.read_count(), 0u);
}

TEST(FilterReader, ARowFilterAnswersACellForItsRow) {
  const std::string block = WriteBlock(Options(BloomType::kRow), EvenRows(100));
  const auto memory = NewMemorySource(block);
  const auto reader = OpenOrDie(memory.get(), {});
  EXPECT_TRUE(reader->MayContain(NumberedRow(4), "no such column"));
}

TEST(FilterReader, ARowColFilterWithoutRowKeysCannotSayNoToARow) {
  FilterOptions options = Options(BloomType::kRowCol);
  options.rowcol_adds_rows = false;
  const std::string block = WriteBlock(options, EvenRows(1000));
  const auto memory = NewMemorySource(block);
  const auto reader = OpenOrDie(memory.get(), {});
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
    const std::string block = WriteBlock(Options(type), {});
    const auto memory = NewMemorySource(block);
    const auto reader = OpenOrDie(memory.get(), {});
    EXPECT_EQ(reader->MayContain("row"), type == BloomType::kNone);
    EXPECT_TRUE(reader->Verify().ok());
  }
}

TEST(FilterReader, AChunkIsReadOnceAndThenCached) {
  const std::string block =
      WriteBlock(Options(BloomType::kRow), EvenRows(20000));
  const auto memory = NewMemorySource(block);
  CountingSource counting(memory.get());
  const auto cache = NewShardedLruCache({8 << 20});
  FilterStats stats;
  FilterReaderOptions options;
  options.cache = cache.get();
  options.stats = &stats;
  const auto reader = OpenOrDie(&counting, options);
  counting.Reset();
  for (uint64_t i = 0; i < 40000; ++i) reader->MayContain(NumberedRow(i));
  EXPECT_EQ(counting.read_count(), reader->properties().chunk_count);
  EXPECT_EQ(counting.read_bytes(), reader->properties().filter_size_bytes);
  const FilterStatsSnapshot snapshot = stats.Snapshot();
  EXPECT_EQ(snapshot[FilterCounter::kLookups], 40000u);
  EXPECT_EQ(snapshot[FilterCounter::kChunkLoads],
            reader->properties().chunk_count);
}

TEST(FilterReader, ReadersOfOneFileShareChunksByItsId) {
  const std::string block =
      WriteBlock(Options(BloomType::kRow), EvenRows(1000));
  const auto memory = NewMemorySource(block);
  CountingSource counting(memory.get());
  const auto cache = NewShardedLruCache({8 << 20});
  FilterReaderOptions options;
  options.cache = cache.get();
  options.file_id = 77;
  const auto first = OpenOrDie(&counting, options);
  const auto second = OpenOrDie(&counting, options);
  counting.Reset();
  EXPECT_TRUE(first->MayContain(NumberedRow(0)));
  EXPECT_TRUE(second->MayContain(NumberedRow(0)));
  EXPECT_EQ(counting.read_count(), 1u);
}

TEST(FilterReader, TwoBlocksUnderOneIdNeverAnswerForEachOther) {
  const auto cache = NewShardedLruCache({8 << 20});
  FilterReaderOptions options;
  options.cache = cache.get();
  options.file_id = 77;
  std::vector<Cell> odd_cells = EvenRows(1000);
  for (Cell& cell : odd_cells) cell.row += "!";
  const std::string even = WriteBlock(Options(BloomType::kRow), EvenRows(1000));
  const std::string odd = WriteBlock(Options(BloomType::kRow), odd_cells);
  const auto even_memory = NewMemorySource(even);
  const auto odd_memory = NewMemorySource(odd);
  const auto even_reader = OpenOrDie(even_memory.get(), options);
  const auto odd_reader = OpenOrDie(odd_memory.get(), options);
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < 1000; ++i) {
      ASSERT_TRUE(even_reader->MayContain(NumberedRow(2 * i)));
      ASSERT_TRUE(odd_reader->MayContain(NumberedRow(2 * i) + "!"));
    }
  }
}

TEST(FilterReader, GivenIdsAreBelow2To63) {
  const std::string block = WriteBlock(Options(BloomType::kRow), EvenRows(10));
  const auto memory = NewMemorySource(block);
  FilterReaderOptions options;
  options.file_id = (uint64_t{1} << 63) - 1;
  EXPECT_TRUE(FilterReader::Open(memory.get(), {}, options).ok());
  ++options.file_id;
  const absl::Status status =
      FilterReader::Open(memory.get(), {}, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(std::string(status.message()),
            "file_id 9223372036854775808 is not below 2^63");
}

TEST(FilterReader, OwnIdsAreNoFileNumbersAndTheirChunksLeaveWithTheReader) {
  const auto cache = NewShardedLruCache({8 << 20});
  FilterReaderOptions options;
  options.cache = cache.get();
  const std::string block =
      WriteBlock(Options(BloomType::kRow), EvenRows(20000));
  const auto memory = NewMemorySource(block);
  auto reader = OpenOrDie(memory.get(), options);
  EXPECT_GE(reader->file_id(), uint64_t{1} << 63);
  for (uint64_t i = 0; i < 20000; ++i) reader->MayContain(NumberedRow(2 * i));
  // The cache also has an entry that charges for the index.
  EXPECT_EQ(cache->GetUsage().entry_count,
            reader->properties().chunk_count + 1);
  reader.reset();
  EXPECT_EQ(cache->GetUsage().entry_count, 0u);
}

TEST(FilterReader, VerifyNoticesAnotherBlockInItsPlace) {
  std::string bytes = WriteBlock(Options(BloomType::kRow, 256), EvenRows(3000));
  const std::string other =
      WriteBlock(Options(BloomType::kRow, 256), {{std::string(300, 'x'), ""}});
  const auto memory = NewMemorySource(bytes, "f.sst");
  const auto reader = OpenOrDie(memory.get(), {});
  ASSERT_GT(reader->properties().chunk_count, 10u);
  bytes.replace(bytes.size() - other.size(), other.size(), other);
  EXPECT_EQ(reader->Verify().code(), absl::StatusCode::kDataLoss);
  for (uint64_t i = 0; i < 3000; ++i) reader->MayContain(NumberedRow(i));
}

TEST(FilterReader, ABatchOfNothingIsAnswered) {
  const std::string block = WriteBlock(Options(BloomType::kRow), EvenRows(10));
  const auto memory = NewMemorySource(block);
  OpenOrDie(memory.get(), {})
      ->MayContain(absl::Span<const FilterKey>(), nullptr);
  FilterView().MayContain({}, nullptr);
}

TEST(FilterReader, ACacheThatIsTooSmallCostsReadsButNoAnswers) {
  const std::string block =
      WriteBlock(Options(BloomType::kRow), EvenRows(20000));
  const auto memory = NewMemorySource(block);
  CountingSource counting(memory.get());
  const auto cache = NewShardedLruCache({1000, 0});
  FilterReaderOptions options;
  options.cache = cache.get();
  options.loading = FilterLoading::kAlways;
  const auto reader = OpenOrDie(&counting, options);
  counting.Reset();
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_TRUE(reader->MayContain(NumberedRow(2 * i)));
  }
  EXPECT_EQ(counting.read_count(), 1000u);
  EXPECT_EQ(cache->GetUsage().usage_bytes, 0u);
}

TEST(FilterReader, ReadErrorsAnswerMaybeAndAreCounted) {
  const std::string block =
      WriteBlock(Options(BloomType::kRow), EvenRows(5000));
  const auto memory = NewMemorySource(block, "f.sst");
  FaultySource faulty(memory.get());
  FilterStats stats;
  FilterReaderOptions options;
  options.stats = &stats;
  const auto reader = OpenOrDie(&faulty, options);
  faulty.FailAllReads();
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(reader->MayContain(NumberedRow(i)));
  }
  // Tries become rarer: see loading_test.cc.
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kLoadErrors], 6u);
  EXPECT_EQ(stats.Snapshot()[FilterCounter::kUnloaded], 100u);
  EXPECT_EQ(reader->Verify().code(), absl::StatusCode::kUnavailable);
  faulty.Heal();
  EXPECT_TRUE(reader->Verify().ok());
  uint64_t positives = 0;
  for (uint64_t i = 0; i < 5000; ++i) {
    positives += reader->MayContain(NumberedRow(2 * i + 1));
  }
  EXPECT_LT(positives, 200u);  // Filtering has returned.
}

TEST(FilterReader, ShortReadsAnswerMaybe) {
  const std::string block =
      WriteBlock(Options(BloomType::kRow), EvenRows(5000));
  const auto memory = NewMemorySource(block, "f.sst");
  FaultySource faulty(memory.get());
  const auto reader = OpenOrDie(&faulty, {});
  faulty.ShortenReads(1);
  EXPECT_TRUE(reader->MayContain(NumberedRow(1)));
  EXPECT_EQ(reader->Verify().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(FilterReader::Open(&faulty, {}, {}).ok());
}

TEST(FilterReader, DamageToAChunkAfterOpenAnswersMaybe) {
  const std::string block =
      WriteBlock(Options(BloomType::kRow), EvenRows(5000));
  const auto memory = NewMemorySource(block, "f.sst");
  FaultySource faulty(memory.get());
  const auto reader = OpenOrDie(&faulty, {});
  const std::vector<FilterChunkInfo> chunks = reader->Chunks();
  ASSERT_GE(chunks.size(), 2u);
  faulty.FlipBit(chunks[1].offset + 100, 5);
  // Every row of chunk 1 is "maybe", present or not; chunk 0 still filters.
  uint64_t chunk0_positives = 0, chunk0_absent = 0;
  for (uint64_t i = 0; i < 10000; ++i) {
    const bool answer = reader->MayContain(NumberedRow(i));
    const int64_t chunk = reader->ChunkOf(FilterKey::Row(NumberedRow(i)));
    if (chunk == 1) {
      EXPECT_TRUE(answer);
    }
    if (chunk == 0 && i % 2 == 1) {
      ++chunk0_absent;
      chunk0_positives += answer;
    }
  }
  EXPECT_LT(chunk0_positives, chunk0_absent / 20);
  const absl::Status status = reader->Verify();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(status.ToString().find("f.sst: offset " +
                                   std::to_string(chunks[1].offset) +
                                   ": checksum of filter unit 0"),
            std::string::npos)
      << status;
}

TEST(FilterReader, WhatCannotBeABlockIsRefusedWithFileAndSizes) {
  for (const std::string& bytes :
       {std::string(), std::string(10, 'x'), std::string(1000, 'x')}) {
    const auto memory = NewMemorySource(bytes, "f.sst");
    const auto reader = FilterReader::Open(memory.get(), {}, {});
    EXPECT_EQ(reader.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_NE(reader.status().ToString().find("f.sst: offset "),
              std::string::npos);
  }
  const auto memory = NewMemorySource("short", "f.sst");
  EXPECT_EQ(FilterReader::Open(memory.get(), {100, 50}, {}).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(
      FilterReader::Open(memory.get(), {1, ~uint64_t{0}}, {}).status().code(),
      absl::StatusCode::kDataLoss);
}

TEST(FilterReader, PropertiesAndChunksAreReported) {
  const std::string block =
      WriteBlock(Options(BloomType::kRowCol), EvenRows(2000, 2));
  const auto memory = NewMemorySource(block);
  const auto reader = OpenOrDie(memory.get(), {});
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
