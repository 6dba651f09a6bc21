// SPDX-License-Identifier: Apache-2.0
//
// Errors that name the file and the offset.

#ifndef ROWBLOOM_HFILE_ERRORS_H_
#define ROWBLOOM_HFILE_ERRORS_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "rowbloom/io.h"
#include "util/absl_view.h"
#include "util/engine_call.h"

namespace rowbloom::hfile {

inline std::string_view NameOf(const RandomAccessSource& source) {
  return util::EngineCall([&] { return source.name(); });
}

inline uint64_t SizeOf(const RandomAccessSource& source) {
  return util::EngineCall([&] { return source.size_bytes(); });
}

inline absl::Status Annotate(const RandomAccessSource& source, uint64_t offset,
                             const absl::Status& status) {
  if (status.ok()) return status;
  absl::Status annotated(
      status.code(), absl::StrCat(util::AbslView(NameOf(source)), ": offset ",
                                  offset, ": ", status.message()));
  status.ForEachPayload([&](absl::string_view type, const absl::Cord& payload) {
    annotated.SetPayload(type, payload);
  });
  return annotated;
}

// Their messages are the parts, as absl::StrCat() joins them.
template <typename... Parts>
absl::Status DataLoss(const Parts&... parts) {
  return absl::DataLossError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status Unimplemented(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}
// Marks Unimplemented errors for IsOlderThanSupported().
inline constexpr char kOlderPayload[] = "rowbloom/hfile/older";
template <typename... Parts>
absl::Status Older(const Parts&... parts) {
  absl::Status status = Unimplemented(parts...);
  status.SetPayload(kOlderPayload, absl::Cord());
  return status;
}
template <typename... Parts>
absl::Status InvalidArgument(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

template <typename... Parts>
absl::Status DataLossAt(const RandomAccessSource& source, uint64_t offset,
                        const Parts&... parts) {
  return Annotate(source, offset, DataLoss(parts...));
}
template <typename... Parts>
absl::Status UnimplementedAt(const RandomAccessSource& source, uint64_t offset,
                             const Parts&... parts) {
  return Annotate(source, offset, Unimplemented(parts...));
}

}  // namespace rowbloom::hfile

#endif  // ROWBLOOM_HFILE_ERRORS_H_
