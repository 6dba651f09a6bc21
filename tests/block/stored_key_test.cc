// SPDX-License-Identifier: Apache-2.0

#include <string>
#include <string_view>

#include "block/chunk_index.h"
#include "gtest/gtest.h"

namespace rowbloom::block {
namespace {

TEST(StoredKey, IsReadIfItsKindIsKnown) {
  for (int kind = 0; kind < 256; ++kind) {
    const std::string bytes = {static_cast<char>(kind), 1, 'r', 1, 'q'};
    std::string_view in = bytes;
    StoredKey key;
    EXPECT_EQ(ReadKey(&in, &key), kind == 1 || kind == 2) << kind;
    EXPECT_EQ(key.row, kind == 1 || kind == 2 ? "r" : "");
    EXPECT_EQ(key.qualifier, kind == 2 ? "q" : "");
  }
}

}  // namespace
}  // namespace rowbloom::block
