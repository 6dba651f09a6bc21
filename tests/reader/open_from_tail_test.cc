// SPDX-License-Identifier: Apache-2.0
//
// Tests that a reader is opened from bytes in memory, without a read.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reader/test_block.h"
#include "rowbloom/filter_warmer.h"

namespace rowbloom {
namespace {

using ::testing::HasSubstr;
using testing::NumberedRow;

// A block of `rows` even rows, its writer, and its bytes behind others.
struct WrittenFile {
  explicit WrittenFile(uint64_t rows, FilterOptions options = {},
                       FilterChunkObserver* observer = nullptr)
      : writer(options, sink.get(), observer) {
    for (const testing::Cell& cell : testing::EvenRows(rows)) {
      writer.Add(cell.row, cell.qualifier);
    }
    info = *writer.Finish();
    memory = NewMemorySource(bytes, "f.sst");
    source = std::make_unique<testing::FaultySource>(memory.get());
  }
  FilterBlockRange range() const { return {4, info.size_bytes}; }
  auto OpenFrom(std::string_view tail, const FilterReaderOptions& options) {
    return FilterReader::OpenFromTail(source.get(), range(), tail, options);
  }

  std::string bytes = "data";
  const std::unique_ptr<ByteSink> sink = NewStringSink(&bytes);
  FilterBlockWriter writer;
  FilterBlockInfo info;
  std::unique_ptr<RandomAccessSource> memory;
  std::unique_ptr<testing::FaultySource> source;
};

TEST(OpenFromTail, OfTheWriterAfterAWarmerReadsNothing) {
  for (const uint64_t rows : {uint64_t{1}, uint64_t{100}, uint64_t{20000}}) {
    const auto cache = NewShardedLruCache({1 << 20});
    const auto warmer = NewFilterWarmer(cache.get(), {7});
    WrittenFile file(rows, testing::BlockOptions("compact", 10, 4096),
                     warmer.get());
    const auto reader =
        file.OpenFrom(file.writer.tail(),
                      testing::CachedIn(cache, FilterLoading::kWhenItPays, 7));
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto read = testing::OpenOrDie(file.memory.get(), {}, file.range());
    EXPECT_EQ((*reader)->properties().key_count, rows);
    EXPECT_EQ((*reader)->Chunks().size(), read->Chunks().size());
    for (uint64_t i = 0; i < 2 * rows; ++i) {
      EXPECT_EQ((*reader)->MayContain(NumberedRow(i)),
                read->MayContain(NumberedRow(i)));
    }
    EXPECT_EQ(file.source->read_count(), 0u) << rows;
    EXPECT_TRUE((*reader)->Verify().ok());
  }
}

TEST(OpenFromTail, HoldsTheFilterOfATinyBlock) {
  WrittenFile file(100);
  ASSERT_EQ(file.writer.tail().size(), file.info.size_bytes);
  const auto cache = NewShardedLruCache({0});
  const auto reader =
      file.OpenFrom(file.writer.tail(), testing::CachedIn(cache));
  ASSERT_TRUE(reader.ok());
  EXPECT_LT(testing::CountFalsePositives(**reader, 100), 10u);
  EXPECT_EQ(file.source->read_count(), 0u);
}

TEST(OpenFromTail, TakesTheLastBytesOfTheBlock) {
  WrittenFile file(20000);
  const std::string_view all = file.bytes;
  // The block begins within these, or they are exactly its tail.
  const auto tail_size = static_cast<size_t>(file.info.tail_size_bytes);
  for (const size_t size : {all.size(), tail_size, tail_size + 1}) {
    const auto reader = file.OpenFrom(all.substr(all.size() - size), {});
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->properties().key_count, 20000u);
  }
  EXPECT_EQ(file.source->read_count(), 0u);
}

TEST(OpenFromTail, SaysHowManyBytesItNeeds) {
  WrittenFile file(20000);
  const std::string_view tail = file.writer.tail();
  const std::pair<size_t, std::string> cases[] = {
      {0, "more than 56"},
      {10, "more than 56"},
      {tail.size() - 1, "the block's tail has " + std::to_string(tail.size())}};
  for (const auto& [size, expected] : cases) {
    const absl::Status status =
        file.OpenFrom(tail.substr(tail.size() - size), {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    EXPECT_THAT(std::string(status.message()), HasSubstr(expected));
    EXPECT_THAT(std::string(status.message()), HasSubstr("tail_size_bytes"));
  }
}

TEST(OpenFromTail, IsAsStrictAsOpen) {
  FilterOptions options;
  options.secret.words[0] = 1;
  WrittenFile file(20000, options);
  FilterReaderOptions reader_options;
  reader_options.secret = options.secret;
  EXPECT_TRUE(file.OpenFrom(file.writer.tail(), reader_options).ok());
  EXPECT_EQ(file.OpenFrom(file.writer.tail(), {}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  std::string tail(file.writer.tail());
  for (size_t i = 0; i < tail.size(); ++i) {
    tail[i] ^= 1;
    EXPECT_FALSE(file.OpenFrom(tail, reader_options).ok()) << i;
    tail[i] ^= 1;
  }
  reader_options.prefetch = true;
  EXPECT_EQ(file.OpenFrom(tail, reader_options).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(file.source->read_count(), 0u);
}

TEST(OpenFromTail, ThereIsNoTailOfABlockThatIsNotWritten) {
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  FilterBlockWriter writer({}, sink.get());
  writer.Add("b", "");
  EXPECT_EQ(writer.tail(), "");
  writer.Add("a", "");  // Out of order.
  EXPECT_FALSE(writer.Finish().ok());
  EXPECT_EQ(writer.tail(), "");
}

}  // namespace
}  // namespace rowbloom
