// SPDX-License-Identifier: Apache-2.0
//
// The files and tables of tests/hfile/data: bytes that HBase wrote and answers
// that it gave.

#ifndef ROWBLOOM_TESTS_HFILE_TEST_DATA_H_
#define ROWBLOOM_TESTS_HFILE_TEST_DATA_H_

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"

namespace rowbloom::testing {

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

inline std::filesystem::path HFileData(const std::string& name) {
  return std::filesystem::path(ROWBLOOM_HFILE_DATA) / name;
}

// The fields of each line that is no comment.
inline std::vector<std::vector<std::string>> ParseTsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    rows.push_back(absl::StrSplit(line, '\t'));
  }
  return rows;
}

// "-" is the empty string.
inline std::string FromHex(const std::string& hex) {
  return hex == "-" ? "" : absl::HexStringToBytes(hex);
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_HFILE_TEST_DATA_H_
