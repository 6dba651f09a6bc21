// SPDX-License-Identifier: Apache-2.0

#include "rowbloom/version.h"

#include <string>

#include "gtest/gtest.h"

namespace rowbloom {
namespace {

TEST(Version, LibrarySaysWhatItsHeadersSay) {
  EXPECT_STREQ(Version(), ROWBLOOM_VERSION_STRING);
}

TEST(Version, TextIsTheThreeNumbers) {
  EXPECT_EQ(ROWBLOOM_VERSION_STRING,
            std::to_string(ROWBLOOM_VERSION_MAJOR) + "." +
                std::to_string(ROWBLOOM_VERSION_MINOR) + "." +
                std::to_string(ROWBLOOM_VERSION_PATCH));
}

}  // namespace
}  // namespace rowbloom
