// SPDX-License-Identifier: Apache-2.0
//
// Medians and quartiles of measured values.
//
//   const double median = Quantile(seconds, 0.5);

#ifndef ROWBLOOM_BENCH_QUANTILE_H_
#define ROWBLOOM_BENCH_QUANTILE_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace rowbloom::bench {

// The value below which this share of the values is, between two of them in
// proportion; 0 without values.
inline double Quantile(std::vector<double> values, double quantile) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = quantile * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] +
         (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_QUANTILE_H_
