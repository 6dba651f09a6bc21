// SPDX-License-Identifier: Apache-2.0
//
// Reads of a RandomAccessSource: one that returns fewer bytes than it was asked
// for has failed.

#ifndef ROWBLOOM_UTIL_SOURCE_READ_H_
#define ROWBLOOM_UTIL_SOURCE_READ_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "rowbloom/export.h"
#include "rowbloom/io.h"

namespace rowbloom::util {

// The source's own error, or DataLoss for a read that was cut short.
absl::Status StatusOf(const SourceRead& read);
// Reads exactly size_bytes or fails. Exported for rowbloom::hfile.
ROWBLOOM_EXPORT absl::Status ReadExactly(const RandomAccessSource& source,
                                         uint64_t offset, size_t size_bytes,
                                         char* scratch,
                                         std::string_view* result);

}  // namespace rowbloom::util

#endif  // ROWBLOOM_UTIL_SOURCE_READ_H_
