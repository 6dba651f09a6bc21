// SPDX-License-Identifier: Apache-2.0
//
// Tests small files that stand for much larger ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "hfile/block_index.h"
#include "hfile/file_info.h"
#include "hosts/hfile/test_hfile.h"
#include "util/coding.h"

namespace rowbloom {
namespace {

using testing::EditHFile;
using ::testing::HasSubstr;
using testing::LoadedBlock;
using testing::OpenHFile;
using testing::Put;
using testing::WriteHFile;

// A file of ZSTD blocks that need not be consistent with each other.
class FileOfBlocks {
 public:
  FileOfBlocks() {
    trailer_.comparator = "org.apache.hadoop.hbase.KeyValue$KVComparator";
    trailer_.compression = static_cast<uint64_t>(HFileCompression::kZstd);
  }
  hfile::Trailer* trailer() { return &trailer_; }

  hfile::IndexEntry Add(std::string_view magic, std::string_view payload) {
    const std::string block = *hfile::SerializeBlock(
        {HFileCompression::kZstd, HFileChecksum::kNull, 16384}, magic, -1,
        payload);
    const uint64_t offset = bytes_.size();
    bytes_ += block;
    return {offset, static_cast<uint32_t>(block.size()), ""};
  }
  void BeginLoadedBlocks() { trailer_.load_on_open_offset = bytes_.size(); }
  // Overwrites the uncompressed size in the header of the block added last.
  void StateUncompressedSize(const hfile::IndexEntry& block, uint32_t size) {
    std::string bytes;
    util::AppendBigEndian(size, &bytes);
    bytes_.replace(block.offset + 12, bytes.size(), bytes);
  }
  std::string Finish() {
    trailer_.file_info_offset =
        Add(hfile::kFileInfoMagic, hfile::SerializeFileInfo({})).offset;
    trailer_.offset = bytes_.size();
    return bytes_ + hfile::SerializeTrailer(trailer_);
  }

 private:
  std::string bytes_;
  hfile::Trailer trailer_;
};

// Returns an index block below the root: one entry with a key of zeros.
std::string InnerIndex(const hfile::IndexEntry& entry, size_t key_size) {
  std::string payload;
  util::AppendBigEndian(uint32_t{1}, &payload);
  util::AppendBigEndian(uint32_t{0}, &payload);
  util::AppendBigEndian(static_cast<uint32_t>(12 + key_size), &payload);
  util::AppendBigEndian(entry.offset, &payload);
  util::AppendBigEndian(entry.size, &payload);
  return payload + std::string(key_size, '\0');
}

TEST(HFileSizeLimits, WhatIsLoadedAtOpenCountsAsItIsDecompressed) {
  FileOfBlocks file;
  file.StateUncompressedSize(file.Add(hfile::kRootIndexMagic, "data"),
                             200 << 20);
  file.StateUncompressedSize(file.Add(hfile::kRootIndexMagic, "meta"),
                             100 << 20);
  const OpenHFile open(file.Finish());
  EXPECT_EQ(open.reader.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(open.reader.status().message()),
              HasSubstr("decompressed"));
}

TEST(HFileSizeLimits, NoMoreMetaBlocksAreNamedThanThereIsRoomFor) {
  const OpenHFile file(EditHFile(
      WriteHFile({}, {}),
      [](std::vector<LoadedBlock>* blocks) {
        hfile::AppendRootIndexEntry({0, 33, "name"}, &blocks->at(1).payload);
      },
      [](hfile::Trailer* trailer) { trailer->meta_index_count = 1; }));
  EXPECT_TRUE(file->properties().meta_blocks.empty());
  EXPECT_EQ(file->properties().meta_blocks_error.code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(file->Verify(false).code(), absl::StatusCode::kDataLoss);
}

TEST(HFileSizeLimits, FileInfoHasNoMillionsOfEntries) {
  std::string few;
  util::AppendBigEndian(uint32_t{1 << 20}, &few);
  std::string many;
  util::AppendBigEndian(uint32_t{(1 << 20) + 1}, &many);
  // All entries have the same empty name.
  const std::string entries(((1 << 20) + 1) * 3, '\0');
  EXPECT_TRUE(
      hfile::ParseFileInfo(few + entries.substr(0, entries.size() - 3)).ok());
  EXPECT_EQ(hfile::ParseFileInfo(many + entries).status().code(),
            absl::StatusCode::kDataLoss);
  hfile::FileInfo info;
  for (int i = 0; i <= 1 << 20; ++i) info[std::to_string(i)] = "";
  EXPECT_EQ(
      hfile::ParseFileInfo(hfile::SerializeFileInfo(info)).status().code(),
      absl::StatusCode::kDataLoss);
}

TEST(HFileSizeLimits, LevelsOfTheIndexCountTogether) {
  constexpr size_t kKeySize = 90 << 20;
  FileOfBlocks file;
  hfile::IndexEntry below =
      file.Add(hfile::kLeafIndexMagic, InnerIndex({0, 0, ""}, kKeySize));
  for (int level = 0; level < 2; ++level) {
    below =
        file.Add(hfile::kIntermediateIndexMagic, InnerIndex(below, kKeySize));
  }
  file.BeginLoadedBlocks();
  std::string root;
  hfile::AppendRootIndexEntry(below, &root);
  file.Add(hfile::kRootIndexMagic, root);
  file.Add(hfile::kRootIndexMagic, "");
  file.trailer()->data_index_count = 1;
  file.trailer()->data_index_levels = 4;
  const OpenHFile open(file.Finish());
  const absl::Status status = open->Verify(false);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("together"));
}

TEST(HFileSizeLimits, KeysThatVerifyKeepsCountTogether) {
  HFileWriterOptions options;
  options.compression = HFileCompression::kZstd;
  const std::string qualifier(16 << 20, 'q');
  const auto verify = [&](const std::vector<HFileCell>& cells) {
    const OpenHFile file(WriteHFile(options, cells));
    EXPECT_LT(file.bytes.size(), 50000);
    return file->Verify(false).code();
  };
  const HFileCell a = Put("a", qualifier);
  const HFileCell b = Put("b", qualifier);
  EXPECT_EQ(verify({a, b}), absl::StatusCode::kOk);
  EXPECT_EQ(verify({a, b, Put("c", qualifier)}),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace rowbloom
