// SPDX-License-Identifier: Apache-2.0

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "coding.h"
#include "rowbloom/io.h"

namespace mini_kv {
namespace {

// Reads a record from the front of *log, which lies at `offset` of the file,
// and advances it. False if the record is not whole.
bool TakeRecord(uint64_t offset, std::string_view* log,
                std::string_view* payload) {
  const std::string_view record = *log;
  if (!TakeString(log, payload)) return false;
  const auto covered = record.substr(0, record.size() - log->size());
  uint64_t checksum = 0;
  return TakeFixed(log, &checksum) && checksum == Checksum(covered, offset);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Log>> Log::Open(const std::string& path,
                                               const Replay& replay) {
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, path + ": open");
  std::unique_ptr<Log> log(new Log(fd, path));
  const auto source = rowbloom::OpenFileSource(path);
  if (!source.ok()) return source.status();
  std::string scratch((*source)->size_bytes(), '\0');
  std::string_view bytes;
  absl::Status status =
      (*source)->Read(0, scratch.size(), scratch.data(), &bytes);
  if (!status.ok()) return status;

  std::string_view rest = bytes;
  std::string_view payload;
  while (TakeRecord(log->size_bytes_, &rest, &payload)) {
    status = replay(payload);
    if (!status.ok()) return status;
    log->size_bytes_ = bytes.size() - rest.size();
  }
  if (log->size_bytes_ == 0) {
    return absl::DataLossError(path + ": damaged first record");
  }
  if (ftruncate(fd, static_cast<off_t>(log->size_bytes_)) < 0) {
    return absl::ErrnoToStatus(errno, path + ": ftruncate");
  }
  return log;
}

absl::StatusOr<std::unique_ptr<Log>> Log::Create(const std::string& path,
                                                 std::string_view payload) {
  const int fd = open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return absl::ErrnoToStatus(errno, path + ": create");
  std::unique_ptr<Log> log(new Log(fd, path));
  absl::Status status = log->Append(payload);
  if (!status.ok()) return status;
  if (fsync(fd) < 0) return absl::ErrnoToStatus(errno, path + ": fsync");
  return log;
}

Log::~Log() { close(fd_); }

absl::Status Log::Append(std::string_view payload) {
  std::string record;
  AppendString(payload, &record);
  AppendChecksum(size_bytes_, &record);
  for (std::string_view rest = record; !rest.empty();) {
    const ssize_t written = write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return absl::ErrnoToStatus(errno, path_ + ": write");
    rest.remove_prefix(static_cast<size_t>(written));
  }
  size_bytes_ += record.size();
  return absl::OkStatus();
}

}  // namespace mini_kv
