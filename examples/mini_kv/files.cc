// SPDX-License-Identifier: Apache-2.0

#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>
namespace mini_kv {

std::string FileName(FileKind kind, uint64_t number) {
  char name[32];
  std::snprintf(name, sizeof(name), "%06llu.%s",
                static_cast<unsigned long long>(number),
                kind == FileKind::kWal ? "wal" : "sst");
  return name;
}

bool ParseFileName(const std::string& name, FileKind* kind, uint64_t* number) {
  uint64_t parsed = 0;
  size_t digits = 0;
  for (; digits < name.size() && digits < 18; ++digits) {
    if (name[digits] < '0' || name[digits] > '9') break;
    parsed = 10 * parsed + static_cast<uint64_t>(name[digits] - '0');
  }
  *number = parsed;
  *kind = name.substr(digits) == ".wal" ? FileKind::kWal : FileKind::kSst;
  return name == FileName(*kind, *number);
}

absl::Status ErrnoStatus(const std::string& what) {
  return absl::ErrnoToStatus(errno, what);
}

absl::StatusOr<std::unique_ptr<rowbloom::FileSink>> Files::Create(
    const std::string& path) {
  return rowbloom::OpenFileSink(path);
}

absl::Status Files::Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return ErrnoStatus(from + ": rename to " + to);
}

absl::Status Files::Remove(const std::string& path) {
  if (unlink(path.c_str()) == 0) return absl::OkStatus();
  return ErrnoStatus(path + ": remove");
}

absl::Status Files::SyncDirectory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoStatus(path + ": open");
  absl::Status status;
  if (fsync(fd) < 0) status = ErrnoStatus(path + ": fsync");
  close(fd);
  return status;
}

absl::StatusOr<std::vector<std::string>> ListDirectory(
    const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator it(path, error);
  for (; !error && it != end(it); it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  if (error) return absl::ErrnoToStatus(error.value(), path + ": list");
  return names;
}

absl::Status MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return ErrnoStatus(path + ": mkdir");
}

absl::StatusOr<std::unique_ptr<DirectoryLock>> DirectoryLock::Take(
    const std::string& directory) {
  const std::string path = directory + "/" + kLockName;
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return ErrnoStatus(path + ": open");
  if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
    absl::Status status =
        errno == EWOULDBLOCK
            ? absl::FailedPreconditionError(
                  directory + ": the store is open in another process")
            : ErrnoStatus(path + ": flock");
    close(fd);
    return status;
  }
  return std::unique_ptr<DirectoryLock>(new DirectoryLock(fd));
}

DirectoryLock::~DirectoryLock() { close(fd_); }

}  // namespace mini_kv
