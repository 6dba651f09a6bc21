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

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace mini_kv {

class Log {
 public:
  using Replay = std::function<absl::Status(std::string_view payload)>;

  // NotFound if there is no such file. An error of `replay` is returned.
  static absl::StatusOr<std::unique_ptr<Log>> Open(const std::string& path,
                                                   const Replay& replay);
  // Makes a log of one record, and syncs it.
  static absl::StatusOr<std::unique_ptr<Log>> Create(const std::string& path,
                                                     std::string_view payload);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // After an error, nothing may be appended: half a record may be there.
  absl::Status Append(std::string_view payload);

 private:
  Log(int fd, const std::string& path) : fd_(fd), path_(path) {}

  const int fd_;
  const std::string path_;  // When it was opened.
  uint64_t size_bytes_ = 0;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_LOG_H_
