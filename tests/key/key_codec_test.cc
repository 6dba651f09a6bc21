// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/key_codec.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "testing/keys.h"

namespace rowbloom {
namespace {

using namespace std::string_literals;
using testing::Cell;
using testing::Random;

std::string Encoded(const KeyCodec& codec, const std::string& row,
                    const std::string& qualifier) {
  std::string key;
  EXPECT_TRUE(codec.Encode(row, qualifier, &key).ok());
  return key;
}

// Returns a random row that the codec can hold; fixed rows have 3 bytes.
std::string AnyRow(const KeyCodec& codec, size_t max_size, Random* random) {
  std::string row = random->Bytes(max_size);
  if (codec.segment(0).kind == KeyCodec::Kind::kFixed) row.resize(3, 'x');
  if (codec.segment(0).kind == KeyCodec::Kind::kDelimiter) {
    std::replace(row.begin(), row.end(), '|', '/');
  }
  return row;
}

std::vector<KeyCodec> AllCodecs() {
  return {KeyCodec::Ordered(), KeyCodec::FixedRow(3), KeyCodec::Delimiter('|')};
}

TEST(OrderedCodec, BytesArePinned) {
  EXPECT_EQ(Encoded(KeyCodec::Ordered(), "ab", "c"), "ab\0\1c\0\1"s);
  EXPECT_EQ(Encoded(KeyCodec::Ordered(), "", ""), "\0\1\0\1"s);
  EXPECT_EQ(Encoded(KeyCodec::Ordered(), "a\0"s, "\0\xff"s),
            "a\0\xff\0\1\0\xff\xff\0\1"s);
}

TEST(OrderedCodec, OrderOfEncodingsIsOrderOfRowAndQualifier) {
  Random random(2);
  const KeyCodec codec = KeyCodec::Ordered();
  for (int i = 0; i < 100000; ++i) {
    const Cell a = {random.Bytes(5), random.Bytes(5)};
    // Half of the pairs share a row, so that qualifiers decide.
    const Cell b = {random.Below(2) == 0 ? a.row : random.Bytes(5),
                    random.Bytes(5)};
    const std::string key_a = Encoded(codec, a.row, a.qualifier);
    const std::string key_b = Encoded(codec, b.row, b.qualifier);
    ASSERT_EQ(key_a < key_b, a < b);
    ASSERT_EQ(key_a == key_b, a == b);
  }
}

TEST(KeyCodec, DecodeUndoesEncode) {
  Random random(3);
  for (const KeyCodec& codec : AllCodecs()) {
    for (int i = 0; i < 20000; ++i) {
      const std::string row = AnyRow(codec, 6, &random);
      const std::string qualifier = random.Bytes(6);
      std::string decoded_row;
      std::string decoded_qualifier;
      ASSERT_TRUE(codec
                      .Decode(Encoded(codec, row, qualifier), &decoded_row,
                              &decoded_qualifier)
                      .ok());
      ASSERT_EQ(decoded_row, row);
      ASSERT_EQ(decoded_qualifier, qualifier);
    }
  }
}

TEST(OrderedCodec, ASuffixIsKeptApart) {
  std::string row, qualifier, suffix;
  const std::string key = Encoded(KeyCodec::Ordered(), "r", "q") + "\0v9"s;
  ASSERT_TRUE(KeyCodec::Ordered().Decode(key, &row, &qualifier, &suffix).ok());
  EXPECT_EQ(row, "r");
  EXPECT_EQ(qualifier, "q");
  EXPECT_EQ(suffix, "\0v9"s);
}

TEST(KeyCodec, PrefixesAreTheDocumentedOnes) {
  size_t row_prefix = 0;
  const KeyCodec ordered = KeyCodec::Ordered();
  const std::string key = "ab\0\1c\0\1v"s;
  EXPECT_EQ(ordered.SecondPrefixSize(key, &row_prefix), 6u);  // ab 00 01 c 00
  EXPECT_EQ(row_prefix, 3u);                                  // ab 00
  // These are a row alone, its upper bound, and columns without an end.
  for (const std::string& partial :
       {"ab\0"s, "ab\0\1"s, "ab\0\2"s, "ab\0\1c"s}) {
    EXPECT_EQ(ordered.SecondPrefixSize(partial, &row_prefix), 0u);
    EXPECT_EQ(row_prefix, 3u);
  }
  for (const std::string& none : {""s, "ab"s, "ab\0\xff"s}) {
    EXPECT_EQ(ordered.SecondPrefixSize(none, &row_prefix), 0u);
    EXPECT_EQ(row_prefix, 0u);
  }
  const KeyCodec fixed = KeyCodec::FixedRow(2);
  EXPECT_EQ(fixed.SecondPrefixSize("abc", &row_prefix), 3u);
  EXPECT_EQ(row_prefix, 2u);
  EXPECT_EQ(fixed.SecondPrefixSize("ab", &row_prefix), 0u);
  EXPECT_EQ(row_prefix, 2u);
  EXPECT_EQ(fixed.FirstPrefixSize("a"), 0u);
  const KeyCodec delimiter = KeyCodec::Delimiter('|');
  EXPECT_EQ(delimiter.SecondPrefixSize("a|b", &row_prefix), 3u);
  EXPECT_EQ(row_prefix, 2u);
  EXPECT_EQ(delimiter.SecondPrefixSize("a|", &row_prefix), 0u);
  EXPECT_EQ(delimiter.FirstPrefixSize("ab"), 0u);
}

TEST(KeyCodec, RowBoundsHoldExactlyTheRowsKeys) {
  Random random(5);
  for (const KeyCodec& codec : AllCodecs()) {
    for (int i = 0; i < 50000; ++i) {
      const Cell a = {AnyRow(codec, 3, &random), random.Bytes(3)};
      const Cell b = {random.Below(3) == 0 ? a.row : AnyRow(codec, 3, &random),
                      random.Bytes(3)};
      std::string lower, upper;
      ASSERT_TRUE(codec.LowerBound({a.row}, &lower).ok());
      ASSERT_TRUE(codec.UpperBound({a.row}, &upper).ok());
      const std::string key = Encoded(codec, b.row, b.qualifier);
      const bool inside = key >= lower && (upper.empty() || key < upper);
      ASSERT_EQ(inside, a.row == b.row);
    }
  }
}

TEST(OrderedCodec, BothBoundsOfARowHaveItsRowPrefix) {
  Random random(6);
  const KeyCodec codec = KeyCodec::Ordered();
  for (int i = 0; i < 10000; ++i) {
    const std::string row = random.Bytes(6);
    std::string lower, upper;
    ASSERT_TRUE(codec.LowerBound({row}, &lower).ok());
    ASSERT_TRUE(codec.UpperBound({row}, &upper).ok());
    size_t lower_prefix = 0, upper_prefix = 0;
    ASSERT_EQ(codec.SecondPrefixSize(lower, &lower_prefix), 0u);
    ASSERT_EQ(codec.SecondPrefixSize(upper, &upper_prefix), 0u);
    ASSERT_EQ(lower.substr(0, lower_prefix), upper.substr(0, upper_prefix));
    const std::string key = Encoded(codec, row, random.Bytes(6));
    ASSERT_EQ(key.substr(0, codec.FirstPrefixSize(key)),
              lower.substr(0, lower_prefix));
  }
}

TEST(KeyCodec, TextFormsRoundTrip) {
  for (const std::string& text :
       {"ordered"s, "fixed:1"s, "fixed:16"s, "delimiter:0x7c"s,
        "delimiter:0x00"s, "whole_key"s}) {
    const auto codec = KeyCodec::Parse(text);
    ASSERT_TRUE(codec.ok()) << codec.status();
    EXPECT_EQ(codec->ToString(), text);
    const auto short_form =
        KeyCodec::FromShortForm(static_cast<uint8_t>(codec->segment(0).kind),
                                codec->segment(0).parameter);
    ASSERT_TRUE(short_form.ok());
    EXPECT_TRUE(*short_form == *codec);
    EXPECT_TRUE(codec->HasShortForm());
  }
  EXPECT_EQ(KeyCodec::Parse("delimiter:|")->ToString(), "delimiter:0x7c");
}

TEST(KeyCodecDeathTest, NullPointersNameTheCall) {
  const KeyCodec codec = KeyCodec::Ordered();
  EXPECT_DEATH((void)codec.Encode("r", "q", nullptr), "Encode.*key is null");
  std::vector<std::string>* const none = nullptr;
  EXPECT_DEATH((void)codec.Decode("r", none), "segments is null");
  std::string row;
  EXPECT_DEATH((void)codec.Decode("r", &row, nullptr), "qualifier is null");
}

TEST(KeyCodecDeathTest, ARowOfAnotherSizeThanThereCanBeIsTheCallersMistake) {
  EXPECT_DEATH(KeyCodec::FixedRow(0), "a row has 1 to 1048576 bytes");
  EXPECT_DEATH(KeyCodec::FixedRow(KeyCodec::kMaxRowSize + 1), "a row has 1 to");
  KeyCodec::FixedRow(1);
  KeyCodec::FixedRow(KeyCodec::kMaxRowSize);
}

TEST(KeyCodec, BadTextIsRefusedWithWhatIsAllowed) {
  for (const std::string& text :
       {""s, "sorted"s, "fixed"s, "fixed:"s, "fixed:0"s, "fixed:9999999"s,
        "fixed:+8"s, "fixed: 8"s, "fixed:8 "s, "fixed:008"s, "delimiter"s,
        "delimiter:ab"s, "delimiter:0x1 "s, "delimiter:0x+1"s, "ordered:1"s}) {
    const auto codec = KeyCodec::Parse(text);
    EXPECT_EQ(codec.status().code(), absl::StatusCode::kInvalidArgument)
        << text;
    EXPECT_NE(codec.status().ToString().find("ordered, fixed:N"),
              std::string::npos);
  }
  EXPECT_FALSE(KeyCodec::FromShortForm(0, 0).ok());
  EXPECT_FALSE(KeyCodec::FromShortForm(1, 1).ok());
  EXPECT_FALSE(KeyCodec::FromShortForm(2, 0).ok());
  EXPECT_FALSE(KeyCodec::FromShortForm(3, 256).ok());
  EXPECT_FALSE(KeyCodec::FromShortForm(4, 0).ok());
}

TEST(KeyCodec, TheFilterKeyOfAWholeKeyIsTheKey) {
  const KeyCodec codec = KeyCodec::WholeKey();
  EXPECT_TRUE(codec == *KeyCodec::Parse("name.rest"));
  EXPECT_FALSE(KeyCodec::Parse("name.rest")->HasShortForm());
  EXPECT_EQ(codec.key_level_count(), 1u);
  EXPECT_EQ(codec.KeyLevelName(1), "key");
  for (const std::string& key : {"\0"s, "\0\0\0\1"s, "a\0\1b\0"s, "row"s}) {
    const KeyCodec::Prefixes prefixes = codec.PrefixesOf(key);
    ASSERT_EQ(prefixes.count, 1u);
    EXPECT_EQ(prefixes.sizes[0], key.size());
    EXPECT_TRUE(prefixes.has_segment);
  }
  EXPECT_EQ(codec.PrefixesOf("").count, 0u);
  EXPECT_FALSE(codec.PrefixesOf("").has_segment);
}

TEST(KeyCodec, SegmentsThatItDidNotWriteHaveNoSize) {
  const KeyCodec ordered = KeyCodec::Ordered();
  EXPECT_EQ(ordered.SegmentsSize("ab\0\1c\0\1"s, 1, 3), 4u);
  EXPECT_EQ(ordered.SegmentsSize("ab\0\1c\0\1"s, 2, 6), 7u);
  // Numbers, a bound, and a key that ends within its terminator.
  EXPECT_EQ(ordered.SegmentsSize("\0\0\0\7"s, 1, 1), 0u);
  EXPECT_EQ(ordered.SegmentsSize("ab\0\2"s, 1, 3), 0u);
  EXPECT_EQ(ordered.SegmentsSize("ab\0"s, 1, 3), 0u);
  EXPECT_EQ(KeyCodec::FixedRow(2).SegmentsSize("\0\0\0"s, 1, 2), 2u);
  EXPECT_EQ(KeyCodec::WholeKey().SegmentsSize("\0\0\0"s, 1, 3), 3u);
}

// A filter keeps the text among at most 255 bytes of metadata.
TEST(KeyCodec, TextsOfMoreThan253BytesAreRefused) {
  std::string text;
  for (char first = 'a'; first < 'a' + 8; ++first) {
    if (!text.empty()) text += ",";
    text += first == 'a' ? "" : "-";
    text += std::string(15, first) + ".delimiter:0x1f";
  }
  ASSERT_EQ(text.size(), 254);
  const auto refused = KeyCodec::Parse(text);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().ToString().find("254 bytes, more than 253"),
            std::string::npos)
      << refused.status();
  text.erase(text.find('-'), 1);
  EXPECT_EQ(KeyCodec::Parse(text)->ToString(), text);
}

TEST(KeyCodec, RowsThatACodecCannotHoldAreRefusedAndNothingIsAppended) {
  std::string key = "before";
  EXPECT_FALSE(KeyCodec::FixedRow(3).Encode("ab", "q", &key).ok());
  EXPECT_FALSE(KeyCodec::Delimiter('|').Encode("a|b", "q", &key).ok());
  EXPECT_EQ(key, "before");
}

TEST(KeyCodec, KeysThatHoldNoCellAreRefusedByDecode) {
  std::string row, qualifier;
  for (const std::string& key :
       {""s, "a"s, "a\0\1b"s, "a\0\2b\0\1"s, "a\0\xff\0"s, "a\0\1b\0"s}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        KeyCodec::Ordered().Decode(key, &row, &qualifier)));
  }
  EXPECT_FALSE(KeyCodec::FixedRow(3).Decode("ab", &row, &qualifier).ok());
  EXPECT_FALSE(KeyCodec::Delimiter('|').Decode("ab", &row, &qualifier).ok());
}

}  // namespace
}  // namespace rowbloom
