// SPDX-License-Identifier: Apache-2.0
//
// Zipf's law: ranks 0 to count - 1, each in proportion to
// 1 / (rank + 1)^exponent.

#ifndef ROWBLOOM_BENCH_ZIPF_H_
#define ROWBLOOM_BENCH_ZIPF_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowbloom::bench {

class ZipfSampler {
 public:
  ZipfSampler(size_t count, double exponent) {
    double sum = 0;
    for (size_t rank = 0; rank < count; ++rank) {
      sum += std::pow(static_cast<double>(rank + 1), -exponent);
      sums_.push_back(sum);
    }
  }

  // `random` is uniform over all 64-bit numbers.
  size_t Rank(uint64_t random) const {
    const double place = static_cast<double>(random >> 11) * 0x1p-53;
    const auto it =
        std::upper_bound(sums_.begin(), sums_.end() - 1, place * sums_.back());
    return static_cast<size_t>(it - sums_.begin());
  }
  // The share that the first `count` ranks have together.
  double ShareOfFirst(size_t count) const {
    if (count == 0) return 0;
    return sums_[std::min(count, sums_.size()) - 1] / sums_.back();
  }

 private:
  std::vector<double> sums_;
};

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_ZIPF_H_
