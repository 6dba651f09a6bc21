// SPDX-License-Identifier: Apache-2.0
//
// The two things an engine provides: where bytes are read from, and where
// they are written to. Adapters for memory and for POSIX files are here too.
//
//   auto source = OpenFileSource("000012.filter");
//   if (!source.ok()) return source.status();
//   auto reader = FilterReader::Open(source->get(), {}, reader_options);
//
// A method of either returns a Status and never throws: the library is built
// without exceptions, so one that passes through it ends the process. Any
// error code will do: the strict calls (Open, Verify, Finish) pass it on, a
// lookup answers "maybe" and counts it.
//
// What blocks: FilterReader's Open(), Verify() and MayContain() call Read() or
// ReadMany() in the calling thread and wait for it, and for nothing else: no
// lookup waits for a read that another thread or coroutine has begun, so Read()
// may suspend the calling coroutine. FilterReader::Ask() and Offer() never
// read.

#ifndef ROWBLOOM_IO_H_
#define ROWBLOOM_IO_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rowbloom/export.h"

namespace ROWBLOOM_EXPORT rowbloom {

class RandomAccessSource;

// One of the reads of RandomAccessSource::ReadMany().
struct SourceRead {
  const RandomAccessSource* source = nullptr;
  uint64_t offset = 0;
  size_t size_bytes = 0;
  char* scratch = nullptr;  // Of size_bytes.
  // Set by ReadMany(), as by Read().
  std::string_view result;
  absl::Status status;
};

// Bytes that do not change while the source lives: an SST, or a file of its
// own. Any number of threads may be in its methods at once. What it returns is
// checked, not trusted: wrong bytes cost filtering, never a row.
class RandomAccessSource {
 public:
  virtual ~RandomAccessSource() = default;

  // Reads exactly `size_bytes` at `offset` (any; nothing is aligned), into
  // `scratch` (of that size) or in place; *result views either, and bytes in
  // place live as long as the source. A short read is an error (OutOfRange);
  // one that was interrupted is the source's to repeat.
  //
  // A source over mapped files answers in place. A chunk is still copied when
  // it is loaded: the kernel may drop a mapped page and read it again, damaged
  // and unchecked, and a lookup would wait for that read.
  virtual absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                            std::string_view* result) const = 0;
  // Makes many reads; the default makes one after the other. Override it if
  // the source can have several under way at once, by io_uring, a thread pool
  // or requests to an object store: a batch then waits for one of them only.
  virtual void ReadMany(absl::Span<SourceRead> reads) const {
    for (SourceRead& read : reads) {
      read.status = read.source->Read(read.offset, read.size_bytes,
                                      read.scratch, &read.result);
    }
  }
  // A batch over many files gives the reads of all sources with the same group
  // to ReadMany() of one of them. nullptr: those of this source alone.
  virtual const void* read_group() const { return nullptr; }
  virtual uint64_t size_bytes() const = 0;  // Always the same.
  // For messages: a path, usually. Lives as long as the source.
  virtual std::string_view name() const = 0;
};

// Takes bytes one behind the other; the first of a filter block may lie
// anywhere in a file. Belongs to one thread. All bytes are taken, or an error
// is returned, and then nothing more is appended.
class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // `bytes` are the caller's again when it returns.
  virtual absl::Status Append(std::string_view bytes) = 0;
};

// Memory. The bytes must outlive the source; `sink` the string sink.
std::unique_ptr<RandomAccessSource> NewMemorySource(
    std::string_view bytes ABSL_ATTRIBUTE_LIFETIME_BOUND,
    std::string_view name = "memory");
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
