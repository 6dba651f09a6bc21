// SPDX-License-Identifier: Apache-2.0
//
// The two things an engine provides: where bytes are read from, and where
// they are written to. Adapters for memory and for POSIX files are here too.
//
//   auto source = OpenFileSource("000012.filter");
//   if (!source.ok()) return source.status();
//   auto reader = FilterReader::Open(source->get(), {}, reader_options);
//
// Neither may throw: the library is built without exceptions. A source must
// allow Read() from any number of threads. A sink belongs to
// one thread.

#ifndef ROWBLOOM_IO_H_
#define ROWBLOOM_IO_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace rowbloom {

class RandomAccessSource {
 public:
  virtual ~RandomAccessSource() = default;

  // Reads exactly `size_bytes` at `offset`, into `scratch` (of that size) or
  // in place; *result views either. A short read is an error (OutOfRange).
  virtual absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                            std::string_view* result) const = 0;
  virtual uint64_t size_bytes() const = 0;
  // For messages: a path, usually.
  virtual std::string_view name() const = 0;
};

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  virtual absl::Status Append(std::string_view bytes) = 0;
};

// Memory. The bytes must outlive the source; `sink` the string sink.
std::unique_ptr<RandomAccessSource> NewMemorySource(
    std::string_view bytes, std::string_view name = "memory");
std::unique_ptr<ByteSink> NewStringSink(std::string* out);

// POSIX files. Errors carry path, offset and size, and errno's text. A source
// is a regular file that does not change while it is open.
absl::StatusOr<std::unique_ptr<RandomAccessSource>> OpenFileSource(
    const std::string& path);

// Calls match  Append* SyncAndClose . The first error stays: it is what every
// later call returns.
class FileSink : public ByteSink {
 public:
  // Syncs the file (fsync), not its directory. Destroying an open sink only
  // closes it, and tells no one what that met.
  virtual absl::Status SyncAndClose() = 0;
};
// Creates or truncates.
absl::StatusOr<std::unique_ptr<FileSink>> OpenFileSink(const std::string& path);

}  // namespace rowbloom

#endif  // ROWBLOOM_IO_H_
