// SPDX-License-Identifier: Apache-2.0
//
// Compares ways to do the same when they differ by less than the machine's
// noise: the ways take turns in short rounds, and ratios are those within a
// round, so that a disturbance meets all of them.
//
//   Paired paired({[&] { AskInLoop(); }, [&] { AskInBatch(); }});
//   for (int i = 0; i < 1000; ++i) paired.Round();
//   Print(paired.Ratio(1, 0));  // Of the batch to the loop.

#ifndef ROWBLOOM_BENCH_PAIRED_H_
#define ROWBLOOM_BENCH_PAIRED_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "bench/quantile.h"

namespace rowbloom::bench {

class Paired {
 public:
  // Calls each way once, so that what fits into a cache is in it.
  explicit Paired(std::vector<std::function<void()>> ways)
      : ways_(std::move(ways)), times_(ways_.size()) {
    for (const auto& way : ways_) way();
  }

  // Each round begins with another way.
  void Round() {
    const size_t first = times_[0].size();
    for (size_t i = 0; i < ways_.size(); ++i) {
      const size_t way = (first + i) % ways_.size();
      const auto start = std::chrono::steady_clock::now();
      ways_[way]();
      times_[way].push_back(std::chrono::steady_clock::now() - start);
    }
  }

  double MedianSeconds(size_t way) const {
    std::vector<double> seconds;
    for (const Seconds time : times_[way]) seconds.push_back(time.count());
    return Quantile(std::move(seconds), 0.5);
  }
  // A quantile, by default the median, over the rounds of the time of `way`
  // divided by that of `other`.
  double Ratio(size_t way, size_t other, double quantile = 0.5) const {
    std::vector<double> ratios;
    for (size_t i = 0; i < times_[way].size(); ++i) {
      ratios.push_back(times_[way][i] / times_[other][i]);
    }
    return Quantile(std::move(ratios), quantile);
  }

 private:
  using Seconds = std::chrono::duration<double>;

  const std::vector<std::function<void()>> ways_;
  std::vector<std::vector<Seconds>> times_;  // By way, then by round.
};

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_PAIRED_H_
