// SPDX-License-Identifier: Apache-2.0
//
// The common beginning of two keys.
//
//   key.substr(0, CommonSize(key, last));

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_POLICY_COMMON_SIZE_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_POLICY_COMMON_SIZE_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace rowbloom::plugin {

// True if both go on with the same `kSize` bytes behind the first `at`.
template <size_t kSize>
bool GoOnAlike(std::string_view a, std::string_view b, size_t at,
               size_t limit) {
  return limit - at >= kSize &&
         std::memcmp(a.data() + at, b.data() + at, kSize) == 0;
}

// The number of bytes that both begin with.
inline size_t CommonSize(std::string_view a, std::string_view b) {
  const size_t limit = std::min(a.size(), b.size());
  size_t at = 0;
  while (GoOnAlike<8>(a, b, at, limit)) at += 8;
  if (GoOnAlike<4>(a, b, at, limit)) at += 4;
  if (GoOnAlike<2>(a, b, at, limit)) at += 2;
  if (GoOnAlike<1>(a, b, at, limit)) at += 1;
  return at;
}

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_POLICY_COMMON_SIZE_H_
