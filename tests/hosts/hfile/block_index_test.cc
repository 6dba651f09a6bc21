// SPDX-License-Identifier: Apache-2.0

#include "hfile/block_index.h"

#include <gtest/gtest.h>

#include <string>

namespace rowbloom::hfile {
namespace {

TEST(RootIndex, EndsWithItsEntriesOrAWholeMiddleKey) {
  std::string entry;
  AppendRootIndexEntry({100, 50, "key"}, &entry);
  for (size_t more = 0; more <= 32; ++more) {
    const std::string payload = entry + std::string(more, '\0');
    EXPECT_EQ(ParseRootIndex(payload, 1, false).ok(), more == 0) << more;
    EXPECT_EQ(ParseRootIndex(payload, 1, true).ok(), more == 0 || more == 16)
        << more;
  }
  const auto entries = ParseRootIndex(entry, 1, true);
  ASSERT_EQ(entries->size(), 1u);
  EXPECT_EQ(entries->front().offset, 100u);
  EXPECT_EQ(entries->front().size, 50u);
  EXPECT_EQ(entries->front().key, "key");
}

}  // namespace
}  // namespace rowbloom::hfile
