// SPDX-License-Identifier: Apache-2.0

#include "tools/platform/platform.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <iterator>
#endif

namespace rowbloom::tools::platform {
namespace {

namespace fs = std::filesystem;

std::string NewPath() {
  return ::testing::TempDir() + "rowbloom_lock_" +
         std::to_string(std::random_device()());
}

TEST(Platform, ALockedFileIsReadWrittenRenamedAndRemoved) {
  const std::string path = NewPath();
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

#if defined(_WIN32)
// Windows lets nobody else read locked bytes. Wine does, but refuses others a
// lock of them.
TEST(Platform, ALockHoldsNoByteThatAFileHas) {
  const std::string path = NewPath();
  const Lock lock = LockFileAt(path, /*make=*/true);
  ASSERT_NE(lock, kNoLock);
  const HANDLE file =
      CreateFileA(path.c_str(), GENERIC_READ,
                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                  nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
  ASSERT_NE(file, INVALID_HANDLE_VALUE);
  OVERLAPPED start = {};
  const DWORD flags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
  EXPECT_TRUE(LockFileEx(file, flags, 0, 0, 1 << 30, &start));  // 2^62 bytes.
  CloseHandle(file);
  Release(lock);
  EXPECT_TRUE(fs::remove(path));
}

// Wine opens paths of more than 260 letters without the manifest, too.
TEST(Platform, TheManifestAsksForLongPaths) {
  wchar_t value[16] = L"";
  EXPECT_TRUE(QueryActCtxSettingsW(
      0, nullptr, L"http://schemas.microsoft.com/SMI/2016/WindowsSettings",
      L"longPathAware", value, std::size(value), nullptr));
  EXPECT_STREQ(value, L"true");
}
#endif

}  // namespace
}  // namespace rowbloom::tools::platform
