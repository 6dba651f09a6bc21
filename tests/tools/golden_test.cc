// SPDX-License-Identifier: Apache-2.0
//
// Replays the sessions in golden/. Each line that begins with "$ rowbloom " is
// run in the directory of generated inputs, in which data is
// tests/hosts/hfile/data (words are split at spaces). The lines that follow are
// its standard output, its standard error after a line "[stderr]", and its exit
// code if it is not 0.
//
// After an intended change of the output:
//   ROWBLOOM_UPDATE_GOLDEN=1 ctest -R cli   and read the difference.

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "tool_runner.h"

namespace rowbloom {
namespace {

class GoldenTest : public ToolTest {};

std::string Replay(const std::string& session, const std::string& directory) {
  const std::string prompt = "$ rowbloom ";
  std::istringstream lines(session);
  std::string replayed;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(prompt, 0) != 0) continue;
    const ToolResult result =
        RunTool(directory, SplitWords(line.substr(prompt.size())));
    replayed += line + "\n" + result.out;
    if (!result.err.empty()) replayed += "[stderr]\n" + result.err;
    if (result.exit_code != 0) {
      replayed += "[exit " + std::to_string(result.exit_code) + "]\n";
    }
  }
  return replayed;
}

TEST_F(GoldenTest, SessionsReplay) {
  std::filesystem::create_directory_symlink(
      ROWBLOOM_SOURCE_DIR "/tests/hosts/hfile/data", InputPath("data"));
  int session_count = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(ROWBLOOM_GOLDEN_DIRECTORY)) {
    const std::string path = file.path().string();
#ifndef ROWBLOOM_CLI_TEST_WITH_ROCKSDB
    if (path.find("sst") != std::string::npos) continue;
    if (path.find("help") != std::string::npos) continue;  // It names refresh.
#elif ROWBLOOM_CLI_TEST_ROCKSDB_RELEASE >= 906
    // The partitions were recorded with a RocksDB that cuts them late.
    if (path.find("partitioned") != std::string::npos) continue;
#endif
#ifndef ROWBLOOM_CLI_TEST_WITH_REDIS
    if (path.find("redis") != std::string::npos) continue;
#endif
#ifndef ROWBLOOM_CLI_TEST_WITH_HFILE
    if (path.find("hfile") != std::string::npos) continue;
    if (path.find("help") != std::string::npos) continue;  // It names rebuild.
#endif
    SCOPED_TRACE(path);
    ++session_count;
    const std::string golden = ReadFile(path);
    const std::string replayed = Replay(golden, inputs());
    if (std::getenv("ROWBLOOM_UPDATE_GOLDEN") != nullptr) {
      WriteFile(path, replayed);
    } else {
      EXPECT_EQ(replayed, golden);
    }
  }
  EXPECT_GE(session_count, 4);
}

}  // namespace
}  // namespace rowbloom
