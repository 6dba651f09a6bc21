// SPDX-License-Identifier: Apache-2.0
//
// Randomised tests ask the same in each run, so that a change passes or fails
// for its own reasons. For other tests: --gtest_random_seed=$RANDOM.

#ifndef ROWBLOOM_TESTS_ROCKSDB_PLUGIN_TEST_SEED_H_
#define ROWBLOOM_TESTS_ROCKSDB_PLUGIN_TEST_SEED_H_

#include <cstdint>
#include <iostream>

#include "gtest/gtest.h"

namespace rowbloom::testing {

inline uint32_t TestSeed() {
  const int32_t flag = GTEST_FLAG_GET(random_seed);
  const uint32_t seed = flag != 0 ? static_cast<uint32_t>(flag) : 1;
  std::cout << "to repeat: --gtest_random_seed=" << seed << std::endl;
  return seed;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_ROCKSDB_PLUGIN_TEST_SEED_H_
