// SPDX-License-Identifier: Apache-2.0
//
// Tests how data blocks that HBase wrote are decoded once they are damaged.
// hbase_reads_test.cc checks the cells of undamaged ones.

#include "hfile/cell_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hfile/block.h"
#include "hfile/file_info.h"
#include "hosts/hfile/test_data.h"
#include "hosts/hfile/test_hfile.h"
#include "testing/keys.h"

namespace rowbloom::hfile {
namespace {

class CellDecoderTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(
    All, CellDecoderTest,
    ::testing::Values("row_deletes", "row_tags", "row_prefix",
                      "row_tags_prefix", "row_diff", "row_tags_diff",
                      "row_fast_diff", "row_tags_fast_diff", "row_row_index_v1",
                      "row_tags_row_index_v1"),
    [](const auto& param) { return std::string(param.param); });

// Decodes all cells of a block.
absl::Status Decode(const DataLayout& layout, std::string_view magic,
                    std::string_view payload) {
  CellDecoder decoder(layout);
  absl::Status status = decoder.Start(magic, payload);
  HFileCell cell;
  while (status.ok() && !decoder.AtEnd()) status = decoder.Next(&cell);
  return status;
}

TEST_P(CellDecoderTest, DamageIsAnErrorOrOtherCells) {
  const testing::OpenHFile file(testing::ReadFile(
      testing::HFileData("hbase_2.6/" + std::string(GetParam()) + ".hfile")));
  const FileInfo& info = file->properties().file_info;
  const DataLayout layout = {
      FindInfo(info, kMaxTagsLenName) != nullptr,
      FindNumber<int32_t>(info, kKeyValueVersionName) == 1,
      FindNumber<uint8_t>(info, kTagsCompressedName).value_or(0) != 0};
  BlockFormat format;
  format.source = file.source.get();
  format.compression = file->properties().compression;
  format.end = file.bytes.size();
  const auto block = ReadBlock(format, 0, "", 0);
  const std::string& payload = block->payload;
  ASSERT_EQ(Decode(layout, block->header.magic, payload), absl::OkStatus());
  testing::Random random(6);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = payload.substr(0, random.Below(payload.size() + 1));
    if (round % 2 == 0) {
      damaged = payload;
      damaged[random.Below(damaged.size())] = static_cast<char>(random());
    }
    // The memory has exactly this size, so that a sanitizer sees reads beyond
    // it.
    const std::vector<char> exact(damaged.begin(), damaged.end());
    (void)Decode(layout, block->header.magic,
                 std::string_view(exact.data(), exact.size()));
  }
}

// A block of one cell, "r", "cf", "q", whose DIFF flags are `flags`.
std::string DiffBlock(char flags) {
  const std::string_view front(
      "\0\3"
      "\0\0\0\0"
      "\2cf",
      9);
  // Sizes of key and value, bytes in common, row, qualifier, timestamp, type.
  const std::string_view cell(
      "\20\1\0"
      "\0\1r"
      "q"
      "\5"
      "\4"
      "v",
      10);
  return std::string(front) + flags + std::string(cell);
}

TEST(CellDecoder, TheFirstCellOfADiffBlockRefersToNoOther) {
  EXPECT_EQ(Decode({}, kEncodedDataMagic, DiffBlock(0)), absl::OkStatus());
  for (const char flags : {4, 8, 12}) {  // The type, the timestamp, both.
    EXPECT_EQ(Decode({}, kEncodedDataMagic, DiffBlock(flags)).code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(CellDecoder, ARowIndexIsOfTheSizeThatItSays) {
  // `sizes` are the number of rows and the size of all cells.
  const auto start = [](std::string_view sizes) {
    CellDecoder decoder({});
    return decoder
        .Start(kEncodedDataMagic, std::string("\0\7", 2) + std::string(sizes))
        .code();
  };
  EXPECT_EQ(start(std::string_view("\0\0\0\0\0\0\0\0", 8)),
            absl::StatusCode::kOk);
  EXPECT_EQ(start(std::string_view("\0\0\0\1\0\0\0\0", 8)),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(start(std::string_view("\0\0\0\0\0\0\0\1", 8)),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(start(std::string_view("\0\0\0", 3)), absl::StatusCode::kDataLoss);
}

TEST(CellDecoder, NamesAnEncodingThatItDoesNotKnow) {
  const absl::Status status =
      Decode({}, kEncodedDataMagic, std::string_view("\0\6", 2));
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(status.message().find("encoding 6"), absl::string_view::npos);
}

TEST(TagDictionary, TheTagUsedLongestAgoMakesRoom) {
  TagDictionary dictionary;
  const auto tag = [](size_t i) { return "tag" + std::to_string(i); };
  for (size_t i = 0; i < TagDictionary::kCapacity; ++i) dictionary.Add(tag(i));
  EXPECT_EQ(*dictionary.Find(0), tag(0));
  dictionary.Add("new");
  EXPECT_EQ(*dictionary.Find(0), tag(0));
  EXPECT_EQ(*dictionary.Find(1), "new");
  EXPECT_EQ(dictionary.Find(TagDictionary::kCapacity), nullptr);
}

}  // namespace
}  // namespace rowbloom::hfile
