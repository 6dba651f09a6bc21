// SPDX-License-Identifier: Apache-2.0

#include "util/cache_line.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"

namespace rowbloom::util {
namespace {

TEST(CacheLineTest, BlocksOfAnySizeBeginOnOneAndDoNotOverlap) {
  std::vector<void*> blocks;
  for (size_t size = 0; size < 300; ++size) {
    blocks.push_back(NewOnCacheLine(size));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back()) % kCacheLineBytes, 0u);
    std::memset(blocks.back(), static_cast<int>(size % 251), size);
  }
  for (size_t size = 0; size < blocks.size(); ++size) {
    const auto* const bytes = static_cast<const unsigned char*>(blocks[size]);
    EXPECT_EQ(std::count(bytes, bytes + size, size % 251), size);
    DeleteOnCacheLine(blocks[size]);
  }
}

}  // namespace
}  // namespace rowbloom::util
