// SPDX-License-Identifier: Apache-2.0

#include "bench/work_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace rowbloom::bench {

WorkDirectory::WorkDirectory(const std::string& named,
                             const std::string& program, bool keep)
    : path_(named) {
  namespace fs = std::filesystem;
  if (!path_.empty()) {
    fs::create_directories(path_);
    return;
  }
  path_ = (fs::temp_directory_path() / (program + ".XXXXXX")).string();
  if (mkdtemp(path_.data()) == nullptr) {
    throw std::runtime_error(path_ + ": " + std::strerror(errno) +
                             ". Name a writable place with --directory.");
  }
  remove_ = !keep;
}

WorkDirectory::~WorkDirectory() {
  std::error_code ignored;
  if (remove_) std::filesystem::remove_all(path_, ignored);
}

}  // namespace rowbloom::bench
