// SPDX-License-Identifier: Apache-2.0

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rowbloom/io.h"
#include "util/absl_view.h"

namespace rowbloom {
namespace {

static_assert(sizeof(off_t) == 8, "build with _FILE_OFFSET_BITS=64");

// Repeats a system call that a signal interrupted.
template <typename Call>
auto Retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

class FileSource : public RandomAccessSource {
 public:
  FileSource(int fd, uint64_t size_bytes, const std::string& path)
      : fd_(fd), size_bytes_(size_bytes), path_(path) {}
  ~FileSource() override { close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    if (offset > size_bytes_ || size_bytes > size_bytes_ - offset) {
      return PastEnd(offset, size_bytes, size_bytes_);
    }
    size_t done = 0;
    while (done < size_bytes) {
      const ssize_t got = Retry([&] {
        return pread(fd_, scratch + done, size_bytes - done,
                     static_cast<off_t>(offset + done));
      });
      if (got < 0) {
        return absl::ErrnoToStatus(errno, ReadOf(offset, size_bytes));
      }
      // The file is shorter than when it was opened.
      if (got == 0) return PastEnd(offset, size_bytes, offset + done);
      done += static_cast<size_t>(got);
    }
    *result = std::string_view(scratch, size_bytes);
    return absl::OkStatus();
  }
  uint64_t size_bytes() const override { return size_bytes_; }
  std::string_view name() const override { return path_; }

 private:
  std::string ReadOf(uint64_t offset, size_t size_bytes) const {
    return absl::StrCat(path_, ": read of ", size_bytes, " bytes at offset ",
                        offset);
  }
  absl::Status PastEnd(uint64_t offset, size_t size_bytes, uint64_t end) const {
    return absl::OutOfRangeError(
        absl::StrCat(ReadOf(offset, size_bytes), " passes the end at ", end));
  }

  const int fd_;
  const uint64_t size_bytes_;
  const std::string path_;
};

// Unbuffered, since callers append whole chunks. The first error is kept, so
// that a file with a hole in it cannot be synced as a good one.
class PosixFileSink : public FileSink {
 public:
  PosixFileSink(int fd, const std::string& path) : fd_(fd), path_(path) {}
  ~PosixFileSink() override {
    if (fd_ >= 0) close(fd_);
  }
  PosixFileSink(const PosixFileSink&) = delete;
  PosixFileSink& operator=(const PosixFileSink&) = delete;

  absl::Status Append(std::string_view bytes) override {
    if (!status_.ok()) return status_;
    if (fd_ < 0) return Closed("Append");
    while (!bytes.empty()) {
      const ssize_t put =
          Retry([&] { return write(fd_, bytes.data(), bytes.size()); });
      if (put < 0) {
        status_ = absl::ErrnoToStatus(
            errno, absl::StrCat(path_, ": write of ", bytes.size(),
                                " bytes at offset ", offset_));
        return status_;
      }
      bytes.remove_prefix(static_cast<size_t>(put));
      offset_ += static_cast<uint64_t>(put);
    }
    return absl::OkStatus();
  }

  absl::Status SyncAndClose() override {
    if (fd_ < 0) return status_.ok() ? Closed("SyncAndClose") : status_;
    if (status_.ok() && Retry([&] { return fsync(fd_); }) < 0) {
      status_ = absl::ErrnoToStatus(errno, absl::StrCat(path_, ": fsync"));
    }
    // close() is not repeated: after EINTR the descriptor is gone, and the
    // bytes are already synced.
    if (close(std::exchange(fd_, -1)) < 0 && errno != EINTR && status_.ok()) {
      status_ = absl::ErrnoToStatus(errno, absl::StrCat(path_, ": close"));
    }
    return status_;
  }

 private:
  // Keeps and returns the error of a call that came after SyncAndClose().
  absl::Status Closed(std::string_view call) {
    status_ = absl::FailedPreconditionError(
        absl::StrCat(path_, ": ", util::AbslView(call),
                     "() was called after the file was closed"));
    return status_;
  }

  int fd_;  // -1 once it is closed.
  uint64_t offset_ = 0;
  absl::Status status_;
  const std::string path_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RandomAccessSource>> OpenFileSource(
    const std::string& path) {
  // O_NONBLOCK: a FIFO is refused below, not waited for.
  const int fd = Retry(
      [&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); });
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": open for reading"));
  }
  struct stat info;
  absl::Status status;
  if (fstat(fd, &info) < 0) {
    status = absl::ErrnoToStatus(errno, absl::StrCat(path, ": fstat"));
  } else if (!S_ISREG(info.st_mode)) {
    status = absl::FailedPreconditionError(
        absl::StrCat(path, ": not a regular file"));
  }
  if (!status.ok()) {
    close(fd);
    return status;
  }
  return std::make_unique<FileSource>(fd, static_cast<uint64_t>(info.st_size),
                                      path);
}

absl::StatusOr<std::unique_ptr<FileSink>> OpenFileSink(
    const std::string& path) {
  const int fd = Retry([&] {
    return open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  });
  if (fd < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": open for writing"));
  }
  return std::make_unique<PosixFileSink>(fd, path);
}

}  // namespace rowbloom
