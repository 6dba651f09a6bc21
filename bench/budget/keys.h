// SPDX-License-Identifier: Apache-2.0
//
// The keys of a tree, run by run, and gets of them and of keys beside them.
//
//   Keys keys(RunSizes(shape));                  // The newest run first.
//   for (uint64_t number : keys.SortedRun(1)) Put(KeyOf(number), ...);
//   GetStream gets(&keys, {0.5, Mix::kUniform}, seed);
//   const Get get = gets.Next();                 // get.level == 0: nowhere
//
// Keys are 8 bytes that look random; no two are equal, and no absent key is
// present. The same arguments give the same keys and gets.

#ifndef ROWBLOOM_BENCH_BUDGET_KEYS_H_
#define ROWBLOOM_BENCH_BUDGET_KEYS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/point_get/workload.h"

namespace rowbloom::budget_bench {

// 8 bytes that sort as their numbers do.
std::string KeyOf(uint64_t number);

// One to one.
uint64_t Mixed(uint64_t number);

class Keys {
 public:
  explicit Keys(std::vector<uint64_t> run_sizes);

  int run_count() const { return static_cast<int>(ends_.size()); }
  uint64_t size() const { return ends_.back(); }
  // Level 1 is the newest run.
  std::vector<uint64_t> SortedRun(int level) const;

  uint64_t Number(uint64_t index) const { return Mixed(index); }
  int LevelOf(uint64_t index) const;
  // For any number below 2^40.
  uint64_t AbsentNumber(uint64_t index) const { return Mixed(size() + index); }

  const point_get::ZipfSampler& zipf() const { return zipf_; }

 private:
  std::vector<uint64_t> ends_;  // Where each run's indices end.
  point_get::ZipfSampler zipf_;
};

struct GetMix {
  double missing_share = 1;
  point_get::Mix popularity = point_get::Mix::kUniform;
};

struct Get {
  static constexpr int kSomewhere = -1;

  std::string key;
  int level = 0;  // Where it is; 0 if nowhere.
};

// Hits find their keys in each run in proportion to its keys. Of a Zipf mix,
// which keys are popular changes every 1,000 gets.
class GetStream {
 public:
  // `keys` must outlive it.
  GetStream(const Keys* keys, const GetMix& mix, uint64_t seed);

  Get Next();

 private:
  uint64_t Draw(uint64_t random) const;

  const Keys* const keys_;
  const GetMix mix_;
  const uint64_t seed_;
  uint64_t count_ = 0;
};

}  // namespace rowbloom::budget_bench

#endif  // ROWBLOOM_BENCH_BUDGET_KEYS_H_
