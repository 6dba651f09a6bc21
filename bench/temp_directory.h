// SPDX-License-Identifier: Apache-2.0
//
// A directory for the files of a benchmark, removed with the object.
//
//   const TempDirectory directory("reads_bench", "Set TMPDIR.");
//   WriteTo(directory.path() + "/1.sst");

#ifndef ROWBLOOM_BENCH_TEMP_DIRECTORY_H_
#define ROWBLOOM_BENCH_TEMP_DIRECTORY_H_

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace rowbloom::bench {

class TempDirectory {
 public:
  // Throws std::runtime_error, which ends with the remedy.
  TempDirectory(const std::string& program, const char* remedy)
      : path_(std::filesystem::temp_directory_path() / (program + ".XXXXXX")) {
    if (mkdtemp(path_.data()) == nullptr) {
      throw std::runtime_error(path_ + ": " + std::strerror(errno) + ". " +
                               remedy);
    }
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_TEMP_DIRECTORY_H_
