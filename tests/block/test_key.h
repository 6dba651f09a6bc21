// SPDX-License-Identifier: Apache-2.0
//
// A filter key that owns its bytes and defines its own order.

#ifndef ROWBLOOM_TESTS_BLOCK_TEST_KEY_H_
#define ROWBLOOM_TESTS_BLOCK_TEST_KEY_H_

#include <string>
#include <tuple>

#include "block/chunk_index.h"

namespace rowbloom::block {

struct TestKey {
  std::string row;
  bool has_qualifier = false;
  std::string qualifier;

  StoredKey stored() const { return {row, qualifier, has_qualifier}; }
  friend bool operator<(const TestKey& a, const TestKey& b) {
    return std::tie(a.row, a.has_qualifier, a.qualifier) <
           std::tie(b.row, b.has_qualifier, b.qualifier);
  }
};

}  // namespace rowbloom::block

#endif  // ROWBLOOM_TESTS_BLOCK_TEST_KEY_H_
