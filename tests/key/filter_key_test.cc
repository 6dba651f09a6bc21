// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/filter_key.h"

#include <gtest/gtest.h>

#include "testing/keys.h"

namespace rowbloom {
namespace {

using testing::Random;

int Sign(int value) { return (value > 0) - (value < 0); }

TEST(FilterKey, ARowsOwnKeyComesBeforeItsColumns) {
  const FilterKey row = FilterKey::Row("b");
  EXPECT_LT(row.Compare(FilterKey::RowCol("b", "")), 0);
  EXPECT_GT(FilterKey::RowCol("b", "").Compare(row), 0);
  EXPECT_LT(FilterKey::RowCol("a", "z").Compare(row), 0);
  EXPECT_EQ(row.Compare(FilterKey::Row("b")), 0);
}

TEST(FilterKey, OfKnownDigestsIsTheOneThatWasHashed) {
  const FilterKey hashed = FilterKey::RowCol("row", "q");
  const FilterKey known =
      FilterKey::RowCol("row", "q", hashed.row_digest(), hashed.digest());
  EXPECT_EQ(DigestColumn(DigestBytes("row"), "q"), hashed.digest());
  EXPECT_EQ(known.Compare(hashed), 0);
  EXPECT_EQ(known.digest(), hashed.digest());
  EXPECT_EQ(known.row_digest(), hashed.row_digest());
  EXPECT_TRUE(known.has_qualifier());
}

TEST(FilterKey, APrefixHasTheDigestOfARowOfItsBytes) {
  const FilterKey prefix = FilterKey::Prefix("ab");
  EXPECT_TRUE(prefix.is_prefix());
  EXPECT_FALSE(prefix.has_qualifier());
  EXPECT_EQ(prefix.digest(), FilterKey::Row("ab").digest());
  EXPECT_EQ(prefix.Compare(FilterKey::Row("ab")), 0);
  EXPECT_FALSE(FilterKey::RowCol(prefix, "q").is_prefix());
}

TEST(FilterKey, BytesCompareUnsigned) {
  EXPECT_LT(FilterKey::Row("\x7f").Compare(FilterKey::Row("\x80")), 0);
  EXPECT_LT(
      FilterKey::RowCol("r", "\x7f").Compare(FilterKey::RowCol("r", "\xff")),
      0);
}

TEST(FilterKey, ComparesAsPairsOfRowAndQualifierDo) {
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    const testing::Cell a = {random.Bytes(4), random.Bytes(4)};
    const testing::Cell b = {random.Bytes(4), random.Bytes(4)};
    const int expected = a < b ? -1 : (b < a ? 1 : 0);
    EXPECT_EQ(Sign(FilterKey::RowCol(a.row, a.qualifier)
                       .Compare(FilterKey::RowCol(b.row, b.qualifier))),
              expected);
  }
}

}  // namespace
}  // namespace rowbloom
