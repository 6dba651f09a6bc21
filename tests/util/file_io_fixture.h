// SPDX-License-Identifier: Apache-2.0

#ifndef ROWBLOOM_TESTS_UTIL_FILE_IO_FIXTURE_H_
#define ROWBLOOM_TESTS_UTIL_FILE_IO_FIXTURE_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include "rowbloom/io.h"

namespace rowbloom {

// gMock's matchers see std::string, whatever Abseil's string_view is.
inline std::string Message(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

// A fresh directory for each test, removed with its contents.
class FileIo : public ::testing::Test {
 protected:
  void SetUp() override {
    do {
      dir_ = ::testing::TempDir() + "rowbloom_io_" +
             std::to_string(std::random_device()());
    } while (!std::filesystem::create_directory(dir_));
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  std::string WriteFile(const std::string& name, std::string_view bytes) const {
    const std::string path = Path(name);
    auto sink = OpenFileSink(path);
    EXPECT_TRUE(sink.ok()) << sink.status();
    EXPECT_TRUE((*sink)->Append(bytes).ok());
    EXPECT_TRUE((*sink)->SyncAndClose().ok());
    return path;
  }
  static std::string Contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }

  std::string dir_;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_TESTS_UTIL_FILE_IO_FIXTURE_H_
