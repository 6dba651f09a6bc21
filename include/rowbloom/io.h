// SPDX-License-Identifier: Apache-2.0
//
// The two interfaces that an engine implements: a source that reads bytes and a
// sink that takes them. Adapters for memory and for files are here too.
//
//   auto source = OpenFileSource("000012.filter");
//   if (!source.ok()) return source.status();
//   auto reader = FilterReader::Open(source->get(), {}, reader_options);
//
// Their methods return a Status and must not throw: an exception that leaves
// one ends the process (std::terminate), as does unwinding one to cancel its
// thread or coroutine. Any error code will do: the strict calls (Open, Verify,
// Finish) pass it on, a lookup answers "maybe" and counts it.
//
// Blocking calls: FilterReader's Open(), Verify() and MayContain() call Read()
// or ReadMany() in the calling thread and wait for it, and for nothing else. No
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
  char* scratch = nullptr;  // size_bytes long.
  // Set by ReadMany(), as by Read(): in its own scratch or in place, never in
  // the scratch of another read, which may be gone first.
  std::string_view result;
  absl::Status status;
};

// Bytes that do not change while the source lives: an SST, or a separate file.
// Any number of threads may call its methods at once. The bytes it returns are
// checked, not trusted: wrong bytes cost filtering, never a row.
class RandomAccessSource {
 public:
  virtual ~RandomAccessSource() = default;

  // Reads exactly `size_bytes` at `offset` (any; nothing is aligned), into
  // `scratch` (of that size) or in place; *result views either, and bytes in
  // place live as long as the source. A short read is an error (OutOfRange);
  // the source itself repeats an interrupted one.
  //
  // A source over mapped files answers in place. A chunk is still copied when
  // it is loaded: the kernel may drop a mapped page and read it again, damaged
  // and unchecked, and a lookup would wait for that read.
  virtual absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                            std::string_view* result) const = 0;
  // Makes many reads; the default makes one after the other. Override it if the
  // source can have several under way at once, by io_uring, a thread pool or
  // requests to an object store: a batch then waits only as long as for one.
  virtual void ReadMany(absl::Span<SourceRead> reads) const {
    for (SourceRead& read : reads) {
      read.status = read.source->Read(read.offset, read.size_bytes,
                                      read.scratch, &read.result);
    }
  }
  // A batch over many files passes the reads of all sources of the same group
  // to ReadMany() of one of them. nullptr: this source is a group of its own.
  virtual const void* read_group() const { return nullptr; }
  virtual uint64_t size_bytes() const = 0;  // Never changes.
  // A name for messages, usually a path. Lives as long as the source.
  virtual std::string_view name() const = 0;
};

// Appends bytes; a filter block may begin anywhere in a file. Belongs to one
// thread. Append() takes all bytes, or returns an error and then appends
// nothing more.
class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // `bytes` need not outlive the call.
  virtual absl::Status Append(std::string_view bytes) = 0;
};

// Memory. The bytes must outlive the source; *out, which must not be null
// (checked), must outlive the sink.
std::unique_ptr<RandomAccessSource> NewMemorySource(
    std::string_view bytes ABSL_ATTRIBUTE_LIFETIME_BOUND,
    std::string_view name = "memory");
std::unique_ptr<ByteSink> NewStringSink(std::string* out);

// Errors of files carry path, offset and size, and errno's text. A source is a
// regular file that does not change while it is open.
absl::StatusOr<std::unique_ptr<RandomAccessSource>> OpenFileSource(
    const std::string& path);

// Calls match  Append* SyncAndClose . The first error stays: every later call
// returns it.
class FileSink : public ByteSink {
 public:
  // Syncs the file (fsync), not its directory. Destroying an open sink only
  // closes it, and reports no error.
  virtual absl::Status SyncAndClose() = 0;
};
// Creates the file, or truncates it.
absl::StatusOr<std::unique_ptr<FileSink>> OpenFileSink(const std::string& path);

}  // namespace rowbloom

#endif  // ROWBLOOM_IO_H_
