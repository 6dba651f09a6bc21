// SPDX-License-Identifier: Apache-2.0
//
// The files of a store: their names and operations. Tests replace Files with a
// subclass, to stop in the middle of a write.
//
//   MANIFEST      names the live files and their levels
//   000012.wal    the write-ahead log
//   000013.sst    a sorted, immutable file
//   MANIFEST.tmp  the next manifest, until it is complete
//   LOCK          held by the process that has the store open

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_FILES_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rowbloom/io.h"

namespace mini_kv {

inline constexpr char kManifestName[] = "MANIFEST";
inline constexpr char kManifestTempName[] = "MANIFEST.tmp";
inline constexpr char kLockName[] = "LOCK";

enum class FileKind { kWal, kSst };

std::string FileName(FileKind kind, uint64_t number);
// False for a name that FileName() does not give.
bool ParseFileName(const std::string& name, FileKind* kind, uint64_t* number);

class Files {
 public:
  virtual ~Files() = default;

  // Creates the file, or truncates it.
  virtual absl::StatusOr<std::unique_ptr<rowbloom::FileSink>> Create(
      const std::string& path);
  virtual absl::Status Rename(const std::string& from, const std::string& to);
  virtual absl::Status Remove(const std::string& path);
  // A file's name is durable only once its directory is.
  virtual absl::Status SyncDirectory(const std::string& path);
};

// The names of all files, in no order.
absl::StatusOr<std::vector<std::string>> ListDirectory(const std::string& path);
absl::Status MakeDirectory(const std::string& path);

// The errno of a system call, with a description of the call.
absl::Status ErrnoStatus(const std::string& what);

// Allows one process at a time; the system frees the lock of a dead process.
class DirectoryLock {
 public:
  static absl::StatusOr<std::unique_ptr<DirectoryLock>> Take(
      const std::string& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  const int fd_;
};

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_FILES_H_
