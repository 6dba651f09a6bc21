// SPDX-License-Identifier: Apache-2.0

#include "tools/platform/platform.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace rowbloom::tools::platform {
namespace {

namespace fs = std::filesystem;

TEST(Platform, ALockedFileIsReadWrittenRenamedAndRemoved) {
  const std::string path = ::testing::TempDir() + "rowbloom_lock_" +
                           std::to_string(std::random_device()());
  EXPECT_EQ(LockFileAt(path, /*make=*/false), kNoLock);
  const Lock lock = LockFileAt(path, /*make=*/true);
  ASSERT_NE(lock, kNoLock);
  EXPECT_EQ(LockFileAt(path, /*make=*/false), kNoLock);
  EXPECT_EQ(LockFileAt(path, /*make=*/true), kNoLock);
  EXPECT_TRUE(std::ofstream(path) << "bytes" << std::flush);
  std::string word;
  EXPECT_TRUE(std::ifstream(path) >> word);
  EXPECT_EQ(word, "bytes");
  fs::rename(path, path + ".new");
  Release(lock);

  const Lock other = LockFileAt(path + ".new", /*make=*/false);
  ASSERT_NE(other, kNoLock);
  EXPECT_TRUE(fs::remove(path + ".new"));
  Release(other);
  EXPECT_FALSE(fs::exists(path + ".new"));
}

}  // namespace
}  // namespace rowbloom::tools::platform
