// SPDX-License-Identifier: Apache-2.0
//
// What one run of the benchmark is asked for. The defaults are the published
// run; --help describes each.

#ifndef ROWBLOOM_BENCH_POINT_GET_OPTIONS_H_
#define ROWBLOOM_BENCH_POINT_GET_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rowbloom::point_get {

struct Options {
  std::string input;  // Empty: the words below.
  std::string words = "/usr/share/dict/american-english-insane";
  uint64_t row_count = 0;  // 0: all of them.
  uint64_t get_count = 100000;

  std::vector<double> bits_per_key = {10};
  std::vector<std::string> policies;  // Empty: all.
  std::string family = "blocked_bloom";
  bool equal_filter_bytes = true;
  bool equal_fpr = true;

  int level_count = 4;
  double level_ratio = 10;
  uint64_t file_size_bytes = 8 << 20;
  uint64_t block_size_bytes = 4096;
  uint64_t value_size_bytes = 32;

  std::string directory;  // Empty: the system's temporary directory.
  bool keep_databases = false;
  bool direct_reads = false;
  std::string json;  // Empty: none.
};

}  // namespace rowbloom::point_get

#endif  // ROWBLOOM_BENCH_POINT_GET_OPTIONS_H_
