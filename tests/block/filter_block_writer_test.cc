// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_block_writer.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "block/chunk_index.h"
#include "block/filter_block_parser.h"
#include "block/format.h"
#include "block/test_key.h"
#include "rowbloom/filter_reader.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

using block::Footer;
using block::TestKey;
using testing::Cell;
using testing::NumberedRow;
using testing::Random;

// A writer and what it has written.
struct Writing {
  explicit Writing(const FilterOptions& options)
      : writer(options, sink.get()) {}

  std::string bytes;
  const std::unique_ptr<ByteSink> sink = NewStringSink(&bytes);
  FilterBlockWriter writer;
};

struct Written {
  std::string bytes;
  absl::StatusOr<FilterBlockInfo> info;
};

Written Write(const FilterOptions& options, const std::vector<Cell>& cells) {
  Writing writing(options);
  for (const Cell& cell : cells) writing.writer.Add(cell.row, cell.qualifier);
  const auto info = writing.writer.Finish();
  return {writing.bytes, info};
}

struct Parsed : block::BlockProperties {
  block::ChunkIndex index;
};

std::unique_ptr<Parsed> Parse(std::string_view bytes) {
  const block::BlockPlace place = {"test", 0, bytes.size()};
  const auto footer =
      block::ParseFooter(place, bytes.substr(bytes.size() - Footer::kSize));
  EXPECT_TRUE(footer.ok()) << footer.status();
  auto parsed = block::ParseTail(
      place, *footer, bytes.substr(bytes.size() - footer->tail_size(place)));
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  auto result = std::make_unique<Parsed>();
  result->index = std::move(parsed->index);
  static_cast<block::BlockProperties&>(*result) =
      block::PropertiesOf(result->index);
  return result;
}

// always_maybe has no randomness: these tests check the layout alone.
FilterOptions Exact(BloomType type) {
  FilterOptions options;
  options.bloom_type = type;
  options.filter_spec = FilterSpec::BitsPerKey("always_maybe", 10);
  return options;
}

TEST(FilterBlockWriter, ABlockWithoutCellsIsTailOnly) {
  const Written written = Write(FilterOptions(), {});
  ASSERT_TRUE(written.info.ok()) << written.info.status();
  EXPECT_EQ(written.info->size_bytes, written.bytes.size());
  EXPECT_EQ(written.info->tail_size_bytes, written.bytes.size());
  EXPECT_EQ(written.info->key_count, 0u);
  EXPECT_EQ(Parse(written.bytes)->index.size(), 0u);
}

TEST(FilterBlockWriter, RunsOfEqualFilterKeysCollapse) {
  const std::vector<Cell> cells = {{"a", "x"}, {"a", "x"}, {"a", "y"},
                                   {"b", "x"}, {"b", "x"}, {"c", "x"}};
  EXPECT_EQ(Write(Exact(BloomType::kRow), cells).info->key_count, 3u);
  // The cells have three rows and four columns.
  EXPECT_EQ(Write(Exact(BloomType::kRowCol), cells).info->key_count, 7u);
  FilterOptions without_rows = Exact(BloomType::kRowCol);
  without_rows.rowcol_adds_rows = false;
  EXPECT_EQ(Write(without_rows, cells).info->key_count, 4u);
  EXPECT_EQ(Write(Exact(BloomType::kNone), cells).info->key_count, 0u);
}

TEST(FilterBlockWriter, KeysThatHaveTheirDigestsMakeTheSameBlock) {
  Random random(3);
  const std::vector<Cell> cells = testing::SortedCells(&random, 500);
  for (const BloomType type :
       {BloomType::kNone, BloomType::kRow, BloomType::kRowCol,
        BloomType::kRowPrefixFixedLength}) {
    FilterOptions options;
    options.bloom_type = type;
    if (type == BloomType::kRowPrefixFixedLength) {
      options.prefix_length_bytes = 3;
    }
    Writing writing(options);
    for (const Cell& cell : cells) {
      const FilterKey hashed = FilterKey::RowCol(cell.row, cell.qualifier);
      writing.writer.Add(FilterKey::RowCol(
          cell.row, cell.qualifier, hashed.row_digest(), hashed.digest()));
    }
    ASSERT_TRUE(writing.writer.Finish().ok());
    EXPECT_EQ(writing.bytes, Write(options, cells).bytes);
  }
}

