// SPDX-License-Identifier: Apache-2.0

#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "coding.h"
#include "rowbloom/io.h"

namespace mini_kv {
namespace {

constexpr size_t kHeaderSize = 4 + kChecksumSize;

enum class Found { kRecord, kTornTail, kDamage };

// Reads a record from the front of *log, which lies at `offset` of the file,
// and advances it. An end without a record is a torn tail of no bytes.
Found TakeRecord(uint64_t offset, std::string_view* log,
                 std::string_view* payload) {
  std::string_view size_field;
  uint32_t size = 0;
  uint64_t checksum = 0;
  if (!TakeBytes(log, sizeof(size), &size_field) ||
      !TakeFixed(log, &checksum)) {
    return Found::kTornTail;
  }
  // The bytes of a torn record are correct as far as they go, so a bad size is
  // damage.
  if (checksum != Checksum(size_field, offset) ||
      !TakeFixed(&size_field, &size)) {
    return Found::kDamage;
  }
  if (!TakeBytes(log, size, payload) || !TakeFixed(log, &checksum)) {
    return Found::kTornTail;
  }
  if (checksum == Checksum(*payload, offset + kHeaderSize)) {
    return Found::kRecord;
  }
  return log->empty() ? Found::kTornTail : Found::kDamage;
}

}  // namespace

absl::Status ErrnoStatus(const std::string& call) {
  return absl::ErrnoToStatus(errno, call);
}

absl::StatusOr<std::unique_ptr<Log>> Log::Open(const std::string& path,
                                               const Replay& replay) {
  const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(path + ": open");
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
  Found found = TakeRecord(0, &rest, &payload);
  while (found == Found::kRecord && replay(payload)) {
    log->size_bytes_ = bytes.size() - rest.size();
    found = TakeRecord(log->size_bytes_, &rest, &payload);
  }
  // The first record was complete before the file had its name.
  if (found != Found::kTornTail || log->size_bytes_ == 0) {
    return absl::DataLossError(path + ": damaged record at offset " +
                               std::to_string(log->size_bytes_));
  }
  log->cut_bytes_ = bytes.size() - log->size_bytes_;
  if (log->cut_bytes_ != 0 &&
      ftruncate(fd, static_cast<off_t>(log->size_bytes_)) < 0) {
    return ErrnoStatus(path + ": ftruncate");
  }
  return log;
}

absl::StatusOr<std::unique_ptr<Log>> Log::Create(const std::string& path,
                                                 std::string_view payload) {
  const int fd = open(
      path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return ErrnoStatus(path + ": create");
  std::unique_ptr<Log> log(new Log(fd, path));
  absl::Status status = log->Append(payload);
  if (status.ok()) status = log->Sync();
  if (!status.ok()) return status;
  return log;
}

Log::~Log() { close(fd_); }

absl::Status Log::Append(std::string_view payload) {
  std::string record;
  AppendFixed(static_cast<uint32_t>(payload.size()), &record);
  AppendFixed(Checksum(record, size_bytes_), &record);
  record += payload;
  AppendFixed(Checksum(payload, size_bytes_ + kHeaderSize), &record);
  for (std::string_view rest = record; !rest.empty();) {
    const ssize_t written = write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus(path_ + ": write");
    rest.remove_prefix(static_cast<size_t>(written));
  }
  size_bytes_ += record.size();
  return absl::OkStatus();
}

absl::Status Log::Sync() {
  return fsync(fd_) < 0 ? ErrnoStatus(path_ + ": fsync") : absl::OkStatus();
}

}  // namespace mini_kv
