// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/bloom_type.h"

#include <gtest/gtest.h>

namespace rowbloom {
namespace {

TEST(BloomType, NamesAreHBasesAndParseInAnyCase) {
  for (const BloomType type :
       {BloomType::kNone, BloomType::kRow, BloomType::kRowCol,
        BloomType::kRowPrefixFixedLength}) {
    const auto parsed = ParseBloomType(BloomTypeName(type));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, type);
  }
  EXPECT_EQ(BloomTypeName(BloomType::kRowPrefixFixedLength),
            "ROWPREFIX_FIXED_LENGTH");
  EXPECT_EQ(*ParseBloomType("rowcol"), BloomType::kRowCol);
}

TEST(BloomType, AnUnknownNameIsRefusedWithTheKnownOnes) {
  const auto parsed = ParseBloomType("COLUMN");
  EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(parsed.status().ToString().find("\"COLUMN\"; known: NONE, ROW"),
            std::string::npos);
}

TEST(BloomType, PersistedNumbersArePinned) {
  EXPECT_EQ(static_cast<int>(BloomType::kNone), 1);
  EXPECT_EQ(static_cast<int>(BloomType::kRow), 2);
  EXPECT_EQ(static_cast<int>(BloomType::kRowCol), 3);
  EXPECT_EQ(static_cast<int>(BloomType::kRowPrefixFixedLength), 4);
}

}  // namespace
}  // namespace rowbloom
