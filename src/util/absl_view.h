// SPDX-License-Identifier: Apache-2.0
//
// absl::string_view may be a type of its own (Debian's Abseil), which does
// not convert from std::string_view. This is the one bridge.

#ifndef ROWBLOOM_UTIL_ABSL_VIEW_H_
#define ROWBLOOM_UTIL_ABSL_VIEW_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace rowbloom::util {

inline absl::string_view AbslView(std::string_view view) {
  return absl::string_view(view.data(), view.size());
}

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_ABSL_VIEW_H_
