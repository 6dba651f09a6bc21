// SPDX-License-Identifier: Apache-2.0
//
// The mixer and the generator of SplitMix64 (Steele, Lea, Flood 2014), which
// give the same numbers on every machine.

#ifndef ROWBLOOM_BENCH_SPLIT_MIX_H_
#define ROWBLOOM_BENCH_SPLIT_MIX_H_

#include <cstdint>

namespace rowbloom::bench {

inline constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15;

// A bijection whose values look random.
inline uint64_t SplitMix(uint64_t x) {
  x += kSplitMixStep;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// The next number of the generator with this state.
inline uint64_t NextSplitMix(uint64_t* state) {
  const uint64_t before = *state;
  *state += kSplitMixStep;
  return SplitMix(before);
}

}  // namespace rowbloom::bench

#endif  // ROWBLOOM_BENCH_SPLIT_MIX_H_
