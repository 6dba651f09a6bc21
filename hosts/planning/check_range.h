// SPDX-License-Identifier: Apache-2.0
//
// The limits of the numbers in options and counts.

#ifndef ROWBLOOM_PLANNING_CHECK_RANGE_H_
#define ROWBLOOM_PLANNING_CHECK_RANGE_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace rowbloom::planning {

// Written so that NaN fails, too.
inline absl::Status CheckRange(const char* name, double value, double least,
                               double most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " ", value, " is not within ", least, " to ", most));
}

}  // namespace rowbloom::planning

#endif  // ROWBLOOM_PLANNING_CHECK_RANGE_H_
