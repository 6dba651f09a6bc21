// SPDX-License-Identifier: Apache-2.0
//
// The log: records that the system has when Append() returns, so that they
// survive the end of the process (kill -9), though not that of the machine.
//
//   payload size (4) | payload | checksum (8)
//
// A checksum is seeded with the record's offset. A process that died while it
// wrote leaves a last record that is not whole, which was never acknowledged.
// Open() ends the log before the first such record, whatever spoiled it. The
// first record was complete before the file had its name: if it is not whole,
// Open() returns DataLoss.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_LOG_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_LOG_H_

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coding.h"
#include "rowbloom/io.h"

namespace mini_kv {

class Log {
 public:
  // Calls `replay` with the payload of each record; its error is returned.
  // NotFound if there is no such file.
  template <typename Replay>
  static absl::StatusOr<std::unique_ptr<Log>> Open(const std::string& path,
                                                   const Replay& replay) {
    const int fd = open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (fd < 0) return absl::ErrnoToStatus(errno, path + ": open");
    std::unique_ptr<Log> log(new Log(fd));
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

  // Makes a log of one record, and syncs it.
  static absl::StatusOr<std::unique_ptr<Log>> Create(const std::string& path,
                                                     std::string_view payload) {
    const int fd =
        open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC,
             0644);
    if (fd < 0) return absl::ErrnoToStatus(errno, path + ": create");
    std::unique_ptr<Log> log(new Log(fd));
    absl::Status status = log->Append(payload);
    if (!status.ok()) return status;
    if (fsync(fd) < 0) return absl::ErrnoToStatus(errno, path + ": fsync");
    return log;
  }

  ~Log() { close(fd_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // After an error, nothing may be appended: half a record may be there.
  absl::Status Append(std::string_view payload) {
    std::string record;
    AppendString(payload, &record);
    AppendChecksum(size_bytes_, &record);
    for (std::string_view rest = record; !rest.empty();) {
      const ssize_t written = write(fd_, rest.data(), rest.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return absl::ErrnoToStatus(errno, "write to the log");
      rest.remove_prefix(static_cast<size_t>(written));
    }
    size_bytes_ += record.size();
    return absl::OkStatus();
  }

 private:
  explicit Log(int fd) : fd_(fd) {}

  // Reads a record from the front of *log, which lies at `offset` of the file,
  // and advances it. False if the record is not whole.
  static bool TakeRecord(uint64_t offset, std::string_view* log,
                         std::string_view* payload) {
    const std::string_view record = *log;
    if (!TakeString(log, payload)) return false;
    const auto covered = record.substr(0, record.size() - log->size());
    uint64_t checksum = 0;
    return TakeFixed(log, &checksum) && checksum == Checksum(covered, offset);
  }

  const int fd_;
  uint64_t size_bytes_ = 0;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_LOG_H_