TEST(FilterBlockWriterDeathTest, AKeyWithoutQualifierIsNoCellOfRowCol) {
  FilterOptions options;
  options.bloom_type = BloomType::kRowCol;
  Writing writing(options);
  EXPECT_DEATH(writing.writer.Add(FilterKey::Row("row")),
               "ROWCOL needs keys of FilterKey::RowCol");
}

TEST(FilterBlockWriter, RowPrefixesCollapseAndShortRowsAreTheirOwn) {
  FilterOptions options = Exact(BloomType::kRowPrefixFixedLength);
  options.prefix_length_bytes = 2;
  const Written written = Write(
      options, {{"a", ""}, {"ab", ""}, {"abc", ""}, {"abd", ""}, {"ac", ""}});
  EXPECT_EQ(written.info->key_count, 3u);  // a, ab, ac.
  EXPECT_EQ(Parse(written.bytes)->index.LastKey().row, "ac");
}

TEST(FilterBlockWriter, ChunksCloseAtTheirSize) {
  FilterOptions options;
  options.filter_spec = FilterSpec::BitsPerKey("blocked_bloom", 10);
  options.chunk_size_bytes = 256;  // Four lines: 204 keys at 10 bits.
  std::vector<Cell> cells;
  for (uint64_t i = 0; i < 1000; ++i) cells.push_back({NumberedRow(i), ""});
  const Written written = Write(options, cells);
  const auto parsed = Parse(written.bytes);
  ASSERT_EQ(parsed->index.size(), 5u);
  uint64_t offset = 0;
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(parsed->index.FirstKeyOf(i).row, NumberedRow(204 * i));
    EXPECT_EQ(parsed->index.OffsetOf(i), offset);
    EXPECT_LE(parsed->index.DescriptorOf(i).total_size_bytes(), 256u);
    offset += parsed->index.DescriptorOf(i).total_size_bytes();
  }
  EXPECT_EQ(parsed->index.LastKey().row, NumberedRow(999));
}

TEST(FilterBlockWriter, RowsOfTwoThousandBytesHaveAShortIndex) {
  Random random(17);
  std::set<std::string> rows;
  while (rows.size() < 4000) {
    std::string row(2000, '\0');
    for (char& c : row) c = static_cast<char>(random.Below(256));
    rows.insert(row);
  }
  std::vector<Cell> cells;
  for (const std::string& row : rows) cells.push_back({row, "qualifier"});
  for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    FilterOptions options;
    options.bloom_type = type;
    options.filter_spec = FilterSpec::BitsPerKey("blocked_bloom", 10);
    options.chunk_size_bytes = 256;
    const auto parsed = Parse(Write(options, cells).bytes);
    ASSERT_GT(parsed->index.size(), 15u);
    EXPECT_EQ(parsed->index.FirstKeyOf(0).row, *rows.begin());
    for (size_t i = 1; i < parsed->index.size(); ++i) {
      const block::StoredKey key = parsed->index.FirstKeyOf(i);
      EXPECT_LT(key.row.size() + key.qualifier.size(), 14u);
    }
  }
}

std::vector<TestKey> FilterKeys(const FilterOptions& options,
                                const std::vector<Cell>& cells) {
  std::set<TestKey> keys;
  for (const Cell& cell : cells) {
    switch (options.bloom_type) {
      case BloomType::kNone:
        break;
      case BloomType::kRow:
        keys.insert({cell.row, false, ""});
        break;
      case BloomType::kRowCol:
        if (options.rowcol_adds_rows) keys.insert({cell.row, false, ""});
        keys.insert({cell.row, true, cell.qualifier});
        break;
      case BloomType::kRowPrefixFixedLength:
        keys.insert(
            {cell.row.substr(0, options.prefix_length_bytes), false, ""});
        break;
    }
  }
  return {keys.begin(), keys.end()};
}

// Makes rows and qualifiers of few distinct bytes after long shared prefixes:
// many are prefixes of each other or differ in 0x00 and 0xff.
std::vector<Cell> CellsThatAreHardToSeparate(Random* random) {
  const auto bytes = [random](size_t max_size) {
    std::string made(random->Below(max_size + 1), '\0');
    for (char& c : made) c = "\0\1a\xff"[random->Below(4)];
    return made;
  };
  const std::string shared = random->Bytes(30);
  const size_t columns = random->Below(2) == 0 ? 3 : 300;
  std::set<Cell> cells;
  while (cells.size() < 900) {
    std::string row = bytes(7);
    if (random->Below(4) != 0) row.insert(0, shared);
    for (uint64_t i = 1 + random->Below(columns); i > 0; --i) {
      cells.insert({row, bytes(columns == 3 ? 2 : 6)});
    }
  }
  return {cells.begin(), cells.end()};
}

