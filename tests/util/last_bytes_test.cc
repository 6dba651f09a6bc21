// SPDX-License-Identifier: Apache-2.0

#include "util/last_bytes.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace rowbloom::util {
namespace {

int Sign(int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; }

TEST(LastBytes, AreNoneAtFirst) {
  const LastBytes last;
  EXPECT_EQ(last.view(), "");
  EXPECT_EQ(last.OrderOf(""), 0);
  EXPECT_GT(last.OrderOf("a"), 0);
}

TEST(LastBytes, CompareAndViewAsStringsDo) {
  std::mt19937_64 random(20261127);
  LastBytes last;
  std::string expected;
  for (int i = 0; i < 200000; ++i) {
    // It differs from the last one in few bytes, in its size, or not at all.
    std::string next = expected;
    next.resize(random() % 4 == 0 ? random() % 90 : next.size());
    for (auto changes = random() % 3; changes > 0 && !next.empty(); --changes) {
      next[random() % next.size()] = static_cast<char>(random());
    }
    ASSERT_EQ(Sign(last.OrderOf(next)), Sign(next.compare(expected)))
        << "sizes " << expected.size() << " and " << next.size();
    last.Assign(next);
    expected = next;
    ASSERT_EQ(last.view(), expected);
  }
}

}  // namespace
}  // namespace rowbloom::util
