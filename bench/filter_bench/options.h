// SPDX-License-Identifier: Apache-2.0
//
// What one run of the benchmark is asked for. The defaults are the published
// run; --help describes each.

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_OPTIONS_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace rowbloom::filter_bench {

// Many filters of one size that are asked at random.
struct BlockCacheShape {
  uint64_t filter_count = 0;
  uint64_t key_count = 0;  // Of each.
};

struct Options {
  std::vector<uint64_t> key_counts = {300,    1000,    3500,    10000,
                                      100000, 1000000, 30000000};
  std::vector<std::string> filters;   // Empty: the default list.
  std::vector<std::string> policies;  // NAME=POLICY, more of rowbloom's.
  std::string rocksdb_library;        // Empty: the one of the headers.

  uint64_t rounds = 61;        // Of lookups; odd, for medians.
  uint64_t build_rounds = 31;  // Fewer where a build takes seconds.
  uint64_t lookups = 1 << 16;  // In each timed loop; a power of two.
  uint64_t fpr_lookups = 10000000;
  uint64_t misalignment_bytes = 0;  // From a 64-byte boundary.
  uint64_t seed = 1;
  // About as many bytes each, well beyond the last-level cache in sum.
  std::vector<BlockCacheShape> block_cache = {
      {20000, 3500}, {700, 100000}, {70, 1000000}};

  std::string json;  // Empty: none.
};

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_OPTIONS_H_
