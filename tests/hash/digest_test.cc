// SPDX-License-Identifier: Apache-2.0

#include "hash/digest.h"

#include <gtest/gtest.h>

#include "rowbloom/filter_key.h"

namespace rowbloom {
namespace {

// Persisted in every filter: these values never change.
TEST(Digest, VectorsArePinned) {
  EXPECT_EQ(hash::Hash64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(hash::Hash64("a"), 0xe6c632b61e964e1fu);
  EXPECT_EQ(hash::Hash64("abc"), 0x78af5f94892f3950u);
  EXPECT_EQ(hash::Checksum32("abc"), 0x892f3950u);
}

TEST(Digest, OfARowIsXxh3OfItsBytes) {
  EXPECT_EQ(FilterKey::Row("abc").digest().value, hash::Hash64("abc"));
  EXPECT_EQ(DigestBytes("abc").value, hash::Hash64("abc"));
}

TEST(Digest, OfACellIsXxh3OfTheQualifierSeededByTheRow) {
  const FilterKey cell = FilterKey::RowCol("abc", "q");
  EXPECT_EQ(cell.digest().value, hash::Hash64("q", hash::Hash64("abc")));
  EXPECT_EQ(cell.row_digest().value, hash::Hash64("abc"));
  EXPECT_EQ(FilterKey::RowCol(FilterKey::Row("abc"), "q").digest(),
            cell.digest());
}

TEST(Digest, RowAndColumnBoundariesMatter) {
  EXPECT_NE(FilterKey::RowCol("ab", "c").digest(),
            FilterKey::RowCol("a", "bc").digest());
  EXPECT_NE(FilterKey::RowCol("a", "").digest(), FilterKey::Row("a").digest());
}

}  // namespace
}  // namespace rowbloom
