// SPDX-License-Identifier: Apache-2.0

#include "hfile/block.h"

#include <gtest/gtest.h>

#include <string>

namespace rowbloom::hfile {
namespace {

TEST(Block, EndsWhereBlocksEnd) {
  const std::string block = *SerializeBlock({}, kDataMagic, -1, "payload");
  const std::string file = block + std::string(100, 'x');
  const auto source = NewMemorySource(file);
  BlockFormat format;
  format.source = source.get();
  for (size_t end = 0; end <= block.size(); ++end) {
    format.end = end;
    EXPECT_EQ(ReadBlockHeader(format, 0).ok(), end == block.size()) << end;
    for (const uint64_t size : {uint64_t{0}, uint64_t{block.size()}}) {
      EXPECT_EQ(ReadBlock(format, 0, kDataMagic, size).ok(),
                end == block.size())
          << end;
    }
    EXPECT_EQ(ReadBlockHeader(format, end + 1).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

// HBase writes a cell of any size into one block.
TEST(Block, LargerThanIsReadIsNoDamageIfTheFileHasItsBytes) {
  const auto source = NewMemorySource("");
  BlockFormat format;
  format.source = source.get();
  format.end = uint64_t{1} << 30;
  const auto parse = [&](uint32_t size, uint32_t uncompressed_size) {
    std::string header = SerializeBlock({}, kDataMagic, -1, "")->substr(0, 33);
    const auto put = [&header](size_t at, uint32_t value) {
      for (int i = 0; i < 4; ++i) {
        header[at + i] = static_cast<char>(value >> (24 - 8 * i));
      }
    };
    put(8, size);
    put(12, uncompressed_size);
    return ParseBlockHeader(format, 0, header).status().code();
  };
  constexpr uint32_t kTooLarge = kMaxBlockSize + 1;
  EXPECT_EQ(parse(kTooLarge, kTooLarge), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(parse(1 << 20, kTooLarge), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(parse(1000, kTooLarge), absl::StatusCode::kDataLoss);
  EXPECT_EQ(parse(1 << 30, kTooLarge), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace rowbloom::hfile
