// SPDX-License-Identifier: Apache-2.0
//
// The condition of a union.

#ifndef ROWBLOOM_MEMFILTER_SAME_OPTIONS_H_
#define ROWBLOOM_MEMFILTER_SAME_OPTIONS_H_

#include "absl/status/status.h"

namespace rowbloom::memfilter {

template <typename Options>
absl::Status CheckSameOptions(const Options& ours, const Options& theirs) {
  if (ours == theirs) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "union of filters of different shapes or options");
}

}  // namespace rowbloom::memfilter

#endif  // ROWBLOOM_MEMFILTER_SAME_OPTIONS_H_
