// SPDX-License-Identifier: Apache-2.0
//
// Measures all contenders at one size together: their rounds are interleaved
// and all filters are alive, so that they meet the same caches, the same
// neighbours and the same clock. Times are processor times, and medians over
// the rounds.
//
//   std::vector<Run> runs = MeasureSize(options, contenders, 10000, &progress);

#ifndef ROWBLOOM_BENCH_FILTER_BENCH_MEASURE_H_
#define ROWBLOOM_BENCH_FILTER_BENCH_MEASURE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/progress.h"
#include "contender.h"
#include "keys.h"
#include "options.h"
#include "rocksdb_library.h"

namespace rowbloom::filter_bench {

using Contenders = std::vector<std::unique_ptr<Contender>>;
using bench::Progress;

// Nanoseconds for each lookup.
struct LookupTimes {
  double negative_independent = 0;
  double negative_dependent = 0;
  double positive_independent = 0;
  double positive_dependent = 0;
  double batch = 0;  // Negative.
};

// By key form.
template <class T>
using ByForm = std::array<T, kKeyFormCount>;
inline size_t Index(KeyForm form) { return static_cast<size_t>(form); }

// One contender at one size.
struct Run {
  std::string filter;
  std::string policy;
  uint64_t key_count = 0;     // Of each filter.
  uint64_t filter_count = 0;  // Over which the rest is averaged.
  double bits_per_key = 0;    // Of all stored bytes.
  double fpr = 0;
  uint64_t fpr_lookups = 0;
  double expected_fpr = 0;  // 0: the filter does not say.
  uint64_t present_lookups = 0;
  uint64_t false_negatives = 0;
  ByForm<double> build_ns_per_key = {};
  double peak_build_bytes_per_key = 0;  // The result included.
  ByForm<LookupTimes> lookup_ns;

  // Bits beyond what information theory asks for this rate, as a share of
  // them. Infinite if no false positive was seen.
  double overhead() const;
};

// Many filters beyond the last-level cache, each lookup in a random one.
struct BlockCacheRun {
  std::string filter;
  BlockCacheShape shape;
  uint64_t total_size_bytes = 0;
  uint64_t present_lookups = 0;
  uint64_t false_negatives = 0;
  double independent_ns = 0;  // Negative.
  double dependent_ns = 0;    // Negative.
};

// What hashing alone costs. RocksDB hashes digests too.
struct HashTimes {
  double independent_ns = 0;
  double dependent_ns = 0;
};
struct HashCosts {
  HashTimes rocksdb_digests;
  HashTimes rocksdb_strings;
  HashTimes rowbloom_strings;
};

std::vector<Run> MeasureSize(const Options& options,
                             const Contenders& contenders, uint64_t key_count,
                             Progress* progress);
std::vector<BlockCacheRun> MeasureBlockCache(const Options& options,
                                             const Contenders& contenders,
                                             const BlockCacheShape& shape,
                                             Progress* progress);
HashCosts MeasureHashes(const Options& options, const RocksDbLibrary& library);

}  // namespace rowbloom::filter_bench

#endif  // ROWBLOOM_BENCH_FILTER_BENCH_MEASURE_H_
