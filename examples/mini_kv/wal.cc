// SPDX-License-Identifier: Apache-2.0

#include "wal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <string_view>

#include "coding.h"
#include "files.h"
#include "rowbloom/io.h"

namespace mini_kv {

absl::StatusOr<std::unique_ptr<Wal>> Wal::Open(
    const std::string& path, const std::function<void(const Cell&)>& replay) {
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(path + ": open");
  std::unique_ptr<Wal> wal(new Wal(fd, path));
  absl::Status status = wal->Replay(replay);
  if (!status.ok()) return status;
  return wal;
}

Wal::~Wal() { close(fd_); }

absl::Status Wal::Replay(const std::function<void(const Cell&)>& replay) {
  auto source = rowbloom::OpenFileSource(path_);
  if (!source.ok()) return source.status();
  std::string scratch((*source)->size_bytes(), '\0');
  std::string_view log;
  absl::Status status =
      (*source)->Read(0, scratch.size(), scratch.data(), &log);
  if (!status.ok()) return status;

  std::string_view rest = log;
  while (true) {
    size_bytes_ = log.size() - rest.size();
    uint32_t payload_size = 0;
    uint64_t checksum = 0;
    std::string_view payload;
    if (!TakeFixed(&rest, &payload_size) || !TakeFixed(&rest, &checksum) ||
        !TakeBytes(&rest, payload_size, &payload)) {
      break;  // Short: torn, or the end.
    }
    Cell cell;
    if (checksum != Checksum(payload, size_bytes_) ||
        !TakeCell(&payload, &cell) || !payload.empty()) {
      if (rest.empty()) break;
      return absl::DataLossError(path_ + ": damaged record at offset " +
                                 std::to_string(size_bytes_));
    }
    replay(cell);
  }
  cut_bytes_ = log.size() - size_bytes_;
  if (cut_bytes_ != 0 && ftruncate(fd_, static_cast<off_t>(size_bytes_)) < 0) {
    return ErrnoStatus(path_ + ": ftruncate");
  }
  return absl::OkStatus();
}

absl::Status Wal::Append(const Cell& cell) {
  if (!status_.ok()) return status_;
  std::string payload;
  AppendCell(cell, &payload);
  record_.clear();
  AppendFixed(static_cast<uint32_t>(payload.size()), &record_);
  AppendFixed(Checksum(payload, size_bytes_), &record_);
  record_ += payload;
  for (std::string_view rest = record_; !rest.empty();) {
    const ssize_t put = write(fd_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      status_ = ErrnoStatus(path_ + ": write");
      return status_;
    }
    rest.remove_prefix(static_cast<size_t>(put));
  }
  size_bytes_ += record_.size();
  return absl::OkStatus();
}

absl::Status Wal::Sync() {
  if (status_.ok() && fdatasync(fd_) < 0) {
    status_ = ErrnoStatus(path_ + ": fdatasync");
  }
  return status_;
}

}  // namespace mini_kv
