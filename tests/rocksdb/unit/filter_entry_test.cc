// SPDX-License-Identifier: Apache-2.0

#include "policy/filter_entry.h"

#include <string_view>

#include "gtest/gtest.h"

namespace rowbloom {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kCell = "row\0\1qual\0\1version"sv;

TEST(SplitEntry, RowAsksForTheRowPart) {
  const EntryParts parts =
      SplitEntry(BloomType::kRow, KeyCodec::Ordered(), kCell);
  EXPECT_EQ(parts.asked, "row\0"sv);
  EXPECT_FALSE(parts.has_column);
}

TEST(SplitEntry, RowColAsksForTheColumnPartAndKnowsTheRow) {
  const EntryParts parts =
      SplitEntry(BloomType::kRowCol, KeyCodec::Ordered(), kCell);
  EXPECT_EQ(parts.asked, "row\0\1qual\0"sv);
  EXPECT_EQ(parts.row, "row\0"sv);
  EXPECT_TRUE(parts.has_column);
}

TEST(SplitEntry, RowColAsksForTheRowIfTheColumnIsNotWhole) {
  for (std::string_view entry :
       {"row\0"sv, "row\0\1"sv, "row\0\2"sv, "row\0\1qu"sv}) {
    const EntryParts parts =
        SplitEntry(BloomType::kRowCol, KeyCodec::Ordered(), entry);
    EXPECT_EQ(parts.asked, "row\0"sv);
    EXPECT_FALSE(parts.has_column);
  }
}

TEST(SplitEntry, EntriesWithoutAWholeRowAreAskedWhole) {
  for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
    for (std::string_view entry : {""sv, "ro"sv, "\xff"sv}) {
      EXPECT_EQ(SplitEntry(type, KeyCodec::Ordered(), entry).asked, entry);
      EXPECT_EQ(SplitEntry(type, KeyCodec::FixedRow(8), entry).asked, entry);
    }
  }
}

// RocksDB hands over prefixes of keys beside keys: a part must be its own.
TEST(SplitEntry, APartIsItsOwnPart) {
  for (const KeyCodec& codec :
       {KeyCodec::Ordered(), KeyCodec::FixedRow(3), KeyCodec::Delimiter('q')}) {
    for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
      const EntryParts parts = SplitEntry(type, codec, kCell);
      EXPECT_EQ(SplitEntry(type, codec, parts.asked).asked, parts.asked);
      EXPECT_EQ(SplitEntry(type, codec, parts.row).asked, parts.row);
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
}  // namespace rowbloom
