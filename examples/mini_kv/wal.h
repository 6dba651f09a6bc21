// SPDX-License-Identifier: Apache-2.0
//
// The write-ahead log holds each write before it is acknowledged.
//
//   auto wal = Wal::Open(path, [&](const Cell& cell) { memtable.Set(cell); });
//   absl::Status status = (*wal)->Append({{"row", "name"}, "value"});
//
// Bytes: contiguous records.
//
//   header: payload size (4) | checksum of the size (8)
//   payload: one cell | checksum (8)
//
// Checksums are seeded with the offset of the bytes that they cover.
//
// Open() reads the existing records. A process that died in the middle of a
// write leaves a last record that is short. That torn tail was never
// acknowledged, and is cut off; so is a last record that fails its checksum, as
// a machine that died may leave it. Any other damage is DataLoss: a cut there
// would lose acknowledged writes. DataLoss is also a tail of zeros that is at
// least as long as a header. Some file systems leave it when the size of a file
// was durable before its bytes: nothing tells it from damaged records.
//
// When Append() returns, its bytes survive the end of the process; after Sync()
// they survive the end of the machine. The first error stays: nothing may be
// appended behind half a record.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_WAL_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_WAL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cell.h"

namespace mini_kv {

class Wal {
 public:
  // Opens the log at `path`, which must exist, and replays it.
  static absl::StatusOr<std::unique_ptr<Wal>> Open(
      const std::string& path, const std::function<void(const Cell&)>& replay);
  ~Wal();
  Wal(const Wal&) = delete;
  Wal& operator=(const Wal&) = delete;

  absl::Status Append(const Cell& cell);
  absl::Status Sync();

  // Bytes of the torn tail that Open() cut off.
  uint64_t cut_bytes() const { return cut_bytes_; }

 private:
  Wal(int fd, const std::string& path) : fd_(fd), path_(path) {}
  absl::Status Replay(const std::function<void(const Cell&)>& replay);

  const int fd_;
  const std::string path_;
  uint64_t size_bytes_ = 0;
  uint64_t cut_bytes_ = 0;
  absl::Status status_;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_WAL_H_
