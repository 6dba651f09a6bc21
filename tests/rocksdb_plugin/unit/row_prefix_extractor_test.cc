// SPDX-License-Identifier: Apache-2.0

#include "policy/row_prefix_extractor.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::plugin {
namespace {

using ::testing::HasSubstr;
using std::string_view_literals::operator""sv;

const KeyCodec kCodecs[] = {KeyCodec::Ordered(), KeyCodec::FixedRow(3),
                            KeyCodec::Delimiter('|')};

std::string Prefix(const RowPrefixExtractor& extractor, std::string_view key) {
  const rdb::Slice slice(key.data(), key.size());
  EXPECT_TRUE(extractor.InDomain(slice));
  return extractor.Transform(slice).ToString();
}

bool Stays(const RowPrefixExtractor& extractor, std::string_view prefix) {
  return extractor.SameResultWhenAppended(
      rdb::Slice(prefix.data(), prefix.size()));
}

TEST(RowPrefixExtractor, MapsKeysToTheirRowPrefix) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    EXPECT_EQ(Prefix({type, KeyCodec::Ordered()}, "row\0\1q\0\1version"sv),
              "row\0"sv);
    EXPECT_EQ(Prefix({type, KeyCodec::Ordered()}, "row\0\1q\0\1"sv), "row\0"sv);
    EXPECT_EQ(Prefix({type, KeyCodec::FixedRow(3)}, "rowqual"), "row");
    EXPECT_EQ(Prefix({type, KeyCodec::Delimiter('|')}, "row|qual"), "row|");
  }
}

TEST(RowPrefixExtractor, MapsBoundsOfARowToItsRowPrefix) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    const RowPrefixExtractor extractor(type, KeyCodec::Ordered());
    for (std::string_view bound : {"row\0"sv, "row\0\1"sv, "row\0\2"sv}) {
      EXPECT_EQ(Prefix(extractor, bound), "row\0"sv);
    }
  }
}

TEST(RowPrefixExtractor, MapsBoundsOfAColumnToItsColumnPrefixIfRowCol) {
  const RowPrefixExtractor row_col(BloomType::kRowCol, KeyCodec::Ordered());
  EXPECT_EQ(Prefix(row_col, "row\0\1q\0"sv), "row\0\1q\0"sv);
  EXPECT_EQ(Prefix(row_col, "row\0\1q\0\4"sv), "row\0\1q\0"sv);
  EXPECT_EQ(Prefix(row_col, "row\0\1q\0\4more"sv), "row\0"sv);
  const RowPrefixExtractor row(BloomType::kRow, KeyCodec::Ordered());
  EXPECT_EQ(Prefix(row, "row\0\1q\0"sv), "row\0"sv);
}

TEST(RowPrefixExtractor, KeysWithoutAWholeRowAreOutOfDomain) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const KeyCodec& codec : kCodecs) {
      const RowPrefixExtractor extractor(type, codec);
      EXPECT_FALSE(extractor.InDomain(""));
      EXPECT_FALSE(extractor.InDomain("ro"));
      EXPECT_FALSE(extractor.InDomain(rdb::Slice("a\0\xff", 3)) &&
                   codec.segment(0).kind == KeyCodec::Kind::kOrdered);
    }
  }
}

TEST(RowPrefixExtractor, APrefixIsItsOwnPrefix) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const KeyCodec& codec : kCodecs) {
      const RowPrefixExtractor extractor(type, codec);
      for (std::string_view key :
           {"row\0\1q|\0\1v"sv, "row\0\1q|\0"sv, "row|\0\1q\0\4"sv}) {
        const std::string prefix = Prefix(extractor, key);
        EXPECT_EQ(Prefix(extractor, prefix), prefix);
      }
    }
  }
}

