// SPDX-License-Identifier: Apache-2.0
//
// Numbers by which a run of a test is made longer or repeated.
//
//   const uint64_t lookups =
//       NumberFromEnvironment("ROWBLOOM_SOAK_LOOKUPS", 500000);

#ifndef ROWBLOOM_TESTS_TESTING_ENVIRONMENT_H_
#define ROWBLOOM_TESTS_TESTING_ENVIRONMENT_H_

#include <cstdint>
#include <cstdlib>

namespace rowbloom::testing {

// Returns `fallback` if the environment does not have the variable.
inline uint64_t NumberFromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_ENVIRONMENT_H_