// Expects that each key's chunk is found and that each lower bound lies between
// the keys on both sides of it.
void ExpectChunksAreFound(const FilterOptions& options,
                          const std::vector<Cell>& cells) {
  const std::vector<TestKey> keys = FilterKeys(options, cells);
  const std::string bytes = Write(options, cells).bytes;
  const auto parsed = Parse(bytes);
  ASSERT_EQ(parsed->key_count, keys.size());
  size_t next = 0;
  for (size_t chunk = 0; chunk < parsed->index.size(); ++chunk) {
    const block::StoredKey bound = parsed->index.FirstKeyOf(chunk);
    EXPECT_LE(block::Compare(bound, keys[next].stored()), 0);
    if (chunk == 0) {
      EXPECT_EQ(block::Compare(bound, keys[next].stored()), 0);
    } else {
      EXPECT_GT(block::Compare(bound, keys[next - 1].stored()), 0);
    }
    const size_t end = next + parsed->index.DescriptorOf(chunk).key_count;
    for (; next < end; ++next) {
      const block::Location found = parsed->index.Find(keys[next].stored());
      ASSERT_TRUE(found.is_in_chunk());
      ASSERT_EQ(found.chunk(), chunk);
    }
  }
  EXPECT_EQ(block::Compare(parsed->index.LastKey(), keys.back().stored()), 0);
  const auto source = NewMemorySource(bytes);
  const auto reader = FilterReader::Open(source.get(), {}, {});
  ASSERT_TRUE(reader.ok()) << reader.status();
  for (const Cell& cell : cells) {
    ASSERT_TRUE((*reader)->MayContain(cell.row));
    ASSERT_TRUE((*reader)->MayContain(cell.row, cell.qualifier));
  }
}

TEST(FilterBlockWriter, EveryKeyIsFoundInTheChunkThatHoldsIt) {
  Random random(23);
  for (int round = 0; round < 100; ++round) {
    const std::vector<Cell> cells = CellsThatAreHardToSeparate(&random);
    FilterOptions options;
    options.chunk_size_bytes = 256;
    options.filter_spec = FilterSpec::BitsPerKey("blocked_bloom", 24);
    options.bloom_type = BloomType::kRow;
    ExpectChunksAreFound(options, cells);
    options.bloom_type = BloomType::kRowCol;
    ExpectChunksAreFound(options, cells);
    options.rowcol_adds_rows = false;
    ExpectChunksAreFound(options, cells);
    options.bloom_type = BloomType::kRowPrefixFixedLength;
    options.rowcol_adds_rows = true;
    options.prefix_length_bytes = 1 + static_cast<uint32_t>(random.Below(40));
    ExpectChunksAreFound(options, cells);
  }
}

