// SPDX-License-Identifier: Apache-2.0
//
// Runs the tool as a user does: as a separate process, in a directory.
//
//   EXPECT_THAT(Run("verify row.filter"), Exits(0, HasSubstr("ok")));

#ifndef ROWBLOOM_TESTS_TOOLS_TOOL_RUNNER_H_
#define ROWBLOOM_TESTS_TOOLS_TOOL_RUNNER_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/run_program.h"

namespace rowbloom {

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  ASSERT_TRUE(file.flush()) << path;
}

// The environment variable ROWBLOOM_TOOL names another tool, such as that of
// another system behind an emulator.
inline ToolResult RunTool(const std::string& directory,
                          const std::vector<std::string>& arguments,
                          const std::string& out_path = "") {
  const char* other = std::getenv("ROWBLOOM_TOOL");
  return RunProgram(other == nullptr ? ROWBLOOM_TOOL : other, directory,
                    arguments, out_path);
}

inline std::vector<std::string> SplitWords(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Matches a run that ended with `exit_code` and printed such text.
inline testing::Matcher<const ToolResult&> Exits(
    int exit_code, const testing::Matcher<const std::string&>& out = testing::_,
    const testing::Matcher<const std::string&>& err = testing::_) {
  return testing::AllOf(
      testing::Field("exit_code", &ToolResult::exit_code, exit_code),
      testing::Field("out", &ToolResult::out, out),
      testing::Field("err", &ToolResult::err, err));
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
  static ToolResult RunArguments(const std::vector<std::string>& arguments) {
    return RunTool(inputs(), arguments);
  }
  // Runs a line whose words are split at spaces, for example "verify x.sst".
  static ToolResult Run(const std::string& line) {
    return RunArguments(SplitWords(line));
  }
  // Runs the line with --json and returns the document.
  static nlohmann::json RunJson(const std::string& line) {
    const ToolResult result = Run(line + " --json");
    nlohmann::json parsed =
        nlohmann::json::parse(result.out, nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(parsed.is_discarded()) << result.out << result.err;
    return parsed;
  }
  // Runs the line with --json and returns the entry of its first file.
  static nlohmann::json RunJsonOfFile(const std::string& line) {
    return RunJson(line)["files"][0];
  }
  static std::string InputPath(const std::string& name) {
    return inputs() + "/" + name;
  }

 private:
  static inline std::string* base_ = nullptr;
};

}  // namespace rowbloom

#endif  // ROWBLOOM_TESTS_TOOLS_TOOL_RUNNER_H_
