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
namespace {

constexpr size_t kHeaderSize = 4 + kChecksumSize;

enum class Found { kCell, kTornTail, kDamage };

// Reads a record from the front of *log, which lies at `offset` of the file,
// and advances it. An end without a record is a torn tail of no bytes.
Found TakeRecord(uint64_t offset, std::string_view* log, Cell* cell) {
  std::string_view size_field;
  std::string_view payload;
  uint32_t payload_size = 0;
  uint64_t checksum = 0;
  if (!TakeBytes(log, sizeof(payload_size), &size_field) ||
      !TakeFixed(log, &checksum)) {
    return Found::kTornTail;
  }
  // The bytes of a torn record are correct as far as they go, so a bad size is
  // damage.
  if (checksum != Checksum(size_field, offset) ||
      !TakeFixed(&size_field, &payload_size)) {
    return Found::kDamage;
  }
  if (!TakeBytes(log, payload_size, &payload) || !TakeFixed(log, &checksum)) {
    return Found::kTornTail;
  }
  if (checksum == Checksum(payload, offset + kHeaderSize) &&
      TakeCell(&payload, cell) && payload.empty()) {
    return Found::kCell;
  }
  return log->empty() ? Found::kTornTail : Found::kDamage;
}

}  // namespace

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
  Cell cell;
  Found found = TakeRecord(size_bytes_, &rest, &cell);
  while (found == Found::kCell) {
    replay(cell);
    size_bytes_ = log.size() - rest.size();
    found = TakeRecord(size_bytes_, &rest, &cell);
  }
  if (found == Found::kDamage) {
    return absl::DataLossError(path_ + ": damaged record at offset " +
                               std::to_string(size_bytes_));
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
  std::string record;
  AppendFixed(static_cast<uint32_t>(payload.size()), &record);
  AppendFixed(Checksum(record, size_bytes_), &record);
  AppendFixed(Checksum(payload, size_bytes_ + kHeaderSize), &payload);
  record += payload;
  for (std::string_view rest = record; !rest.empty();) {
    const ssize_t put = write(fd_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      status_ = ErrnoStatus(path_ + ": write");
      return status_;
    }
    rest.remove_prefix(static_cast<size_t>(put));
  }
  size_bytes_ += record.size();
  return absl::OkStatus();
}

absl::Status Wal::Sync() {
  if (status_.ok() && fdatasync(fd_) < 0) {
    status_ = ErrnoStatus(path_ + ": fdatasync");
  }
  return status_;
}

}  // namespace mini_kv
