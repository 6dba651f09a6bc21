// SPDX-License-Identifier: Apache-2.0
//
// A process may have several copies of the library: plugins, Python modules and
// JNI libraries that were each linked with the static one.

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace rowbloom::util {
namespace {

TEST(TwoCopies, EachSeesTheGuardsOfAThreadThatUsesBoth) {
  for (const char* path : {ROWBLOOM_COPY_A, ROWBLOOM_COPY_B}) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    void* const function = dlsym(library, "GuardIsSeen");
    ASSERT_NE(function, nullptr) << dlerror();
    EXPECT_TRUE(reinterpret_cast<bool (*)()>(function)()) << path;
  }
}

}  // namespace
}  // namespace rowbloom::util
