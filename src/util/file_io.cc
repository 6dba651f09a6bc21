// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "platform/platform.h"
#include "rowbloom/io.h"
#include "util/absl_view.h"

namespace rowbloom {
namespace {

class FileSource : public RandomAccessSource {
 public:
  FileSource(platform::File file, uint64_t size_bytes, const std::string& path)
      : file_(file), size_bytes_(size_bytes), path_(path) {}
  ~FileSource() override { platform::Close(file_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  absl::Status Read(uint64_t offset, size_t size_bytes, char* scratch,
                    std::string_view* result) const override {
    if (offset > size_bytes_ || size_bytes > size_bytes_ - offset) {
      return PastEnd(offset, size_bytes, size_bytes_);
    }
    size_t done = 0;
    while (done < size_bytes) {
      const int64_t got = platform::ReadAt(file_, offset + done, scratch + done,
                                           size_bytes - done);
      if (got < 0) return platform::LastError(ReadOf(offset, size_bytes));
      if (got == 0) return PastEnd(offset, size_bytes, EndNow(offset + done));
      done += static_cast<size_t>(got);
    }
    *result = std::string_view(scratch, size_bytes);
    return absl::OkStatus();
  }
  uint64_t size_bytes() const override { return size_bytes_; }
  std::string_view name() const override { return path_; }

 private:
  // The end of a file that is shorter than when it was opened, and has nothing
  // at `at`.
  uint64_t EndNow(uint64_t at) const {
    platform::FileInfo info;
    return platform::GetInfo(file_, &info) ? std::min(info.size_bytes, at) : at;
  }
  std::string ReadOf(uint64_t offset, size_t size_bytes) const {
    return absl::StrCat(path_, ": read of ", size_bytes, " bytes at offset ",
                        offset);
  }
  absl::Status PastEnd(uint64_t offset, size_t size_bytes, uint64_t end) const {
    return absl::OutOfRangeError(
        absl::StrCat(ReadOf(offset, size_bytes), " passes the end at ", end));
  }

  const platform::File file_;
  const uint64_t size_bytes_;
  const std::string path_;
};

// Unbuffered, since callers append whole chunks. The first error is kept, so
// that a file with a hole in it cannot be synced as a good one.
class UnbufferedFileSink : public FileSink {
 public:
  UnbufferedFileSink(platform::File file, const std::string& path)
      : file_(file), path_(path) {}
  ~UnbufferedFileSink() override {
    if (file_ != platform::kNoFile) platform::Close(file_);
  }
  UnbufferedFileSink(const UnbufferedFileSink&) = delete;
  UnbufferedFileSink& operator=(const UnbufferedFileSink&) = delete;

  absl::Status Append(std::string_view bytes) override {
    if (!status_.ok()) return status_;
    if (file_ == platform::kNoFile) return Closed("Append");
    while (!bytes.empty()) {
      const int64_t put = platform::Write(file_, bytes.data(), bytes.size());
      if (put < 0) {
        status_ = platform::LastError(absl::StrCat(
            path_, ": write of ", bytes.size(), " bytes at offset ", offset_));
        return status_;
      }
      bytes.remove_prefix(static_cast<size_t>(put));
      offset_ += static_cast<uint64_t>(put);
    }
    return absl::OkStatus();
  }

  absl::Status SyncAndClose() override {
    if (file_ == platform::kNoFile) {
      return status_.ok() ? Closed("SyncAndClose") : status_;
    }
    if (status_.ok() && !platform::Sync(file_)) {
      status_ = platform::LastError(absl::StrCat(path_, ": fsync"));
    }
    if (!platform::Close(std::exchange(file_, platform::kNoFile)) &&
        status_.ok()) {
      status_ = platform::LastError(absl::StrCat(path_, ": close"));
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

  platform::File file_;  // kNoFile once it is closed.
  uint64_t offset_ = 0;
  absl::Status status_;
  const std::string path_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<RandomAccessSource>> OpenFileSource(
    const std::string& path) {
  const platform::File file = platform::OpenToRead(path);
  if (file == platform::kNoFile) {
    return platform::LastError(absl::StrCat(path, ": open for reading"));
  }
  platform::FileInfo info;
  absl::Status status;
  if (!platform::GetInfo(file, &info)) {
    status = platform::LastError(absl::StrCat(path, ": fstat"));
  } else if (!info.is_regular) {
    status = absl::FailedPreconditionError(
        absl::StrCat(path, ": not a regular file"));
  }
  if (!status.ok()) {
    platform::Close(file);
    return status;
  }
  return std::make_unique<FileSource>(file, info.size_bytes, path);
}

absl::StatusOr<std::unique_ptr<FileSink>> OpenFileSink(
    const std::string& path) {
  const platform::File file = platform::OpenToWrite(path);
  if (file == platform::kNoFile) {
    return platform::LastError(absl::StrCat(path, ": open for writing"));
  }
  return std::make_unique<UnbufferedFileSink>(file, path);
}

}  // namespace rowbloom
