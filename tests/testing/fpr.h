// SPDX-License-Identifier: Apache-2.0
//
// Bounds on a measured false positive rate, with their confidence.
//
//   EXPECT_TRUE(WithinBinomialBound(false_positives, lookups, rate, 0.03));

#ifndef ROWBLOOM_TESTS_TESTING_FPR_H_
#define ROWBLOOM_TESTS_TESTING_FPR_H_

#include <cmath>
#include <cstdint>

#include "gtest/gtest.h"
#include "testing/keys.h"

namespace rowbloom::testing {

// The standard deviations of a binomial distribution on either side.
struct Confidence {
  double deviations;
  const char* name;
};
inline constexpr Confidence k999{3.291, "99.9%"};
inline constexpr Confidence k9999{3.891, "99.99%"};

// Succeeds if a true rate within `model_error` (relative) of `expected_rate`
// explains the count; allows one count more, either way, for its discreteness.
inline ::testing::AssertionResult WithinBinomialBound(
    uint64_t count, uint64_t trials, double expected_rate, double model_error,
    Confidence confidence = k9999) {
  const double n = static_cast<double>(trials);
  const auto deviation = [n, confidence](double rate) {
    return confidence.deviations * std::sqrt(n * rate * (1 - rate)) + 1;
  };
  const double low_rate = expected_rate * (1 - model_error);
  const double high_rate = std::fmin(1, expected_rate * (1 + model_error));
  const double low = n * low_rate - deviation(low_rate);
  const double high = n * high_rate + deviation(high_rate);
  const double observed = static_cast<double>(count);
  if (observed >= low && observed <= high) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure()
         << count << " of " << trials << " is outside " << low << " to " << high
         << ", " << confidence.name << " around the expected rate "
         << expected_rate;
}

// Returns how many of this many random digests look present.
template <typename Filter>
uint64_t CountPositives(const Filter& filter, uint64_t lookups,
                        Random* random) {
  uint64_t positives = 0;
  for (uint64_t i = 0; i < lookups; ++i) {
    positives += filter.MayContain(KeyDigest{(*random)()});
  }
  return positives;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_FPR_H_
