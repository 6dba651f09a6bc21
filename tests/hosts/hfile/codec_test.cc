// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "hfile/block.h"
#include "hfile/cell_key.h"
#include "hfile/checksum.h"
#include "hfile/compression.h"
#include "hfile/vlong.h"
#include "hosts/hfile/test_data.h"
#include "rowbloom/io.h"
#include "testing/keys.h"
#include "util/coding.h"

namespace rowbloom::hfile {
namespace {

TEST(Checksum, HasTheCheckValuesOfItsPolynomials) {
  EXPECT_EQ(Checksum(HFileChecksum::kCrc32, "123456789"), 0xcbf43926);
  EXPECT_EQ(Checksum(HFileChecksum::kCrc32c, "123456789"), 0xe3069283);
  EXPECT_EQ(Checksum(HFileChecksum::kNull, "123456789"), 0);
}

TEST(Vlong, ReadsWhatItWrites) {
  for (const int64_t value :
       {int64_t{0}, int64_t{127}, int64_t{128}, int64_t{-112}, int64_t{-113},
        int64_t{255}, int64_t{256}, int64_t{1} << 40,
        std::numeric_limits<int64_t>::max(),
        std::numeric_limits<int64_t>::min()}) {
    std::string bytes;
    AppendVlong(value, &bytes);
    std::string_view in = bytes;
    int64_t read = 0;
    ASSERT_TRUE(ReadVlong(&in, &read));
    EXPECT_EQ(read, value);
    EXPECT_TRUE(in.empty());
    in = std::string_view(bytes).substr(0, bytes.size() - 1);
    EXPECT_FALSE(ReadVlong(&in, &read)) << value;
  }
  // Hadoop writes the same bytes.
  std::string bytes;
  AppendVlong(200, &bytes);
  AppendVlong(1000, &bytes);
  AppendVlong(-1000, &bytes);
  EXPECT_EQ(absl::BytesToHexString(bytes), "8fc88e03e88603e7");
}

class CompressionTest : public ::testing::TestWithParam<HFileCompression> {};

INSTANTIATE_TEST_SUITE_P(
    All, CompressionTest,
    ::testing::Values(HFileCompression::kNone, HFileCompression::kGz,
                      HFileCompression::kSnappy, HFileCompression::kLz4,
                      HFileCompression::kZstd),
    [](const auto& param) {
      return std::string(HFileCompressionName(param.param));
    });

TEST_P(CompressionTest, GivesBackWhatItTook) {
  testing::Random random(1);
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string(100000, 'x'),
        random.Bytes(70000), random.Bytes(600000)}) {
    std::string compressed;
    ASSERT_EQ(Compress(GetParam(), bytes, &compressed), absl::OkStatus());
    const auto again = Decompress(GetParam(), compressed, bytes.size());
    EXPECT_EQ(*again, bytes);
    // A stated size that is too long or too short is refused.
    EXPECT_FALSE(Decompress(GetParam(), compressed, bytes.size() + 1).ok());
    if (!bytes.empty()) {
      EXPECT_FALSE(Decompress(GetParam(), compressed, bytes.size() - 1).ok());
    }
  }
}

TEST(Compression, ReadsFramesOfSeveralPieces) {
  std::string framed;
  util::AppendBigEndian(uint32_t{6}, &framed);
  for (const char* piece : {"abc", "def"}) {
    std::string one;
    ASSERT_EQ(Compress(HFileCompression::kSnappy, piece, &one),
              absl::OkStatus());
    framed += one.substr(4);  // Without the total size.
  }
  const auto bytes = Decompress(HFileCompression::kSnappy, framed, 6);
  EXPECT_EQ(*bytes, "abcdef");
}

// Expects one frame of pieces as large as HBase's buffer allows, and an empty
// one.
void ExpectCutAsHBaseCuts(HFileCompression compression, std::string_view framed,
                          std::string_view payload) {
  constexpr size_t kMaxPiece = 218422;
  uint32_t total = 0;
  ASSERT_TRUE(util::ReadBigEndian(&framed, &total));
  EXPECT_EQ(total, payload.size());
  int pieces = 0;
  for (; !payload.empty(); ++pieces) {
    const std::string_view expected = payload.substr(0, kMaxPiece);
    payload.remove_prefix(expected.size());
    std::string frame;
    util::AppendBigEndian(static_cast<uint32_t>(expected.size()), &frame);
    ASSERT_GE(framed.size(), 4);
    const size_t end = 4 + util::LoadBigEndian<uint32_t>(framed.data());
    frame += framed.substr(0, end);
    framed.remove_prefix(std::min(end, framed.size()));
    const auto piece = Decompress(compression, frame, expected.size());
    EXPECT_TRUE(*piece == expected);
  }
  EXPECT_GT(pieces, 1);
  EXPECT_EQ(framed, std::string_view("\0\0\0\0", 4));
}

