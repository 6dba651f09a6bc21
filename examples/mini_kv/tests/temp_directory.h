// SPDX-License-Identifier: Apache-2.0
//
// A directory that is removed with its object, and files as strings. It is in
// memory if the system allows it: otherwise the tests would wait for fsync.

#ifndef ROWBLOOM_EXAMPLES_MINI_KV_TESTS_TEMP_DIRECTORY_H_
#define ROWBLOOM_EXAMPLES_MINI_KV_TESTS_TEMP_DIRECTORY_H_

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace mini_kv {

class TempDirectory {
 public:
  TempDirectory() : path_(Parent() / "mini_kv.XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) {
      std::perror(path_.c_str());
      std::abort();
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
  static std::filesystem::path Parent() {
    constexpr char kInMemory[] = "/dev/shm";
    return access(kInMemory, W_OK) == 0
               ? kInMemory
               : std::filesystem::temp_directory_path();
  }

  std::string path_;
};

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace mini_kv

#endif  // ROWBLOOM_EXAMPLES_MINI_KV_TESTS_TEMP_DIRECTORY_H_
