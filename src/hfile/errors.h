// SPDX-License-Identifier: Apache-2.0
//
// Errors that name the file and the offset.

#ifndef ROWBLOOM_HFILE_ERRORS_H_
#define ROWBLOOM_HFILE_ERRORS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/absl_view.h"
#include "rowbloom/io.h"

namespace rowbloom::hfile {

inline absl::Status Annotate(const RandomAccessSource& source, uint64_t offset,
                             const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(base::AbslView(source.name()), ": offset ",
                                   offset, ": ", status.message()));
}

inline absl::Status DataLossAt(const RandomAccessSource& source,
                               uint64_t offset, std::string_view what) {
  return Annotate(source, offset, absl::DataLossError(base::AbslView(what)));
}

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_ERRORS_H_
