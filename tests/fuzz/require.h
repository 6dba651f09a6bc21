// SPDX-License-Identifier: Apache-2.0
//
// Ends the process if a property does not hold.

#ifndef ROWBLOOM_TESTS_FUZZ_REQUIRE_H_
#define ROWBLOOM_TESTS_FUZZ_REQUIRE_H_

#include <cstdio>
#include <cstdlib>

#define REQUIRE(condition)                                                  \
  do {                                                                      \
    if (!(condition)) {                                                     \
      std::fprintf(stderr, "%s:%d: property does not hold: %s\n", __FILE__, \
                   __LINE__, #condition);                                   \
      std::abort();                                                         \
    }                                                                       \
  } while (false)

#endif  // ROWBLOOM_TESTS_FUZZ_REQUIRE_H_