TEST(FilterBlockWriter, CellsOutOfOrderAreNamedAndNoBlockIsWritten) {
  const Written columns =
      Write(Exact(BloomType::kRowCol), {{"b", "x"}, {"b", "w"}, {"c", "x"}});
  EXPECT_EQ(columns.info.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(columns.info.status().message(),
            "cell 1 (row \"b\", qualifier \"w\") is out of order: it follows "
            "row \"b\", qualifier \"x\"");
  EXPECT_TRUE(columns.bytes.empty());
  // A row is named with the qualifier that it came with.
  const FilterOptions options = Exact(BloomType::kRow);
  EXPECT_EQ(Write(options, {{"b", "x"}, {"a", "w"}}).info.status().message(),
            "cell 1 (row \"a\", qualifier \"w\") is out of order: it follows "
            "row \"b\"");
  Writing writing(options);
  writing.writer.Add(FilterKey::Row("b"));
  writing.writer.Add(FilterKey::Row("a"));
  EXPECT_EQ(writing.writer.Finish().status().message(),
            "cell 1 (row \"a\") is out of order: it follows row \"b\"");
  // A row filter does not mind the order of qualifiers.
  EXPECT_TRUE(Write(options, {{"b", "x"}, {"b", "w"}}).info.ok());
}

TEST(FilterBlockWriter, LongKeysOutOfOrderAreNamedByTheirFirstBytesAndSize) {
  const std::string zeros(1 << 20, '\0');
  const absl::Status status =
      Write(Exact(BloomType::kRowCol), {{"b" + zeros, zeros}, {zeros, zeros}})
          .info.status();
  EXPECT_LT(status.message().size(), 1200u);
  EXPECT_NE(status.message().find("\\x00\"... of 1048577 bytes"),
            absl::string_view::npos)
      << status;
}

TEST(FilterBlockWriter, BadOptionsAreRefusedWithTheirRange) {
  FilterOptions options;
  options.chunk_size_bytes = 255;
  EXPECT_NE(Write(options, {}).info.status().ToString().find("256"),
            std::string::npos);
  options = FilterOptions();
  options.prefix_length_bytes = 3;
  EXPECT_FALSE(Write(options, {}).info.ok());
  options.bloom_type = BloomType::kRowPrefixFixedLength;
  EXPECT_TRUE(Write(options, {}).info.ok());
  options.prefix_length_bytes = 0;
  EXPECT_FALSE(Write(options, {}).info.ok());
  options = FilterOptions();
  options.filter_spec = FilterSpec::BitsPerKey("blocked_bloom", 99);
  EXPECT_FALSE(Write(options, {{"a", ""}}).info.ok());
}

class FailingSink : public ByteSink {
 public:
  absl::Status Append(std::string_view) override {
    return absl::ResourceExhaustedError("disk full");
  }
};

TEST(FilterBlockWriter, TheSinksErrorComesOutOfFinish) {
  FailingSink sink;
  FilterBlockWriter writer(FilterOptions(), &sink);
  writer.Add("a", "b");
  EXPECT_EQ(writer.Finish().status().code(),
            absl::StatusCode::kResourceExhausted);
}

struct CountingObserver : FilterChunkObserver {
  void OnChunk(uint64_t, const EncodedFilter&) override { ++chunks; }
  void OnFinish(uint64_t) override { ++blocks; }
  int chunks = 0;
  int blocks = 0;
};

TEST(FilterBlockWriter, AnObserverSeesNoChunkThatTheSinkRefused) {
  CountingObserver observer;
  FailingSink full;
  FilterBlockWriter refused(FilterOptions(), &full, &observer);
  refused.Add("a", "b");
  EXPECT_FALSE(refused.Finish().ok());
  EXPECT_EQ(observer.chunks, 0);
  EXPECT_EQ(observer.blocks, 0);
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  FilterBlockWriter writer(FilterOptions(), sink.get(), &observer);
  writer.Add("a", "b");
  EXPECT_TRUE(writer.Finish().ok());
  EXPECT_EQ(observer.chunks, 1);
  EXPECT_EQ(observer.blocks, 1);
}

TEST(FilterBlockWriterDeathTest, AddAfterFinishIsTheCallersMistake) {
  Writing writing({});
  ASSERT_TRUE(writing.writer.Finish().ok());
  EXPECT_DEATH(writing.writer.Add("a", ""),
               "FilterBlockWriter::Add.. was called after Finish");
}

TEST(FilterBlockWriterDeathTest, ANullSinkIsTheCallersMistake) {
  EXPECT_DEATH(FilterBlockWriter(FilterOptions(), nullptr),
               "FilterBlockWriter was made with a null sink");
}

TEST(FilterBlockWriter, ASecondFinishIsAnErrorAndWritesNothing) {
  Writing writing({});
  writing.writer.Add("a", "");
  ASSERT_TRUE(writing.writer.Finish().ok());
  const std::string written = writing.bytes;
  const absl::Status status = writing.writer.Finish().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "FilterBlockWriter::Finish() was called twice; make a writer for "
            "each filter block");
  EXPECT_EQ(writing.bytes, written);
}

TEST(FilterBlockWriter, PropertiesSayWhatWasWritten) {
  FilterOptions options;
  options.bloom_type = BloomType::kRowCol;
  Random random(41);
  const std::vector<Cell> cells = testing::SortedCells(&random, 500);
  const auto parsed = Parse(Write(options, cells).bytes);
  EXPECT_EQ(parsed->bloom_type, BloomType::kRowCol);
  EXPECT_TRUE(parsed->has_row_keys);
  EXPECT_EQ(parsed->cell_count, cells.size());
  EXPECT_EQ(parsed->filter_spec, "compact:bits_per_key=10");
  EXPECT_EQ(parsed->writer, "rowbloom 0.1.0");
  EXPECT_EQ(parsed->index.LastKey().row, cells.back().row);
  EXPECT_EQ(parsed->index.LastKey().qualifier, cells.back().qualifier);
}

}  // namespace
}  // namespace rowbloom
