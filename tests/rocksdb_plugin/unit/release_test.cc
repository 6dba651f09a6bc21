// SPDX-License-Identifier: Apache-2.0

#include "release.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace rowbloom::plugin {
namespace {

using ::testing::HasSubstr;

TEST(Release, AdmitsTheReleaseItWasCompiledFor) {
  EXPECT_TRUE(CheckRocksDbRelease().ok());
}

TEST(Release, RefusesAnotherReleaseAndNamesBoth) {
  const absl::Status status = CheckRocksDbVersion("5.99.1");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("RocksDB 5.99.1 is"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("RocksDB " + CompiledRocksDbVersion() + " but"));
}

TEST(Release, ComparesMinorReleasesWhole) {
  EXPECT_FALSE(CheckRocksDbVersion("7.80.3", "7.8.3").ok());
  EXPECT_FALSE(CheckRocksDbVersion("7.8.3", "7.80.3").ok());
  EXPECT_FALSE(CheckRocksDbVersion("7.8", "7.8.3").ok());
  EXPECT_FALSE(CheckRocksDbVersion("").ok());
}

TEST(Release, PatchReleasesMatterBefore703Only) {
  EXPECT_TRUE(CheckRocksDbVersion("7.8.30", "7.8.3").ok());
  EXPECT_TRUE(CheckRocksDbVersion("7.0.4", "7.0.3").ok());
  for (const char* older : {"7.0.0", "7.0.1", "7.0.2"}) {
    EXPECT_FALSE(CheckRocksDbVersion(older, "7.0.3").ok()) << older;
  }
}

}  // namespace
}  // namespace rowbloom::plugin