// Checked against the definition: append every pair of bytes that matters.
TEST(RowPrefixExtractor, SameResultWhenAppendedIsNeverWronglyTrue) {
  const std::string bytes("\0\1\4\xff|a", 6);
  int stays = 0;
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (const KeyCodec& codec : kCodecs) {
      const RowPrefixExtractor extractor(type, codec);
      for (size_t n = 0; n < 6 * 6 * 6 * 6 * 6; ++n) {
        std::string prefix;
        for (size_t rest = n, i = 0; i < 5; ++i, rest /= 6) {
          prefix += bytes[rest % 6];
        }
        for (; !prefix.empty(); prefix.pop_back()) {
          if (!Stays(extractor, prefix)) continue;
          ++stays;
          const std::string expected = Prefix(extractor, prefix);
          for (char first : bytes) {
            ASSERT_EQ(Prefix(extractor, prefix + first), expected);
            for (char second : bytes) {
              ASSERT_EQ(Prefix(extractor, prefix + first + second), expected);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(stays, 1000);
}

TEST(RowPrefixExtractor, SameResultWhenAppendedIsTrueBehindAWholeRow) {
  EXPECT_TRUE(Stays({BloomType::kRow, KeyCodec::Ordered()}, "row\0\1"sv));
  EXPECT_FALSE(Stays({BloomType::kRow, KeyCodec::Ordered()}, "row\0"sv));
  EXPECT_TRUE(
      Stays({BloomType::kRowCol, KeyCodec::Ordered()}, "row\0\1q\0\1"sv));
  EXPECT_TRUE(Stays({BloomType::kRow, KeyCodec::FixedRow(3)}, "row"));
  EXPECT_TRUE(Stays({BloomType::kRowCol, KeyCodec::Delimiter('|')}, "row|"));
}

TEST(RowPrefixExtractor, NameSaysAllThatTheMappingDependsOn) {
  EXPECT_STREQ(
      RowPrefixExtractor(BloomType::kRowCol, KeyCodec::Ordered()).Name(),
      "rowbloom.RowPrefix:ROWCOL:ordered");
  EXPECT_STREQ(
      RowPrefixExtractor(BloomType::kRow, KeyCodec::FixedRow(8)).Name(),
      "rowbloom.RowPrefix:ROW:fixed:8");
}

TEST(RowPrefixExtractor, IdRoundTripsForEachCodecAndDelimiter) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (int delimiter = 0; delimiter < 256; ++delimiter) {
      const RowPrefixExtractor extractor(
          type, KeyCodec::Delimiter(static_cast<char>(delimiter)));
      EXPECT_EQ(extractor.GetId(), extractor.Name());
      EXPECT_EQ(extractor.AsString(), extractor.Name());
      const auto parsed = RowPrefixExtractor::Parse(extractor.GetId());
      ASSERT_TRUE(parsed.ok()) << parsed.status();
      EXPECT_EQ((*parsed)->GetId(), extractor.GetId());
      // The id has no characters that are special in an options string.
      EXPECT_EQ(extractor.GetId().find_first_of(";={}# \n"), std::string::npos);
    }
  }
}

TEST(RowPrefixExtractor, ParseSaysWhatIsAllowed) {
  const auto message = [](std::string_view id) {
    const auto parsed = RowPrefixExtractor::Parse(id);
    return parsed.ok() ? "" : std::string(parsed.status().message());
  };
  EXPECT_THAT(message("rowbloom.RowPrefix"),
              HasSubstr("rowbloom.RowPrefix:ROWCOL:ordered"));
  EXPECT_THAT(message("rowbloom.RowPrefix:ROW"), HasSubstr("BLOOM_TYPE:CODEC"));
  EXPECT_THAT(message("rowbloom.RowPrefix:NONE:ordered"),
              HasSubstr("allowed: ROW, ROWCOL"));
  EXPECT_THAT(message("rowbloom.RowPrefix:COL:ordered"), HasSubstr("ROWCOL"));
  EXPECT_THAT(message("rowbloom.RowPrefix:ROW:sorted"), HasSubstr("ordered"));
}

TEST(RowPrefixExtractor, OtherBloomTypesHaveNone) {
  RocksDbOptions options;
  options.bloom_type = BloomType::kRowPrefixFixedLength;
  EXPECT_EQ(NewRowPrefixExtractor(options), nullptr);
}

// The class comment says what a true answer would lose.
TEST(RowPrefixExtractor, NoPrefixClaimsFullLength) {
  size_t length = 0;
  EXPECT_FALSE(RowPrefixExtractor(BloomType::kRow, KeyCodec::FixedRow(8))
                   .FullLengthEnabled(&length));
}

}  // namespace
}  // namespace rowbloom::plugin
