// SPDX-License-Identifier: Apache-2.0
//
// Runs a program as a separate process, in a directory.
//
//   const ToolResult result = RunProgram("/usr/bin/ldb", directory, {"dump"});
//   EXPECT_EQ(result.exit_code, 0) << result.err;

#ifndef ROWBLOOM_TESTS_TESTING_RUN_PROGRAM_H_
#define ROWBLOOM_TESTS_TESTING_RUN_PROGRAM_H_

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

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

struct ToolResult {
  int exit_code = -1;  // 128 + N if signal N killed it.
  std::string out;
  std::string err;
};

// Output goes to files, so that no pipe can fill up. `out_path` replaces the
// file of standard output.
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

}  // namespace rowbloom

#endif  // ROWBLOOM_TESTS_TESTING_RUN_PROGRAM_H_
