// SPDX-License-Identifier: Apache-2.0

#include "tools/hbase/unfinished_file.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>

namespace rowbloom::tools {
namespace {

namespace fs = std::filesystem;

#if !defined(_WIN32)
// Windows opens paths of 4,096 letters, but has no signal that a test can send
// to itself alone.
TEST(UnfinishedFile, APathThatNoSlotHoldsTakesNone) {
  const fs::path directory =
      fs::path(::testing::TempDir()) /
      ("rowbloom_unfinished_" + std::to_string(std::random_device()()));
  fs::create_directory(directory);
  const auto end_by_signal = [&] {
    auto too_long = std::make_unique<UnfinishedFile>(std::string(5000, 'd'));
    const UnfinishedFile unfinished(directory / "out");
    if (!fs::exists(unfinished.path())) std::exit(1);
    too_long.reset();
    raise(SIGTERM);
  };
  EXPECT_EXIT(end_by_signal(), ::testing::KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(fs::is_empty(directory));
  fs::remove_all(directory);
}
#endif

}  // namespace
}  // namespace rowbloom::tools
