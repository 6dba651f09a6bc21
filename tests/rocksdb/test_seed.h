// SPDX-License-Identifier: Apache-2.0
//
// Randomised tests print their seed; --gtest_random_seed=N runs it again.

#ifndef ROWBLOOM_TESTS_ROCKSDB_TEST_SEED_H_
#define ROWBLOOM_TESTS_ROCKSDB_TEST_SEED_H_

#include <cstdint>
#include <iostream>
#include <random>

#include "gtest/gtest.h"

namespace rowbloom::testing {

inline uint32_t TestSeed() {
  const int32_t flag = GTEST_FLAG_GET(random_seed);
  // Within the range that the flag accepts.
  const uint32_t seed = flag != 0 ? static_cast<uint32_t>(flag)
                                  : std::random_device()() % 99999 + 1;
  std::cout << "to repeat: --gtest_random_seed=" << seed << std::endl;
  return seed;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_TEST_SEED_H_
