// SPDX-License-Identifier: Apache-2.0
//
// Random draws and values that depend on their arguments alone, so that every
// run and every policy has the same cells and gets.

#ifndef ROWBLOOM_BENCH_READS_WORKLOAD_H_
#define ROWBLOOM_BENCH_READS_WORKLOAD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rowbloom::reads {

// A 64-bit number that looks random.
uint64_t Scramble(std::string_view bytes, uint64_t seed);
uint64_t Scramble(uint64_t value, uint64_t seed);

// The value with which `key` is stored.
std::string MakeValue(std::string_view key, size_t size_bytes);

// How gets choose among keys.
enum class Mix { kUniform, kZipf };
inline constexpr Mix kMixes[] = {Mix::kUniform, Mix::kZipf};
const char* MixName(Mix mix);

// The popular keys of a Zipf mix change after this number of gets. Otherwise a
// result would depend on whether the most popular key is a false positive.
inline constexpr uint64_t kGetsPerEpoch = 1000;

// Ranks 0..count-1 with probability proportional to 1 / (rank + 1)^0.99.
class ZipfSampler {
 public:
  explicit ZipfSampler(size_t count);
  // `random` is uniform over all 64-bit numbers.
  size_t Rank(uint64_t random) const;

 private:
  std::vector<double> cumulative_;
};

}  // namespace rowbloom::reads

#endif  // ROWBLOOM_BENCH_READS_WORKLOAD_H_
