// SPDX-License-Identifier: Apache-2.0
//
// A randomised test asks the same in each run, so that a change passes or fails
// for its own reasons. scripts/soak.sh runs it longer, with other seeds:
//
//   ROWBLOOM_OPERATIONS=10000000 reader_test --gtest_filter='FaultsSoak.*'
//       --gtest_random_seed=SEED

#ifndef ROWBLOOM_TESTS_TESTING_SOAK_H_
#define ROWBLOOM_TESTS_TESTING_SOAK_H_

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "gtest/gtest.h"

namespace rowbloom::testing {

// Returns how many operations or lookups the test should do: `ordinary`, unless
// the environment variable says another number.
inline uint64_t Operations(uint64_t ordinary) {
  const char* text = std::getenv("ROWBLOOM_OPERATIONS");
  return text == nullptr ? ordinary : std::strtoull(text, nullptr, 10);
}

// Returns --gtest_random_seed, which is 1 unless it is given.
inline uint32_t TestSeed() {
  const int32_t flag = GTEST_FLAG_GET(random_seed);
  const uint32_t seed = flag != 0 ? static_cast<uint32_t>(flag) : 1;
  std::cout << "to repeat: --gtest_random_seed=" << seed << std::endl;
  return seed;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_SOAK_H_
