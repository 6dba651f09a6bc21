// SPDX-License-Identifier: Apache-2.0

#include "bench/memory/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

namespace rowbloom::bench {

namespace {

// A line of /proc/self/status, which counts in KiB.
int64_t StatusBytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    int64_t kib = 0;
    if (word == name && status >> kib) return kib * 1024;
  }
  throw std::runtime_error("/proc/self/status has no " + name);
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t size = 0;
  while ((size = read(fd, buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<size_t>(size));
  }
  return text;
}

}  // namespace

Memory::Memory() : before_(StatusBytes("VmRSS:")) {}
int64_t Memory::ResidentBytes() const {
  return StatusBytes("VmRSS:") - before_;
}
int64_t Memory::PeakBytes() const { return StatusBytes("VmHWM:") - before_; }

Json InChild(const std::function<Json()>& work) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("cannot make a pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    close(ends[0]);
    Json result;
    try {
      result = work();
    } catch (const std::exception& error) {
      result = {{"error", error.what()}};
    }
    const std::string text = result.dump();
    const bool written = write(ends[1], text.data(), text.size()) ==
                         static_cast<ssize_t>(text.size());
    _exit(written ? 0 : kExitFailure);
  }
  close(ends[1]);
  const std::string text = ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0 || text.empty()) {
    throw std::runtime_error("a child ended with status " +
                             std::to_string(status));
  }
  Json result = Json::parse(text);
  if (result.contains("error")) {
    throw std::runtime_error(result["error"].get<std::string>());
  }
  return result;
}

}  // namespace rowbloom::bench
