// SPDX-License-Identifier: Apache-2.0
//
// Runs the tool as a user does: a process of its own, in a directory.
//
//   const ToolResult result = RunTool(directory, {"verify", "row.filter"});
//   EXPECT_EQ(result.exit_code, 0) << result.err;

#ifndef ROWBLOOM_TESTS_CLI_TOOL_RUNNER_H_
#define ROWBLOOM_TESTS_CLI_TOOL_RUNNER_H_

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace rowbloom {

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  ASSERT_TRUE(file.flush()) << path;
}

struct ToolResult {
  int exit_code = -1;  // 128 + N if signal N killed it.
  std::string out;
  std::string err;
};

// Output goes to files, so that no pipe can fill up. `out_path` replaces
// standard output's.
inline ToolResult RunProgram(const std::string& program,
                             const std::string& directory,
                             std::vector<std::string> arguments,
                             const std::string& out_path = "") {
  const std::string out = out_path.empty() ? directory + ".out" : out_path;
  const std::string err = directory + ".err";
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) {
    const int flags = O_WRONLY | O_CREAT | O_TRUNC;
    const int out_fd = open(out.c_str(), flags, 0600);
    const int err_fd = open(err.c_str(), flags, 0600);
    if (out_fd < 0 || err_fd < 0 || dup2(out_fd, STDOUT_FILENO) < 0 ||
        dup2(err_fd, STDERR_FILENO) < 0 || chdir(directory.c_str()) != 0) {
      _exit(126);
    }
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  ToolResult result;
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    ADD_FAILURE() << "cannot run " << program;
    return result;
  }
  result.exit_code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (out_path.empty()) result.out = ReadFile(out);
  result.err = ReadFile(err);
  return result;
}

inline ToolResult RunTool(const std::string& directory,
                          const std::vector<std::string>& arguments,
                          const std::string& out_path = "") {
  return RunProgram(ROWBLOOM_TOOL, directory, arguments, out_path);
}

// Tests that run in a fresh directory of generated inputs.
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
