// SPDX-License-Identifier: Apache-2.0
//
// The log: records, each of which is on its way to the device before Append()
// returns, so that it survives the end of the process; after Sync() it survives
// that of the machine.
//
//   header: payload size (4) | checksum of the size (8)
//   payload | checksum (8)
//
// Checksums are seeded with the offset of the bytes that they cover.
//
// A process that died while it wrote leaves a last record that is short, a
// machine that died perhaps one that fails its checksum. Open() cuts off this
// torn tail, which was never acknowledged. Any other damage is DataLoss: a cut
// there would lose acknowledged writes.

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

// The errno of a system call, with a description of the call.
absl::Status ErrnoStatus(const std::string& call);

class Log {
 public:
  // Returns false for a payload that it cannot read.
  using Replay = std::function<bool(std::string_view payload)>;

  // NotFound if there is no such file.
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
  absl::Status Sync();

  // Bytes of the torn tail that Open() cut off.
  uint64_t cut_bytes() const { return cut_bytes_; }

 private:
  Log(int fd, const std::string& path) : fd_(fd), path_(path) {}

  const int fd_;
  const std::string path_;  // When it was opened.
  uint64_t size_bytes_ = 0;
  uint64_t cut_bytes_ = 0;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_LOG_H_
