// SPDX-License-Identifier: Apache-2.0

#include "tools/hbase/unfinished_file.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <regex>
#include <set>
#include <system_error>

namespace rowbloom::tools {
namespace {

constexpr size_t kMaxPathSize = 4096;

// The paths that a signal removes; an empty one is free.
char unfinished_paths[UnfinishedFile::kMaxAtOnce][kMaxPathSize];
std::mutex unfinished_mutex;

void RemoveAll() {
  for (const char* path : unfinished_paths) {
    if (path[0] != '\0') platform::Remove(path);
  }
}

}  // namespace

UnfinishedFile::UnfinishedFile(const std::string& out)
    : out_(out), path_(out + ".unfinished." + platform::ProcessId()) {
  const std::lock_guard<std::mutex> guard(unfinished_mutex);
  static const bool caught = (platform::CallBeforeEnd(RemoveAll), true);
  (void)caught;
  for (slot_ = 0; slot_ < kMaxAtOnce; ++slot_) {
    if (unfinished_paths[slot_][0] == '\0' && path_.size() < kMaxPathSize) {
      path_.copy(unfinished_paths[slot_], path_.size());
      break;
    }
  }
  // A file system without locks lacks only the cleaning of leftovers.
  lock_ = platform::LockFileAt(path_, /*make=*/true);
}

UnfinishedFile::~UnfinishedFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  if (lock_ != platform::kNoLock) platform::Release(lock_);
  const std::lock_guard<std::mutex> guard(unfinished_mutex);
  if (slot_ < kMaxAtOnce) {
    std::fill_n(unfinished_paths[slot_], kMaxPathSize, '\0');
  }
}

absl::Status UnfinishedFile::Finish() {
  std::error_code error;
  std::filesystem::rename(path_, out_, error);
  if (error) return absl::UnavailableError(out_ + ": " + error.message());
  return absl::OkStatus();
}

Leftovers RemoveLeftovers(const std::vector<std::string>& outs) {
  namespace fs = std::filesystem;
  static const std::regex pattern("(.*)\\.unfinished\\.[0-9]+");
  const std::set<std::string> names(outs.begin(), outs.end());
  std::set<fs::path> directories;
  for (const std::string& out : outs) {
    directories.insert(fs::path(out).parent_path());
  }
  Leftovers leftovers;
  for (const fs::path& directory : directories) {
    std::error_code error;
    fs::directory_iterator it(directory.empty() ? "." : directory, error);
    for (; !error && it != fs::directory_iterator(); it.increment(error)) {
      const std::string path =
          platform::TextOf(directory / it->path().filename());
      std::smatch match;
      if (!std::regex_match(path, match, pattern) ||
          names.count(match[1].str()) == 0) {
        continue;
      }
      const platform::Lock lock = platform::LockFileAt(path, /*make=*/false);
      std::error_code ignored;
      if (lock != platform::kNoLock && fs::remove(path, ignored)) {
        leftovers.removed.push_back(path);
      } else {
        leftovers.locked.push_back(path);
      }
      if (lock != platform::kNoLock) platform::Release(lock);
    }
  }
  std::sort(leftovers.removed.begin(), leftovers.removed.end());
  std::sort(leftovers.locked.begin(), leftovers.locked.end());
  return leftovers;
}

}  // namespace rowbloom::tools
