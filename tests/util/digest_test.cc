// SPDX-License-Identifier: Apache-2.0

#include "util/digest.h"

#include <gtest/gtest.h>

#include "rowbloom/filter_key.h"

namespace rowbloom {
namespace {

// Every filter persists digests: these values never change.
TEST(Digest, VectorsArePinned) {
  EXPECT_EQ(util::Hash64(""), 0x2d06800538d394c2u);
  EXPECT_EQ(util::Hash64("a"), 0xe6c632b61e964e1fu);
  EXPECT_EQ(util::Hash64("abc"), 0x78af5f94892f3950u);
  EXPECT_EQ(util::Checksum32("abc"), 0x892f3950u);
}

// XXH3 has separate code for each of these sizes and, for long inputs, for each
// instruction set.
TEST(Digest, VectorsOfEverySizeClassArePinned) {
  std::string bytes(2000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(i * 7);
  }
  const struct {
    size_t size;
    uint64_t unseeded;
    uint64_t seeded;
  } vectors[] = {
      {3, 0xc3489259e968ad9eu, 0xabdb7d6994061ab8u},
      {8, 0xb88dee77f6bf6980u, 0x03487b3192ad1e7au},
      {16, 0x9da23836adf2be1eu, 0xa243bb83a7a147a2u},
      {128, 0x65f3c2c00fa93185u, 0x8b8daa02859b770bu},
      {240, 0x4917a75c0ef8eed7u, 0xdf32419063bc489au},
      {241, 0x541b19226f0052e8u, 0xc70f3b1cd146d8ebu},
      {1024, 0xdc5acf0b043c445bu, 0xab9e342a32716516u},
      {2000, 0xe4a112bbea5308a7u, 0xb4ca9524dad5052cu},
  };
  for (const auto& vector : vectors) {
    const std::string_view prefix =
        std::string_view(bytes).substr(0, vector.size);
    EXPECT_EQ(util::Hash64(prefix), vector.unseeded) << vector.size;
    EXPECT_EQ(util::Hash64(prefix, 0x0123456789abcdef), vector.seeded)
        << vector.size;
  }
}

TEST(Digest, OfARowIsXxh3OfItsBytes) {
  std::string row;
  for (int size = 0; size <= 300; ++size) {
    EXPECT_EQ(FilterKey::Row(row).digest().value, util::Hash64(row)) << size;
    EXPECT_EQ(DigestBytes(row).value, util::Hash64(row)) << size;
    row.push_back(static_cast<char>(size * 7));
  }
}

TEST(Digest, OfACellIsXxh3OfTheQualifierSeededByTheRow) {
  const FilterKey cell = FilterKey::RowCol("abc", "q");
  EXPECT_EQ(cell.digest().value, util::Hash64("q", util::Hash64("abc")));
  EXPECT_EQ(cell.row_digest().value, util::Hash64("abc"));
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