TEST(Compression, CutsLargePayloadsAsHBaseDoes) {
  for (const auto& [name, compression] :
       {std::pair("snappy", HFileCompression::kSnappy),
        std::pair("lz4", HFileCompression::kLz4),
        std::pair("zstd", HFileCompression::kZstd)}) {
    const std::string file = testing::ReadFile(testing::HFileData(
        "hbase_2.6/row_" + std::string(name) + "_pieces.hfile"));
    const auto source = NewMemorySource(file, name);
    BlockFormat format;
    format.source = source.get();
    format.compression = compression;
    format.end = file.size();
    const auto block = ReadBlock(format, 0, kDataMagic, 0);
    ExpectCutAsHBaseCuts(
        compression,
        std::string_view(file).substr(kHeaderSize, block->header.payload_size),
        block->payload);
    std::string ours;
    ASSERT_EQ(Compress(compression, block->payload, &ours), absl::OkStatus());
    ExpectCutAsHBaseCuts(compression, ours, block->payload);
  }
}

TEST_P(CompressionTest, BytesThatItDidNotWriteAreDamage) {
  if (GetParam() == HFileCompression::kNone) return;
  const std::string bytes(1000, 'x');
  std::string compressed;
  ASSERT_EQ(Compress(GetParam(), bytes, &compressed), absl::OkStatus());
  // Two sizes come first, except in gzip.
  const size_t begin = GetParam() == HFileCompression::kGz ? 0 : 8;
  for (size_t i = begin; i < compressed.size(); ++i) compressed[i] = '\xff';
  EXPECT_EQ(Decompress(GetParam(), compressed, bytes.size()).status().code(),
            absl::StatusCode::kDataLoss);
}

TEST(Compression, ReadsPlainZstdFramesToo) {
  std::string framed;
  ASSERT_EQ(Compress(HFileCompression::kZstd, "abcdef", &framed),
            absl::OkStatus());
  const auto bytes = Decompress(HFileCompression::kZstd, framed.substr(8), 6);
  EXPECT_EQ(*bytes, "abcdef");
}

TEST(Compression, NamesTheCodecThatIsNotHere) {
  const auto status =
      Decompress(HFileCompression::kLzo, "12345678", 100).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("LZO"), absl::string_view::npos);
}

TEST(CellKey, HasTheBytesOfHBase) {
  std::string bytes;
  AppendCellKey(RowColKey("default", "d"), &bytes);
  EXPECT_EQ(absl::BytesToHexString(bytes),
            "000764656661756c7400647fffffffffffffffff");
}

TEST(CellKey, OrdersRowsBeforeTheirLengths) {
  const auto order = [](const CellKey& a, const CellKey& b) {
    return CompareCellKeys(RowOrder::kBytes, a, b);
  };
  EXPECT_LT(order(RowColKey("aa", ""), RowColKey("b", "")), 0);
  EXPECT_LT(order(RowColKey("a", "z"), RowColKey("aa", "a")), 0);
  CellKey of_family_a = RowColKey("a", "z");
  of_family_a.family = "a";
  CellKey of_family_b = RowColKey("a", "a");
  of_family_b.family = "b";
  EXPECT_LT(order(of_family_a, of_family_b), 0);
  EXPECT_GT(order(of_family_b, of_family_a), 0);
  CellKey newer = RowColKey("a", "q");
  CellKey older = newer;
  older.timestamp = 5;
  EXPECT_LT(order(newer, older), 0);
  CellKey put = older;
  put.type = 4;
  EXPECT_LT(order(older, put), 0);
  CellKey last = {"a", "", "", 0, kTypeMinimum};
  EXPECT_GT(order(last, put), 0);
  EXPECT_EQ(order(last, last), 0);
}

TEST(CellKey, MetaRowsAreOrderedByTableStartAndId) {
  const auto order = [](const char* a, const char* b) {
    return CompareRows(RowOrder::kMeta, a, b);
  };
  EXPECT_LT(order("t,y,1", "t!x,a,1"), 0);  // Bytewise it is reversed.
  EXPECT_LT(order("t,,1", "t,a,1"), 0);
  EXPECT_LT(order("t,a,1", "t,a,2"), 0);
  EXPECT_LT(order("t,a,b,9", "t,a,c,1"), 0);  // A comma in the start row.
  EXPECT_LT(order("t", "t,a,1"), 0);
  EXPECT_LT(order("t,a", "t,a,1"), 0);
  EXPECT_EQ(order("t,a,1", "t,a,1"), 0);
}

}  // namespace
}  // namespace rowbloom::hfile
