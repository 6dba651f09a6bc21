// SPDX-License-Identifier: Apache-2.0
//
// Sets of digests to build filters of: random ones, and sets that no good hash
// function gives, but a bad one or an attacker may.
//
//   Random random(seed);
//   for (const DigestSet& set : kDigestSets) {
//     std::vector<KeyDigest> digests = set.draw({1000, 20}, &random);
//   }

#ifndef ROWBLOOM_TESTS_FILTER_DIGEST_SETS_H_
#define ROWBLOOM_TESTS_FILTER_DIGEST_SETS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "testing/keys.h"

namespace rowbloom::soak {

using Digests = std::vector<KeyDigest>;
using testing::Random;

struct DigestSetShape {
  size_t digest_count = 0;  // At least 1.
  // Number of equal parts of the digest range that a filter keeps apart: its
  // lines, or the stripes of its first layer. At least 1.
  uint64_t home_count = 0;
};

struct DigestSet {
  std::string_view name;
  Digests (*draw)(const DigestSetShape& shape, Random* random);
};

// Digest i is next(i).
template <typename Next>
inline Digests Generate(const DigestSetShape& shape, Next next) {
  Digests digests(shape.digest_count);
  for (size_t i = 0; i < digests.size(); ++i) digests[i].value = next(i);
  return digests;
}

inline Digests Uniform(const DigestSetShape& shape, Random* random) {
  return Generate(shape, [&](size_t) { return (*random)(); });
}

// Each digest is repeated, up to eight times in a row on average.
inline Digests Runs(const DigestSetShape& shape, Random* random) {
  uint64_t digest = (*random)();
  return Generate(shape, [&](size_t) {
    if (random->Below(8) == 0) digest = (*random)();
    return digest;
  });
}

// Each digest is repeated a few times, seldom in a row.
inline Digests Repeated(const DigestSetShape& shape, Random* random) {
  const Digests distinct = Uniform(
      {1 + shape.digest_count / (1 + random->Below(10)), shape.home_count},
      random);
  return Generate(shape, [&](size_t) {
    return distinct[random->Below(distinct.size())].value;
  });
}

inline Digests AllEqual(const DigestSetShape& shape, Random* random) {
  const uint64_t digest = (*random)();
  return Generate(shape, [&](size_t) { return digest; });
}

inline Digests TwoAlternating(const DigestSetShape& shape, Random* random) {
  const uint64_t digests[] = {(*random)(), (*random)()};
  return Generate(shape, [&](size_t i) { return digests[i % 2]; });
}

// The lowest digest at `position` / 256 of a home, or `offset` / 2^64 of a
// 256th above it.
inline uint64_t DigestAt(const DigestSetShape& shape, uint64_t home,
                         uint64_t position, uint64_t offset) {
  const unsigned __int128 at =
      static_cast<unsigned __int128>(256 * home + position) << 64 | offset;
  return static_cast<uint64_t>(at / (256 * shape.home_count));
}

// Returns the first home, the last, or any other.
inline uint64_t AnyHome(const DigestSetShape& shape, Random* random) {
  const uint64_t homes[] = {0, shape.home_count - 1,
                            random->Below(shape.home_count)};
  return homes[random->Below(std::size(homes))];
}

inline Digests OneHome(const DigestSetShape& shape, Random* random) {
  const uint64_t home = AnyHome(shape, random);
  return Generate(shape, [&](size_t) {
    return DigestAt(shape, home, random->Below(256), (*random)());
  });
}

// All digests lie at one position of some homes or all: families move keys
// elsewhere by their position within the home, the highest last.
inline Digests OnePosition(const DigestSetShape& shape, Random* random) {
  const uint64_t first = AnyHome(shape, random);
  const uint64_t homes =
      std::min(shape.home_count,
               uint64_t{1} << std::min<uint64_t>(random->Below(24), 63));
  const uint64_t position = random->Below(2) == 0 ? 255 : random->Below(256);
  return Generate(shape, [&](size_t) {
    const uint64_t home = (first + random->Below(homes)) % shape.home_count;
    return DigestAt(shape, home, position, (*random)());
  });
}

inline Digests Sorted(const DigestSetShape& shape, Random* random) {
  Digests digests = Uniform(shape, random);
  const auto less = [](KeyDigest a, KeyDigest b) { return a.value < b.value; };
  std::sort(digests.begin(), digests.end(), less);
  if (random->Below(2) == 0) std::reverse(digests.begin(), digests.end());
  return digests;
}

inline Digests Sequential(const DigestSetShape& shape, Random* random) {
  const uint64_t start = (*random)();
  return Generate(shape, [&](size_t i) { return start + i; });
}

// Digests vary in 16 or 32 bits only, the lowest or the highest.
inline Digests Short(const DigestSetShape& shape, Random* random) {
  const uint64_t width = random->Below(2) == 0 ? 16 : 32;
  const uint64_t shift = random->Below(2) == 0 ? 0 : 64 - width;
  return Generate(shape,
                  [&](size_t) { return (*random)() >> (64 - width) << shift; });
}

inline Digests LowBitsZero(const DigestSetShape& shape, Random* random) {
  const uint64_t bits = 1 + random->Below(60);
  return Generate(shape, [&](size_t) { return (*random)() << bits; });
}

// Returns x with x * odd = 1 mod 2^64. Each step doubles the correct bits.
inline uint64_t Inverse(uint64_t odd) {
  uint64_t inverse = odd;
  for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

// Multiples of any number, of one that spreads them evenly, or of one that
// leaves small products where families multiply digests by a constant.
inline Digests Multiples(const DigestSetShape& shape, Random* random) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  const uint64_t factors[] = {(*random)(), ~uint64_t{0} / shape.digest_count,
                              Inverse(kMultiplier)};
  const uint64_t factor = factors[random->Below(std::size(factors))];
  const uint64_t start = random->Below(2) == 0 ? 0 : (*random)();
  return Generate(shape, [&](size_t i) { return start + i * factor; });
}

inline Digests Mixed(const DigestSetShape& shape, Random* random);

// "uniform" is the set that good hash functions give.
inline constexpr DigestSet kDigestSets[] = {
    {"uniform", Uniform},
    {"runs", Runs},
    {"repeated", Repeated},
    {"all_equal", AllEqual},
    {"two_alternating", TwoAlternating},
    {"one_home", OneHome},
    {"one_position", OnePosition},
    {"sorted", Sorted},
    {"sequential", Sequential},
    {"short", Short},
    {"low_bits_zero", LowBitsZero},
    {"multiples", Multiples},
    {"mixed", Mixed}};  // The last: see Mixed().

// Draws any set but this last one, and replaces every other digest by a random
// one.
inline Digests Mixed(const DigestSetShape& shape, Random* random) {
  const DigestSet& other =
      kDigestSets[random->Below(std::size(kDigestSets) - 1)];
  Digests digests = other.draw(shape, random);
  for (size_t i = 0; i < digests.size(); i += 2) digests[i].value = (*random)();
  return digests;
}

}  // namespace rowbloom::soak

#endif  // ROWBLOOM_TESTS_FILTER_DIGEST_SETS_H_
