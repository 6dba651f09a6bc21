// SPDX-License-Identifier: Apache-2.0
//
// The files and tables of tests/hosts/hfile/data: bytes that HBase wrote and
// answers that it gave. If the environment variable ROWBLOOM_HFILES names a
// directory, the files below it are samples, too.

#ifndef ROWBLOOM_TESTS_HOSTS_HFILE_TEST_DATA_H_
#define ROWBLOOM_TESTS_HOSTS_HFILE_TEST_DATA_H_

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
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

// Returns the fields of each line that is not a comment.
inline std::vector<std::vector<std::string>> ParseTsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    rows.push_back(absl::StrSplit(line, '\t'));
  }
  return rows;
}

inline std::vector<std::vector<std::string>> VectorsOf(
    const std::string& name) {
  return ParseTsv(ReadFile(HFileData(name)));
}

// Reads a file that gzip may have compressed.
inline std::string ReadGzFile(const std::filesystem::path& path) {
  std::string text;
  gzFile file = gzopen(path.string().c_str(), "rb");
  if (file == nullptr) return text;
  char buffer[1 << 16];
  for (int n = 0; (n = gzread(file, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  gzclose(file);
  return text;
}

// "-" is the empty string.
inline std::string FromHex(const std::string& hex) {
  return hex == "-" ? "" : absl::HexStringToBytes(hex);
}

// A question that HBase answered.
struct HFileQuery {
  std::string kind;  // ROW, ROWCOL or DELFAM.
  std::string row;
  std::string qualifier;
  bool may_contain = true;
};

struct HFileSample {
  std::filesystem::path path;
  std::vector<HFileQuery> queries;
};

// Names a test after the file's directory and name; messages show the path.
inline std::string SampleName(
    const ::testing::TestParamInfo<HFileSample>& param) {
  const std::filesystem::path& path = param.param.path;
  std::string name = (path.parent_path().filename() / path.filename()).string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}
inline void PrintTo(const HFileSample& sample, std::ostream* out) {
  *out << sample.path;
}

inline std::vector<HFileQuery> ReadQueries(const std::filesystem::path& path) {
  std::vector<HFileQuery> queries;
  for (const auto& row : ParseTsv(ReadGzFile(path))) {
    queries.push_back(
        {row[0], FromHex(row[1]), FromHex(row[2]), row[3] == "1"});
  }
  return queries;
}

// Returns the files that have questions beside them.
inline std::vector<HFileSample> HFileSamples() {
  std::vector<std::filesystem::path> roots = {ROWBLOOM_HFILE_DATA};
  const char* more = std::getenv("ROWBLOOM_HFILES");
  if (more != nullptr) roots.emplace_back(more);
  std::vector<HFileSample> samples;
  for (const auto& root : roots) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(root)) {
      const std::string name = entry.path().string();
      const size_t mark = name.find(".queries.tsv");
      if (mark == std::string::npos) continue;
      std::filesystem::path file(name.substr(0, mark));
      if (!std::filesystem::exists(file)) file += ".hfile";
      samples.push_back({file, ReadQueries(entry.path())});
    }
  }
  std::sort(samples.begin(), samples.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return samples;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_HOSTS_HFILE_TEST_DATA_H_
