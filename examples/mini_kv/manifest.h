// SPDX-License-Identifier: Apache-2.0
//
// The list of the store's files. A file that the manifest does not name does
// not belong to the store, however complete it looks: a crash in the middle of
// a flush or a compaction therefore leaves no trace.
//
//   mini_kv 1
//   next_file 17
//   wal 16
//   sst 0 15          (level, number; in level 0 the newest first)
//   sst 1 12
//   checksum 9b6f1c0e55aa3d27

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_MANIFEST_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_MANIFEST_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "files.h"

namespace mini_kv {

inline constexpr size_t kLevelCount = 7;

struct Manifest {
  uint64_t next_file_number = 1;
  uint64_t wal_number = 0;
  std::array<std::vector<uint64_t>, kLevelCount> levels;  // Numbers of SSTs.
};

// NotFound if there is none, DataLoss if it is damaged.
absl::StatusOr<Manifest> ReadManifest(const std::string& directory);

// Replaces the old manifest atomically and durably. The files that it names
// must be synced before. After an error either manifest may be the one that is
// read.
absl::Status WriteManifest(const Manifest& manifest,
                           const std::string& directory, Files* files);

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_MANIFEST_H_
