// SPDX-License-Identifier: Apache-2.0
//
// What scans find is tested in db_*_test.cc.

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "rocksdb/options.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom {
namespace {

using std::string_view_literals::operator""sv;

std::string Upper(RocksDbScan* scan) {
  ROCKSDB_NAMESPACE::ReadOptions read;
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

TEST(RocksDbScan, BoundsOfARowHaveTheRowPart) {
  auto scan = RocksDbScan::OfRow(KeyCodec::Ordered(), "row");
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(scan->lower(), "row\0\1"sv);
  EXPECT_EQ(Upper(&*scan), "row\0\2"sv);
}

TEST(RocksDbScan, BoundsOfAColumnHaveTheColumnPart) {
  auto scan = RocksDbScan::OfColumn(KeyCodec::Ordered(), "row", "q");
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(scan->lower(), "row\0\1q\0"sv);
  EXPECT_EQ(Upper(&*scan), "row\0\1q\0\2"sv);
}

TEST(RocksDbScan, AColumnOfOtherCodecsIsOneKey) {
  auto scan = RocksDbScan::OfColumn(KeyCodec::FixedRow(3), "row", "q");
  ASSERT_TRUE(scan.ok());
  EXPECT_EQ(scan->lower(), "rowq");
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

TEST(RocksDbScan, CopiesHaveBoundsOfTheirOwn) {
  auto scan = RocksDbScan::OfRow(KeyCodec::Ordered(), "row");
  ASSERT_TRUE(scan.ok());
  RocksDbScan copy = *scan;
  ROCKSDB_NAMESPACE::ReadOptions first, second;
  scan->Configure(&first);
  copy.Configure(&second);
  EXPECT_NE(first.iterate_upper_bound, second.iterate_upper_bound);
  EXPECT_EQ(*first.iterate_upper_bound, *second.iterate_upper_bound);
}

}  // namespace
}  // namespace rowbloom
