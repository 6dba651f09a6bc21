// SPDX-License-Identifier: Apache-2.0
//
// Sets of digests to build filters of: random ones, and such as no good hash
// function gives, but a bad one or an attacker may.
//
//   Random random(seed);
//   for (const DigestSet& set : kDigestSets) {
//     std::vector<KeyDigest> digests = set.draw({1000, 20}, &random);
//   }

#ifndef ROWBLOOM_BENCH_SOAK_DIGEST_SETS_H_
#define ROWBLOOM_BENCH_SOAK_DIGEST_SETS_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "rowbloom/filter_key.h"

namespace rowbloom::soak {

using Random = std::mt19937_64;

inline uint64_t Below(Random* random, uint64_t limit) {
  return (*random)() % limit;
}

struct DigestSetShape {
  size_t digest_count = 0;  // At least 1.
  // Equal parts of the range of digests that a filter keeps apart: its lines,
  // or the segments of its first layer. At least 1.
  uint64_t home_count = 0;
};

struct DigestSet {
  std::string_view name;
  std::vector<KeyDigest> (*draw)(const DigestSetShape& shape, Random* random);
};

// The first is the one that good hash functions give.
extern const DigestSet kDigestSets[];
extern const size_t kDigestSetCount;

}  // namespace rowbloom::soak

#endif  // ROWBLOOM_BENCH_SOAK_DIGEST_SETS_H_
