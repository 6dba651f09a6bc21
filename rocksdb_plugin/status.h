// SPDX-License-Identifier: Apache-2.0
//
// Converts our statuses to RocksDB's and back.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_STATUS_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "rdb.h"
#include "rocksdb/status.h"

namespace rowbloom::plugin {

// For errors in options and arguments.
inline rdb::Status ToRocksDbStatus(const absl::Status& status) {
  if (status.ok()) return rdb::Status::OK();
  return rdb::Status::InvalidArgument(std::string(status.message()));
}

// Passes `status` to the caller, whose `error` may be null.
inline bool IsOk(const absl::Status& status, rdb::Status* error) {
  if (error != nullptr) *error = ToRocksDbStatus(status);
  return status.ok();
}

// For files: Corruption becomes DataLoss, NotSupported becomes Unimplemented.
inline absl::Status FromRocksDb(const rdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = status.ToString();
  if (status.IsCorruption()) return absl::DataLossError(message);
  if (status.IsNotSupported()) return absl::UnimplementedError(message);
  return absl::UnavailableError(message);
}

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_STATUS_H_
