// SPDX-License-Identifier: Apache-2.0

#if !defined(_WIN32)

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include "tools/platform/platform.h"

namespace rowbloom::tools::platform {
namespace {

void (*before_end)() = nullptr;

void CallAndEnd(int number) {
  before_end();
  signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

// The next file that is opened takes the lowest free number, and that of a
// closed stream would have what the stream is to print written into it. As with
// a closed stream, each use of the stream is an error.
void PrepareStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    const int mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    const int file = open("/dev/null", mode);  // Takes the stream's number.
    static_cast<void>(file);
  }
}

bool ErrorsAreOnTerminal() { return isatty(STDERR_FILENO) == 1; }

std::string TextOf(const std::filesystem::path& path) { return path.string(); }

std::vector<std::string> Match(const std::string& pattern) {
  glob_t matches = {};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &matches) == 0) {
    paths.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  }
  globfree(&matches);
  return paths;
}

std::string ProcessId() { return std::to_string(getpid()); }

Lock LockFileAt(const std::string& path, bool make) {
  const int flags = (make ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC;
  const int file = open(path.c_str(), flags, 0644);
  if (file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0) return file;
  close(file);
  return kNoLock;
}

void Release(Lock lock) { close(static_cast<int>(lock)); }

void CallBeforeEnd(void (*function)()) {
  before_end = function;
  struct sigaction action = {};
  action.sa_handler = CallAndEnd;
  for (const int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) {
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    // nohup ignores SIGHUP, a shell SIGINT in the background.
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
  // A write beyond the limit of the shell is an error like any other.
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
}

void Remove(const char* path) { unlink(path); }

}  // namespace rowbloom::tools::platform

#endif
