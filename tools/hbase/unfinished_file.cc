// SPDX-License-Identifier: Apache-2.0

#include "tools/hbase/unfinished_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <regex>
#include <set>
#include <system_error>

namespace rowbloom::tools {
namespace {

// The paths that a signal removes; an empty one is free.
char unfinished_paths[UnfinishedFile::kMaxAtOnce][PATH_MAX];
std::mutex unfinished_mutex;

void RemoveAllAndEnd(int number) {
  for (const char* path : unfinished_paths) {
    if (path[0] != '\0') unlink(path);
  }
  signal(number, SIG_DFL);
  raise(number);
}

void CatchSignals() {
  struct sigaction action = {};
  action.sa_handler = RemoveAllAndEnd;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    struct sigaction before = {};
    sigaction(signal, nullptr, &before);
    // nohup ignores SIGHUP, a shell SIGINT in the background.
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  // A write beyond the limit of the shell is an error like any other.
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
}

}  // namespace

UnfinishedFile::UnfinishedFile(const std::string& out)
    : out_(out), path_(out + ".unfinished." + std::to_string(getpid())) {
  const std::lock_guard<std::mutex> guard(unfinished_mutex);
  static const bool caught = (CatchSignals(), true);
  (void)caught;
  for (slot_ = 0; slot_ < kMaxAtOnce; ++slot_) {
    if (unfinished_paths[slot_][0] == '\0') break;
  }
  if (slot_ < kMaxAtOnce) {
    std::snprintf(unfinished_paths[slot_], PATH_MAX, "%s", path_.c_str());
  }
  // A file system without locks lacks only the cleaning of leftovers.
  lock_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock_ >= 0) flock(lock_, LOCK_EX | LOCK_NB);
}

UnfinishedFile::~UnfinishedFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  if (lock_ >= 0) close(lock_);
  const std::lock_guard<std::mutex> guard(unfinished_mutex);
  if (slot_ < kMaxAtOnce) unfinished_paths[slot_][0] = '\0';
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
      const std::string path = (directory / it->path().filename()).string();
      std::smatch match;
      if (!std::regex_match(path, match, pattern) ||
          names.count(match[1].str()) == 0) {
        continue;
      }
      const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
      std::error_code ignored;
      if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0 &&
          fs::remove(path, ignored)) {
        leftovers.removed.push_back(path);
      } else {
        leftovers.locked.push_back(path);
      }
      if (file >= 0) close(file);
    }
  }
  std::sort(leftovers.removed.begin(), leftovers.removed.end());
  std::sort(leftovers.locked.begin(), leftovers.locked.end());
  return leftovers;
}

}  // namespace rowbloom::tools
