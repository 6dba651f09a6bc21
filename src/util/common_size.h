// SPDX-License-Identifier: Apache-2.0
//
// The number of first bytes that two strings have in common.

#ifndef ROWBLOOM_UTIL_COMMON_SIZE_H_
#define ROWBLOOM_UTIL_COMMON_SIZE_H_

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace rowbloom::util {

inline size_t CommonSize(std::string_view a, std::string_view b) {
  const auto size = static_cast<std::ptrdiff_t>(std::min(a.size(), b.size()));
  const auto ends = std::mismatch(a.begin(), a.begin() + size, b.begin());
  return static_cast<size_t>(ends.first - a.begin());
}

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_COMMON_SIZE_H_
