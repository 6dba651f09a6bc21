// SPDX-License-Identifier: Apache-2.0
//
// Checks the options that readers pass on to their cache.

#ifndef ROWBLOOM_CACHE_FILE_ID_H_
#define ROWBLOOM_CACHE_FILE_ID_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rowbloom/filter_cache.h"

namespace rowbloom::internal::cache {

// NewFileId() returns ids from this one upwards.
constexpr uint64_t kFirstNewFileId = uint64_t{1} << 63;

// Checks an id that an engine gives.
inline absl::Status CheckFileId(uint64_t file_id) {
  if (file_id < kFirstNewFileId) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("file_id ", file_id, " is not below 2^63"));
}

inline absl::Status CheckPriority(FilterCachePriority priority) {
  if (priority == FilterCachePriority::kNormal ||
      priority == FilterCachePriority::kPinned) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("priority ", static_cast<int>(priority),
                   " is not a FilterCachePriority"));
}

}  // namespace rowbloom::internal::cache

#endif  // ROWBLOOM_CACHE_FILE_ID_H_
