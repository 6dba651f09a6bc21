// SPDX-License-Identifier: Apache-2.0

#include "util/source_read.h"

#include "absl/strings/str_cat.h"
#include "util/absl_view.h"
#include "util/engine_call.h"

namespace rowbloom::util {

absl::Status StatusOf(const SourceRead& read) {
  if (!read.status.ok() || read.result.size() == read.size_bytes) {
    return read.status;
  }
  return absl::DataLossError(
      absl::StrCat(AbslView(EngineCall([&] { return read.source->name(); })),
                   ": offset ", read.offset, ": read ", read.result.size(),
                   " of ", read.size_bytes, " bytes"));
}

absl::Status ReadExactly(const RandomAccessSource& source, uint64_t offset,
                         size_t size_bytes, char* scratch,
                         std::string_view* result) {
  SourceRead read;
  read.source = &source;
  read.offset = offset;
  read.size_bytes = size_bytes;
  read.status = EngineCall(
      [&] { return source.Read(offset, size_bytes, scratch, &read.result); });
  *result = read.result;
  return StatusOf(read);
}

}  // namespace rowbloom::util
