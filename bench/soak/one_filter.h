// SPDX-License-Identifier: Apache-2.0
//
// Builds one random filter with every kernel and asks it for all of its keys,
// with every kernel, through every number of first units, one by one and in
// batches, with units at any alignment.
//
//   FilterCheck check = CheckOneFilter(seed);  // The same for the same seed.

#ifndef ROWBLOOM_BENCH_SOAK_ONE_FILTER_H_
#define ROWBLOOM_BENCH_SOAK_ONE_FILTER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace rowbloom::soak {

struct Counts {
  uint64_t filters = 0;
  uint64_t keys = 0;     // Digests added, equal ones too.
  uint64_t lookups = 0;  // Of keys.
  uint64_t false_negatives = 0;
  // Builds that gave other bytes than the portable kernel's.
  uint64_t byte_differences = 0;
  // Answers to digests, most of them absent, that are not portable's.
  uint64_t answer_differences = 0;
  uint64_t saturated_keys = 0;

  void Add(const Counts& other);
  // Whether all is as it must be.
  bool ok() const {
    return false_negatives + byte_differences + answer_differences == 0;
  }
};

struct FilterCheck {
  std::string policy;
  std::string family;
  std::string_view digest_set;
  Counts counts;
};

FilterCheck CheckOneFilter(uint64_t seed);

}  // namespace rowbloom::soak

#endif  // ROWBLOOM_BENCH_SOAK_ONE_FILTER_H_
