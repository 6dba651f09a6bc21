// SPDX-License-Identifier: Apache-2.0
//
// A process may have several copies of the library: plugins, Python modules and
// JNI libraries that were each linked with the static one.

#include <gtest/gtest.h>

#include <string>
#include <thread>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace rowbloom::util {
namespace {

struct Copy {
  bool (*guard_is_seen)() = nullptr;
  int (*count_thread_records)() = nullptr;
};

Copy Load(const std::string& path) {
#if defined(_WIN32)
  const HMODULE library = LoadLibraryA(path.c_str());
  EXPECT_NE(library, nullptr) << path << ": error " << GetLastError();
  const auto find = [&](const char* name) {
    return reinterpret_cast<void*>(GetProcAddress(library, name));
  };
#else
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  const auto find = [&](const char* name) { return dlsym(library, name); };
#endif
  Copy copy;
  if (library == nullptr) return copy;
  copy.guard_is_seen = reinterpret_cast<bool (*)()>(find("GuardIsSeen"));
  copy.count_thread_records =
      reinterpret_cast<int (*)()>(find("CountThreadRecords"));
  return copy;
}

TEST(TwoCopies, EachSeesTheGuardsOfAThreadThatUsesBoth) {
  for (const char* path : {ROWBLOOM_COPY_A, ROWBLOOM_COPY_B}) {
    const Copy copy = Load(path);
    ASSERT_NE(copy.guard_is_seen, nullptr);
    EXPECT_TRUE(copy.guard_is_seen()) << path;
  }
}

TEST(TwoCopies, ThreadsThatEndGiveTheirRecordsBack) {
  const Copy copy = Load(ROWBLOOM_COPY_A);
  ASSERT_NE(copy.count_thread_records, nullptr);
  for (int i = 0; i < 20; ++i) {
    std::thread([&] { EXPECT_TRUE(copy.guard_is_seen()); }).join();
  }
  // This thread's, if a test before used it, and that of the threads.
  EXPECT_LE(copy.count_thread_records(), 2);
}

}  // namespace
}  // namespace rowbloom::util
