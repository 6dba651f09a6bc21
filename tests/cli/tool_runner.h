// SPDX-License-Identifier: Apache-2.0
//
// Runs the tool as a user does: as a separate process, in a directory.
//
//   const ToolResult result = RunTool(directory, {"verify", "row.filter"});
//   EXPECT_EQ(result.exit_code, 0) << result.err;

#ifndef ROWBLOOM_TESTS_CLI_TOOL_RUNNER_H_
#define ROWBLOOM_TESTS_CLI_TOOL_RUNNER_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "testing/run_program.h"

namespace rowbloom {

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  ASSERT_TRUE(file.flush()) << path;
}

inline ToolResult RunTool(const std::string& directory,
                          const std::vector<std::string>& arguments,
                          const std::string& out_path = "") {
  return RunProgram(ROWBLOOM_TOOL, directory, arguments, out_path);
}

// Base of tests that run in a fresh directory of generated inputs.
class ToolTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string base = testing::TempDir() + "rowbloom_cli_XXXXXX";
    ASSERT_NE(mkdtemp(base.data()), nullptr) << base;
    base_ = new std::string(base);
    ASSERT_TRUE(std::filesystem::create_directory(inputs()));
    const ToolResult made =
        RunProgram(ROWBLOOM_MAKE_INPUTS, inputs(), {inputs()});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  static void TearDownTestSuite() {
    std::filesystem::remove_all(*base_);
    delete base_;
    base_ = nullptr;
  }

  static std::string inputs() { return *base_ + "/inputs"; }
  static std::string InputPath(const std::string& name) {
    return inputs() + "/" + name;
  }

 private:
  static inline std::string* base_ = nullptr;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_TESTS_CLI_TOOL_RUNNER_H_
