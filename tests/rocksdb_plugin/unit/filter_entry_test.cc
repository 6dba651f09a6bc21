// SPDX-License-Identifier: Apache-2.0

#include "policy/filter_entry.h"

#include <optional>
#include <string_view>

#include "gtest/gtest.h"
#include "testing/key_codecs.h"

namespace rowbloom::plugin {
namespace {

std::optional<std::string_view> Asked(BloomType type, const KeyCodec& codec,
                                      std::string_view entry) {
  return AskedPrefix(KeyLevelCount(type, codec), codec, entry);
}

using std::string_view_literals::operator""sv;

constexpr std::string_view kCell = "row\0\1qual\0\1version"sv;

TEST(AskedPrefix, RowAsksForTheRowPrefix) {
  EXPECT_EQ(Asked(BloomType::kRow, KeyCodec::Ordered(), kCell), "row\0"sv);
}

TEST(AskedPrefix, RowColAsksForTheColumnPrefix) {
  EXPECT_EQ(Asked(BloomType::kRowCol, KeyCodec::Ordered(), kCell),
            "row\0\1qual\0"sv);
}

TEST(AskedPrefix, RowColAsksForTheRowIfTheColumnIsNotWhole) {
  for (std::string_view entry :
       {"row\0"sv, "row\0\1"sv, "row\0\2"sv, "row\0\1qu"sv}) {
    EXPECT_EQ(Asked(BloomType::kRowCol, KeyCodec::Ordered(), entry), "row\0"sv);
  }
}

TEST(AskedPrefix, EntriesWithoutAWholeSegmentAreAskedWhole) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (std::string_view entry : {""sv, "ro"sv, "\xff"sv}) {
      EXPECT_EQ(Asked(type, KeyCodec::Ordered(), entry), entry);
      EXPECT_EQ(Asked(type, KeyCodec::FixedRow(8), entry), entry);
    }
  }
}

TEST(AskedPrefix, TheLongestLevelIsAsked) {
  const KeyCodec codec = *KeyCodec::Parse(
      "tenant.fixed:2,-shard.fixed:1,user.delimiter:/,at.rest");
  EXPECT_EQ(Asked(BloomType::kRowCol, codec, "ab1ann/17"), "ab1ann/17");
  EXPECT_EQ(Asked(BloomType::kRowCol, codec, "ab1ann/"), "ab1ann/");
  EXPECT_EQ(Asked(BloomType::kRowCol, codec, "ab1an"), "ab");
  EXPECT_EQ(Asked(BloomType::kRow, codec, "ab1ann/17"), "ab");
}

// It is a prefix of what was added, and may not have been added itself.
TEST(AskedPrefix, ASegmentThatEndsNoLevelIsNotAsked) {
  const KeyCodec codec = *KeyCodec::Parse("-shard.fixed:1,user.delimiter:/");
  EXPECT_EQ(Asked(BloomType::kRowCol, codec, "1ann/"), "1ann/");
  EXPECT_EQ(Asked(BloomType::kRowCol, codec, "1ann"), std::nullopt);
  EXPECT_EQ(Asked(BloomType::kRowCol, codec, ""), "");
}

// RocksDB hands over prefixes of keys beside keys: a prefix must be its own.
TEST(AskedPrefix, APrefixIsItsOwnPrefix) {
  testing::Random random(3);
  for (int i = 0; i < 20000; ++i) {
    const KeyCodec codec = testing::AnyCodec(&random);
    std::string key;
    ASSERT_TRUE(
        codec
            .Encode(testing::Views(testing::AnySegments(codec, 4, &random)),
                    &key)
            .ok());
    for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
      const auto prefix = Asked(type, codec, key);
      if (!prefix.has_value()) continue;
      ASSERT_EQ(Asked(type, codec, *prefix), *prefix);
    }
  }
}

TEST(CheckBloomType, AdmitsRowAndRowColOnly) {
  EXPECT_TRUE(CheckBloomType(BloomType::kRow).ok());
  EXPECT_TRUE(CheckBloomType(BloomType::kRowCol).ok());
  for (BloomType type : {BloomType::kNone, BloomType::kRowPrefixFixedLength,
                         static_cast<BloomType>(0)}) {
    EXPECT_EQ(CheckBloomType(type).code(), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace rowbloom::plugin
