// SPDX-License-Identifier: Apache-2.0

#include "policy/filter_info.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::plugin {
namespace {

using std::string_view_literals::operator""sv;

std::string BlobOf(std::string_view entry, std::string_view metadata) {
  const std::unique_ptr<FilterBuilder> builder = NewFilterBuilder(FilterSpec());
  builder->Add(DigestBytes(entry));
  return EncodeFilterBlob(builder->Finish(), metadata);
}

absl::StatusCode CodeFor(std::string_view metadata) {
  return ParseRocksDbFilter(BlobOf("x", metadata)).status().code();
}

TEST(FilterInfo, MetadataHasTheDocumentedBytes) {
  EXPECT_EQ(EncodeMetadata(BloomType::kRowCol, KeyCodec::Ordered()),
            "\1\3\1\0\0\0\0\0"sv);
  EXPECT_EQ(EncodeMetadata(BloomType::kRow, KeyCodec::FixedRow(0x010203)),
            "\1\2\2\0\3\2\1\0"sv);
  EXPECT_EQ(EncodeMetadata(BloomType::kRow, KeyCodec::Delimiter('|')),
            "\1\2\3\0|\0\0\0"sv);
  EXPECT_EQ(EncodeMetadata(BloomType::kRow, KeyCodec::WholeKey()),
            "\1\2\5\0\0\0\0\0"sv);
}

TEST(FilterInfo, ReadsBackWhatWasWritten) {
  for (const KeyCodec& codec :
       {KeyCodec::Ordered(), KeyCodec::FixedRow(70000),
        KeyCodec::Delimiter('\xff'), KeyCodec::WholeKey()}) {
    for (BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
      const std::string blob = BlobOf("x", EncodeMetadata(type, codec));
      const auto info = ParseRocksDbFilter(blob);
      ASSERT_TRUE(info.ok()) << info.status();
      EXPECT_EQ(info->bloom_type, type);
      EXPECT_TRUE(info->key_codec == codec);
      EXPECT_EQ(info->blob.descriptor.key_count, 1);
    }
  }
}

TEST(FilterInfo, NewerMetadataIsUnimplemented) {
  EXPECT_EQ(CodeFor("\3\3\1\0\0\0\0\0"sv), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CodeFor("\xff"sv), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CodeFor("\2\3fixed:1,newer:1"sv), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CodeFor("\2\3rest,fixed:1"sv), absl::StatusCode::kUnimplemented);
}

TEST(FilterInfo, MalformedMetadataIsDataLoss) {
  for (std::string_view metadata :
       {""sv, "\0\3\1\0\0\0\0\0"sv, "\1\3\1\0\0\0\0"sv, "\1\3\1\0\0\0\0\0\0"sv,
        "\1\3\1\1\0\0\0\0"sv, "\1\1\1\0\0\0\0\0"sv, "\1\4\1\0\0\0\0\0"sv,
        "\1\3\0\0\0\0\0\0"sv, "\1\3\4\0\0\0\0\0"sv, "\1\3\1\0\1\0\0\0"sv,
        "\1\3\2\0\0\0\0\0"sv, "\1\3\3\0\0\1\0\0"sv, "\2"sv, "\2\3"sv,
        "\2\1ordered,rest"sv, "\2\4ordered,rest"sv}) {
    EXPECT_EQ(CodeFor(metadata), absl::StatusCode::kDataLoss);
  }
}

TEST(FilterInfo, ForeignBytesAreAnError) {
  EXPECT_FALSE(ParseRocksDbFilter("").ok());
  EXPECT_FALSE(ParseRocksDbFilter(std::string(100, '\0')).ok());
}

TEST(FilterInfo, MayContainAsksAsRocksDbWould) {
  const std::string blob = BlobOf(
      "row\0\1q\0"sv, EncodeMetadata(BloomType::kRowCol, KeyCodec::Ordered()));
  const auto info = ParseRocksDbFilter(blob);
  ASSERT_TRUE(info.ok());
  EXPECT_TRUE(RocksDbFilterMayContain(*info, "row\0\1q\0\1version"sv));
  EXPECT_FALSE(RocksDbFilterMayContain(*info, "row\0\1other\0\1version"sv));
  EXPECT_FALSE(RocksDbFilterMayContain(*info, "row\0\1"sv));
  EXPECT_TRUE(RocksDbFilterMayContain(RocksDbFilterInfo(), "anything"));
}

// A filter whose codec has no columns cannot deny what such an extractor makes
// of the bound of a scan.
TEST(FilterInfo, BoundsOfColumnsAreMaybeWhereAnExtractorMapsThem) {
  const std::string blob =
      BlobOf("row", EncodeMetadata(BloomType::kRow, KeyCodec::WholeKey()));
  const auto info = ParseRocksDbFilter(blob);
  ASSERT_TRUE(info.ok());
  const auto bound = "row\0\1qualifier\0"sv;
  EXPECT_FALSE(RocksDbFilterMayContain(*info, bound));
  RocksDbOptions columns;
  columns.key_codec = KeyCodec::Ordered();
  const auto extractor = NewRowPrefixExtractor(columns);
  EXPECT_TRUE(RocksDbFilterMayContain(*info, bound));
  EXPECT_FALSE(RocksDbFilterMayContain(*info, "row\0\1qualifier"sv));
}

}  // namespace
}  // namespace rowbloom::plugin
