// SPDX-License-Identifier: Apache-2.0
//
// Operations of a workload on a tree of 8-byte keys: gets, puts, updates and
// scans.
//
//   Operations operations(keys, sorted, /*seed=*/1);
//   for (const Operation& operation : operations.Batch(workload))
//     wrong += !Do(operation, db);
//
// The same arguments draw the same operations. One thread at a time.

#ifndef ROWBLOOM_BENCH_ROCKSDB_OPERATIONS_H_
#define ROWBLOOM_BENCH_ROCKSDB_OPERATIONS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/split_mix.h"
#include "key_tree.h"
#include "rocksdb/db.h"

namespace rowbloom::bench {

inline constexpr size_t kValueSize = 100;
inline constexpr size_t kBatch = 2048;

enum class Choice {
  kUniform,
  kZipf,    // 0.99 over all keys, popular ones anywhere.
  kLatest,  // Zipf by age, the newest key first.
  kRanges,  // Key ranges of mixgraph's All_dist.
};

struct Workload {
  const char* name;
  double missing_share;
  Choice choice;
  double put_share = 0;
  bool puts_are_new = false;  // Else puts overwrite.
  double scan_share = 0;
};

template <size_t kCount>
std::vector<std::string> NamesOf(const Workload (&workloads)[kCount]) {
  std::vector<std::string> names;
  for (const Workload& workload : workloads) names.emplace_back(workload.name);
  return names;
}

// Draws key ranges as mixgraph does: range i of 30, in random order, has a
// weight of two exponential terms. Within a range a power law chooses the key.
class RangeSampler {
 public:
  RangeSampler() {
    constexpr double kA = 14.18, kB = -2.917, kC = 0.0164, kD = -0.08082;
    double sum = 0;
    for (int i = 0; i < kRanges; ++i) {
      weights_.push_back(kA * std::exp(kB * (i + 1)) +
                         kC * std::exp(kD * (i + 1)));
      sum += weights_.back();
    }
    for (double& weight : weights_) weight /= sum;
    // A fixed shuffle.
    for (size_t i = kRanges - 1; i > 0; --i) {
      std::swap(weights_[i], weights_[SplitMix(i) % (i + 1)]);
    }
    std::partial_sum(weights_.begin(), weights_.end(), weights_.begin());
  }

  // A position among sorted keys, 0 to 1.
  double Position(double range_draw, double key_draw) const {
    constexpr double kKeyA = 0.002312, kKeyB = 0.3467;
    const auto at =
        std::upper_bound(weights_.begin(), weights_.end() - 1, range_draw);
    const auto seed =
        static_cast<uint64_t>(std::ceil(std::pow(key_draw / kKeyA, 1 / kKeyB)));
    const double in_range =
        std::ldexp(static_cast<double>(SplitMix(seed)), -64);
    return (static_cast<double>(at - weights_.begin()) + in_range) / kRanges;
  }

 private:
  static constexpr int kRanges = 30;
  std::vector<double> weights_;  // Cumulative.
};

struct Operation {
  enum Kind { kGet, kPut, kUpdate, kScan };
  Kind kind = kGet;
  bool is_present = false;
  std::string key;
};

// Draws one thread's operations on one tree.
class Operations {
 public:
  Operations(const KeyTree& keys, const std::vector<uint64_t>& sorted,
             uint64_t seed)
      : keys_(keys), sorted_(sorted), state_(Scramble(seed, 0)) {}

  std::vector<Operation> Batch(const Workload& workload) {
    std::vector<Operation> batch(kBatch);
    for (Operation& operation : batch) operation = Next(workload);
    return batch;
  }

 private:
  double Share() {
    return std::ldexp(static_cast<double>(NextSplitMix(&state_)), -64);
  }

  Operation Next(const Workload& w) {
    const double kind = Share();
    if (kind < w.put_share && w.puts_are_new) {
      return {Operation::kPut, false, NewKey(new_keys_++)};
    }
    if (kind < w.put_share) return {Operation::kUpdate, true, Present(w)};
    if (kind < w.put_share + w.scan_share) {
      return {Operation::kScan, true, Present(w)};
    }
    if (Share() >= w.missing_share) return {Operation::kGet, true, Present(w)};
    return {Operation::kGet, false, Absent(w)};
  }

  std::string Present(const Workload& w) {
    const uint64_t random = NextSplitMix(&state_);
    switch (w.choice) {
      case Choice::kUniform:
        return keys_.Key(random % keys_.key_count);
      case Choice::kZipf:
        return keys_.Key(SplitMix(keys_.zipf.Rank(random)) % keys_.key_count);
      case Choice::kLatest: {
        // Older than this thread's new keys are those of the newest run.
        const uint64_t age = keys_.zipf.Rank(random);
        return age < new_keys_ ? NewKey(new_keys_ - 1 - age)
                               : keys_.Key(age - new_keys_);
      }
      case Choice::kRanges:
        break;
    }
    return keys_.KeyOfNumber(KeyInRange());
  }

  std::string Absent(const Workload& w) {
    const uint64_t random = NextSplitMix(&state_);
    if (w.choice == Choice::kZipf) {
      return keys_.AbsentKey(keys_.zipf.Rank(random));
    }
    if (w.choice != Choice::kRanges) return keys_.AbsentKey(random >> 24);
    // Beside a present key; 2^-40 of these keys are present.
    return keys_.KeyOfNumber(KeyInRange() + 1);
  }

  // A present key in one of mixgraph's ranges.
  uint64_t KeyInRange() {
    const double position = ranges_.Position(Share(), Share());
    return sorted_[static_cast<size_t>(position *
                                       static_cast<double>(sorted_.size()))];
  }

  // A bijection, so that no other key is this one.
  std::string NewKey(uint64_t number) const {
    return keys_.KeyOfNumber(SplitMix((uint64_t{1} << 60) + number));
  }

  const KeyTree& keys_;
  const std::vector<uint64_t>& sorted_;
  const RangeSampler ranges_;
  uint64_t state_;
  uint64_t new_keys_ = 0;
};

// Performs the operation; false if the answer is wrong.
bool Do(const Operation& operation, rocksdb::DB* db);

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_ROCKSDB_OPERATIONS_H_
