// SPDX-License-Identifier: Apache-2.0
//
// Which file ids engines may give, and which NewFileId() does.

#ifndef ROWBLOOM_CACHE_FILE_ID_H_
#define ROWBLOOM_CACHE_FILE_ID_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace rowbloom::cache {

// NewFileId() gives these and those above.
constexpr uint64_t kFirstNewFileId = uint64_t{1} << 63;

// Of an id that an engine gives.
inline absl::Status CheckFileId(uint64_t file_id) {
  if (file_id < kFirstNewFileId) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("file_id ", file_id, " is not below 2^63"));
}

}  // namespace rowbloom::cache

#endif  // ROWBLOOM_CACHE_FILE_ID_H_
