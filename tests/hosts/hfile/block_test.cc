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

}  // namespace
}  // namespace rowbloom::hfile
