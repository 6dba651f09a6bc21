// SPDX-License-Identifier: Apache-2.0
//
// Which files are the store. A file that the manifest does not name is none of
// the store's, however complete it looks: that is how a crash in the middle of
// a flush or a compaction leaves no trace.
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

// Puts it in place of the old one, at once and durably. What it names must
// have been synced. After an error either of them may be the one that is read.
absl::Status WriteManifest(const Manifest& manifest,
                           const std::string& directory, Files* files);

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_MANIFEST_H_
