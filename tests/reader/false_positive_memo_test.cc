// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/false_positive_memo.h"

#include <string>

#include "gtest/gtest.h"
#include "testing/keys.h"

namespace rowbloom {
namespace {

using testing::NumberedRow;

TEST(FalsePositiveMemo, DeniesWhatItRemembersAndNothingElse) {
  FalsePositiveMemo memo(1 << 20);
  for (uint64_t i = 0; i < 1000; ++i) {
    const std::string row = NumberedRow(i);
    EXPECT_FALSE(memo.Denies(5, FilterKey::Row(row)));
    memo.Remember(5, FilterKey::Row(row));
  }
  for (uint64_t i = 0; i < 2000; ++i) {
    const std::string row = NumberedRow(i);
    EXPECT_EQ(memo.Denies(5, FilterKey::Row(row)), i < 1000);
    EXPECT_FALSE(memo.Denies(6, FilterKey::Row(row)));
  }
}

TEST(FalsePositiveMemo, ARowAndItsColumnsAreDifferentKeys) {
  FalsePositiveMemo memo(1 << 20);
  const FilterKey row = FilterKey::Row("row");
  memo.Remember(5, FilterKey::RowCol(row, "q"));
  EXPECT_TRUE(memo.Denies(5, FilterKey::RowCol(row, "q")));
  EXPECT_FALSE(memo.Denies(5, row));
  EXPECT_FALSE(memo.Denies(5, FilterKey::RowCol(row, "")));
  EXPECT_FALSE(memo.Denies(5, FilterKey::RowCol(row, "p")));
  memo.Remember(5, row);
  EXPECT_TRUE(memo.Denies(5, row));
  EXPECT_FALSE(memo.Denies(5, FilterKey::RowCol(row, "p")));
}

TEST(FalsePositiveMemo, DoesNotDenyAnotherKeyWithTheSameDigest) {
  // A search found these keys.
  const FilterKey there = FilterKey::RowCol("417603", "abc");
  const FilterKey absent = FilterKey::RowCol("874397", "\x96\x3c\x3a");
  ASSERT_EQ(there.digest(), absent.digest());
  FalsePositiveMemo memo(1 << 20);
  memo.Remember(5, absent);
  EXPECT_TRUE(memo.Denies(5, absent));
  EXPECT_FALSE(memo.Denies(5, there));
}

// Digests that a caller gives stand for keys that no search finds.
TEST(FalsePositiveMemo, ComparesEachPartOfAKey) {
  const KeyDigest digest{1};
  const auto key = [&](std::string_view row, std::string_view qualifier) {
    return FilterKey::RowCol(row, qualifier, DigestBytes(row), digest);
  };
  FalsePositiveMemo memo(1 << 20);
  memo.Remember(5, key("m", "m"));
  EXPECT_TRUE(memo.Denies(5, key("m", "m")));
  for (const char* other : {"a", "z", ""}) {
    EXPECT_FALSE(memo.Denies(5, key("m", other)));
    EXPECT_FALSE(memo.Denies(5, key(other, "m")));
  }
  const FilterKey row = FilterKey::Row("m");
  memo.Remember(5, row);
  EXPECT_TRUE(memo.Denies(5, row));
  EXPECT_FALSE(memo.Denies(5, FilterKey::Prefix("m")));
}

TEST(FalsePositiveMemo, StaysWithinItsCapacity) {
  FalsePositiveMemo memo(20000);
  const std::string qualifier(100, 'q');
  for (uint64_t i = 0; i < 1000; ++i) {
    memo.Remember(5, FilterKey::RowCol(NumberedRow(i), qualifier));
    ASSERT_LE(memo.GetUsage().usage_bytes, 20000u);
  }
  EXPECT_GT(memo.GetUsage().usage_bytes, 19000u);
  EXPECT_GT(memo.GetUsage().evictions, 0u);
}

TEST(FalsePositiveMemo, ForgetsAnErasedFile) {
  FalsePositiveMemo memo(1 << 20);
  const FilterKey row = FilterKey::Row("row");
  memo.Remember(5, row);
  memo.Remember(6, row);
  memo.EraseFile(5);
  EXPECT_FALSE(memo.Denies(5, row));
  EXPECT_TRUE(memo.Denies(6, row));
}

}  // namespace
}  // namespace rowbloom
