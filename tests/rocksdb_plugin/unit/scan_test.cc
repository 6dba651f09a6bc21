// SPDX-License-Identifier: Apache-2.0
//
// The results of scans are tested in db_*_test.cc.

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "policy/row_prefix_extractor.h"
#include "rocksdb/options.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::plugin {
namespace {

using std::string_view_literals::operator""sv;

std::string Lower(RocksDbScan* scan) {
  rdb::ReadOptions read;
  scan->Configure(&read);
  return read.iterate_lower_bound->ToString();
}

std::string Upper(RocksDbScan* scan) {
  rdb::ReadOptions read;
  read.prefix_same_as_start = true;
  read.total_order_seek = true;
  scan->Configure(&read);
  EXPECT_TRUE(read.auto_prefix_mode);
  EXPECT_FALSE(read.prefix_same_as_start);
  EXPECT_FALSE(read.total_order_seek);
  return read.iterate_upper_bound == nullptr
             ? "none"
             : read.iterate_upper_bound->ToString();
}

TEST(RocksDbScan, BoundsOfARowHaveTheRowPrefix) {
  auto scan = RocksDbScan::OfRow(KeyCodec::Ordered(), "row");
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(Lower(&*scan), "row\0\1"sv);
  EXPECT_EQ(Upper(&*scan), "row\0\2"sv);
}

TEST(RocksDbScan, BoundsOfAColumnHaveTheColumnPrefix) {
  const RowPrefixExtractor extractor(BloomType::kRowCol, KeyCodec::Ordered());
  auto scan = RocksDbScan::OfColumn(KeyCodec::Ordered(), "row", "q");
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(Lower(&*scan), "row\0\1q\0"sv);
  EXPECT_EQ(Upper(&*scan), "row\0\1q\0\4"sv);
}

// The key "row\0\1q\0" is outside: it sorts before the column.
TEST(RocksDbScan, BoundsOfAColumnAreExactWhereNoExtractorMapsThem) {
  const RowPrefixExtractor of_rows(BloomType::kRow, KeyCodec::Ordered());
  auto scan = RocksDbScan::OfColumn(KeyCodec::Ordered(), "row", "q");
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(Lower(&*scan), "row\0\1q\0\1"sv);
  EXPECT_EQ(Upper(&*scan), "row\0\1q\0\3"sv);
}

TEST(RocksDbScan, BoundsOfATailingScanMapToTheRow) {
  const RowPrefixExtractor extractor(BloomType::kRowCol, KeyCodec::Ordered());
  auto scan = RocksDbScan::OfColumn(KeyCodec::Ordered(), "row", "q");
  ASSERT_TRUE(scan.ok());
  rdb::ReadOptions read;
  read.tailing = true;
  scan->Configure(&read);
  EXPECT_EQ(*read.iterate_lower_bound, rdb::Slice("row\0\1q\0\1", 8));
  EXPECT_EQ(*read.iterate_upper_bound, rdb::Slice("row\0\1q\0\3", 8));
  EXPECT_EQ(extractor.Transform(*read.iterate_lower_bound),
            rdb::Slice("row\0", 4));
  EXPECT_EQ(extractor.Transform(*read.iterate_upper_bound),
            rdb::Slice("row\0", 4));
  EXPECT_EQ(Upper(&*scan), "row\0\1q\0\4"sv);
}

TEST(RocksDbScan, AColumnOfOtherCodecsIsOneKey) {
  auto scan = RocksDbScan::OfColumn(KeyCodec::FixedRow(3), "row", "q");
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(Lower(&*scan), "rowq");
  EXPECT_EQ(Upper(&*scan), "rowq\0"sv);
}

TEST(RocksDbScan, TheLastRowHasNoUpperBound) {
  auto scan = RocksDbScan::OfRow(KeyCodec::FixedRow(2), "\xff\xff");
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(Upper(&*scan), "none");
}

TEST(RocksDbScan, RowsThatTheCodecCannotHoldAreAnError) {
  EXPECT_EQ(RocksDbScan::OfRow(KeyCodec::FixedRow(2), "row").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RocksDbScan::OfColumn(KeyCodec::Delimiter('|'), "a|b", "q")
                .status()
                .code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(RocksDbDeletion, BoundsMapToTheRow) {
  const RowPrefixExtractor extractor(BloomType::kRowCol, KeyCodec::Ordered());
  for (const auto& range :
       {RocksDbDeletion::OfRow(KeyCodec::Ordered(), "row"),
        RocksDbDeletion::OfColumn(KeyCodec::Ordered(), "row", "q")}) {
    ASSERT_TRUE(range.ok());
    for (const std::string& key : {range->begin, range->end}) {
      EXPECT_EQ(extractor.Transform(key).ToString(), "row\0"sv);
    }
  }
}

TEST(RocksDbDeletion, AColumnIsAllItsVersionsAndNoOther) {
  const KeyCodec codec = KeyCodec::Ordered();
  const auto range = RocksDbDeletion::OfColumn(codec, "row", "q");
  ASSERT_TRUE(range.ok());
  const auto is_deleted = [&](std::string_view qualifier,
                              std::string_view version) {
    std::string key;
    EXPECT_TRUE(codec.Encode("row", qualifier, &key).ok());
    key += version;
    return key >= range->begin && key < range->end;
  };
  EXPECT_TRUE(is_deleted("q", ""));
  EXPECT_TRUE(is_deleted("q", "\xff\xff"));
  EXPECT_FALSE(is_deleted("p\xff", "\xff"));
  EXPECT_FALSE(is_deleted("q\0"sv, ""));
  EXPECT_FALSE(is_deleted("q\0\xff"sv, ""));
  EXPECT_FALSE(is_deleted("qa", ""));
}

TEST(RocksDbDeletion, AColumnOfOtherCodecsIsOneKey) {
  const auto range =
      RocksDbDeletion::OfColumn(KeyCodec::FixedRow(3), "row", "q");
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->begin, "rowq");
  EXPECT_EQ(range->end, "rowq\0"sv);
}

TEST(RocksDbDeletion, RowsThatHaveNoEndAreAnError) {
  EXPECT_EQ(
      RocksDbDeletion::OfRow(KeyCodec::FixedRow(2), "\xff\xff").status().code(),
      absl::StatusCode::kOutOfRange);
  EXPECT_EQ(
      RocksDbDeletion::OfRow(KeyCodec::FixedRow(2), "row").status().code(),
      absl::StatusCode::kInvalidArgument);
}

TEST(RocksDbDeletion, ColumnsThatHaveNoEndAreAnError) {
  const auto codec = KeyCodec::Parse("fixed:1,fixed:1");
  ASSERT_TRUE(codec.ok()) << codec.status();
  EXPECT_EQ(RocksDbDeletion::OfColumn(*codec, "\xff", "\xff").status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(RocksDbDeletion::OfColumn(*codec, "\xff", "\xfe").ok());
}

TEST(RocksDbScan, CopiesHaveBoundsOfTheirOwn) {
  auto scan = RocksDbScan::OfRow(KeyCodec::Ordered(), "row");
  ASSERT_TRUE(scan.ok());
  RocksDbScan copy = *scan;
  rdb::ReadOptions first, second;
  scan->Configure(&first);
  copy.Configure(&second);
  EXPECT_NE(first.iterate_upper_bound, second.iterate_upper_bound);
  EXPECT_EQ(*first.iterate_upper_bound, *second.iterate_upper_bound);
}

}  // namespace
}  // namespace rowbloom::plugin
