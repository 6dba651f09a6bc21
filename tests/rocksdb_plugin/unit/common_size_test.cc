// SPDX-License-Identifier: Apache-2.0

#include "policy/common_size.h"

#include <string>

#include "gtest/gtest.h"

namespace rowbloom::plugin {
namespace {

TEST(CommonSize, IsThatOfTheLongestCommonBeginning) {
  for (size_t size = 0; size < 40; ++size) {
    const std::string key(size, 'k');
    for (size_t common = 0; common <= size; ++common) {
      EXPECT_EQ(CommonSize(key, key.substr(0, common)), common);
      EXPECT_EQ(CommonSize(key.substr(0, common), key), common);
      std::string other = key + "more";
      other[common] = 'x';
      EXPECT_EQ(CommonSize(key, other), common);
      EXPECT_EQ(CommonSize(other, key), common);
    }
  }
}

}  // namespace
}  // namespace rowbloom::plugin
