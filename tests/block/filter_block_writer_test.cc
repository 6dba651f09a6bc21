// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_block_writer.h"

#include <gtest/gtest.h>

#include "block/filter_block_parser.h"
#include "block/format.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

using block::Footer;
using block::ParsedFilterBlock;
using testing::Cell;
using testing::NumberedRow;
using testing::Random;

struct Written {
  std::string bytes;
  absl::StatusOr<FilterBlockInfo> info;
};

Written Write(const FilterOptions& options, const std::vector<Cell>& cells) {
  Written written;
  const std::unique_ptr<ByteSink> sink = NewStringSink(&written.bytes);
  FilterBlockWriter writer(options, sink.get());
  for (const Cell& cell : cells) writer.Add(cell.row, cell.qualifier);
  written.info = writer.Finish();
  return written;
}

std::unique_ptr<ParsedFilterBlock> Parse(std::string_view bytes) {
  const block::BlockPlace place = {"test", 0, bytes.size()};
  const auto footer =
      block::ParseFooter(place, bytes.substr(bytes.size() - Footer::kSize));
  EXPECT_TRUE(footer.ok()) << footer.status();
  auto parsed = block::ParseTail(
      place, *footer, bytes.substr(bytes.size() - footer->tail_size(place)));
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return *std::move(parsed);
}

// A family without chance: the layout alone is under test.
FilterOptions Exact(BloomType type) {
  FilterOptions options;
  options.bloom_type = type;
  options.policy = FilterPolicy::BitsPerKey("always_maybe", 10);
  return options;
}

TEST(FilterBlockWriter, ABlockWithoutCellsIsTailOnly) {
  const Written written = Write(FilterOptions(), {});
  ASSERT_TRUE(written.info.ok()) << written.info.status();
  EXPECT_EQ(written.info->size_bytes, written.bytes.size());
  EXPECT_EQ(written.info->tail_size_bytes, written.bytes.size());
  EXPECT_EQ(written.info->key_count, 0u);
  EXPECT_EQ(Parse(written.bytes)->chunks.size(), 0u);
}

TEST(FilterBlockWriter, RunsOfEqualFilterKeysCollapse) {
  const std::vector<Cell> cells = {{"a", "x"}, {"a", "x"}, {"a", "y"},
                                   {"b", "x"}, {"b", "x"}, {"c", "x"}};
  EXPECT_EQ(Write(Exact(BloomType::kRow), cells).info->key_count, 3u);
  // Three rows and four cells.
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
    std::string bytes;
    const auto sink = NewStringSink(&bytes);
    FilterBlockWriter writer(options, sink.get());
    for (const Cell& cell : cells) {
      const FilterKey hashed = FilterKey::RowCol(cell.row, cell.qualifier);
      writer.Add(FilterKey::RowCol(cell.row, cell.qualifier,
                                   hashed.row_digest(), hashed.digest()));
    }
    ASSERT_TRUE(writer.Finish().ok());
    EXPECT_EQ(bytes, Write(options, cells).bytes);
  }
}

TEST(FilterBlockWriterDeathTest, AKeyWithoutQualifierIsNoCellOfRowCol) {
  FilterOptions options;
  options.bloom_type = BloomType::kRowCol;
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  FilterBlockWriter writer(options, sink.get());
  EXPECT_DEATH(writer.Add(FilterKey::Row("row")), "has_qualifier");
}

TEST(FilterBlockWriter, RowPrefixesCollapseAndShortRowsAreTheirOwn) {
  FilterOptions options = Exact(BloomType::kRowPrefixFixedLength);
  options.prefix_length_bytes = 2;
  const Written written = Write(
      options, {{"a", ""}, {"ab", ""}, {"abc", ""}, {"abd", ""}, {"ac", ""}});
  EXPECT_EQ(written.info->key_count, 3u);  // a, ab, ac.
  EXPECT_EQ(Parse(written.bytes)->last_key.row, "ac");
}

TEST(FilterBlockWriter, ChunksCloseAtTheirSize) {
  FilterOptions options;
  options.chunk_size_bytes = 256;  // Four lines: 204 keys at 10 bits.
  std::vector<Cell> cells;
  for (uint64_t i = 0; i < 1000; ++i) cells.push_back({NumberedRow(i), ""});
  const Written written = Write(options, cells);
  const auto parsed = Parse(written.bytes);
  ASSERT_EQ(parsed->chunks.size(), 5u);
  uint64_t offset = 0;
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(parsed->chunks[i].first_key.row, NumberedRow(204 * i));
    EXPECT_EQ(parsed->chunks[i].offset, offset);
    EXPECT_LE(parsed->chunks[i].descriptor.total_size_bytes(), 256u);
    offset += parsed->chunks[i].descriptor.total_size_bytes();
  }
  EXPECT_EQ(parsed->last_key.row, NumberedRow(999));
}

TEST(FilterBlockWriter, CellsOutOfOrderAreNamedAndNoBlockIsWritten) {
  const Written written =
      Write(Exact(BloomType::kRowCol), {{"b", "x"}, {"b", "w"}, {"c", "x"}});
  EXPECT_EQ(written.info.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(written.info.status().ToString().find(
                "row \"b\", qualifier \"w\") is out of order: it follows row "
                "\"b\", qualifier \"x\""),
            std::string::npos)
      << written.info.status();
  EXPECT_TRUE(written.bytes.empty());
}

TEST(FilterBlockWriter, ARowFilterDoesNotMindTheOrderOfQualifiers) {
  EXPECT_TRUE(
      Write(Exact(BloomType::kRow), {{"b", "x"}, {"b", "w"}}).info.ok());
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
  options.policy = FilterPolicy::BitsPerKey("blocked_bloom", 99);
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

TEST(FilterBlockWriterDeathTest, AddAfterFinishIsTheCallersMistake) {
  std::string bytes;
  const std::unique_ptr<ByteSink> sink = NewStringSink(&bytes);
  FilterBlockWriter writer(FilterOptions(), sink.get());
  ASSERT_TRUE(writer.Finish().ok());
  EXPECT_DEATH(writer.Add("a", ""), "rowbloom check failed");
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
  EXPECT_EQ(parsed->policy, "blocked_bloom:bits_per_key=10");
  EXPECT_EQ(parsed->writer, "rowbloom 0.1.0");
  EXPECT_EQ(parsed->last_key.row, cells.back().row);
  EXPECT_EQ(parsed->last_key.qualifier, cells.back().qualifier);
}

}  // namespace
}  // namespace rowbloom
