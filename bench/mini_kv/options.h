// SPDX-License-Identifier: Apache-2.0
//
// What one run of the benchmark is asked for. The defaults are the published
// run; --help describes each.

#ifndef ROWBLOOM_BENCH_MINI_KV_OPTIONS_H_
#define ROWBLOOM_BENCH_MINI_KV_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rowbloom::mini_kv_bench {

struct Options {
  std::string words = "/usr/share/dict/american-english-insane";
  uint64_t row_count = 100000;  // 0: all of them.
  uint64_t get_count = 100000;
  std::vector<std::string> families = {"blocked_bloom", "fast", "compact"};
  std::vector<std::string> budget_families = {"blocked_bloom", "compact"};
  double bits_per_key = 10;

  uint64_t memtable_size_bytes = 1 << 20;
  uint64_t file_size_bytes = 1 << 20;
  uint64_t level1_size_bytes = 2 << 20;
  uint64_t level_ratio = 4;
  uint64_t block_size_bytes = 4096;
  uint64_t value_size_bytes = 32;
  uint64_t filter_cache_bytes = 32 << 20;

  std::string directory;  // Empty: the system's temporary directory.
  std::string json;       // Empty: none.
};

}  // namespace rowbloom::mini_kv_bench

#endif  // ROWBLOOM_BENCH_MINI_KV_OPTIONS_H_
