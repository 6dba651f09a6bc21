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

namespace rowbloom::testing {

// Whether a true rate within `model_error` (relative) of `expected_rate`
// explains the count at 99.99% confidence: 3.9 standard deviations of the
// binomial distribution on either side, and one count for its discreteness.
inline ::testing::AssertionResult WithinBinomialBound(uint64_t count,
                                                      uint64_t trials,
                                                      double expected_rate,
                                                      double model_error) {
  constexpr double kDeviations = 3.9;
  const double n = static_cast<double>(trials);
  const auto deviation = [n](double rate) {
    return kDeviations * std::sqrt(n * rate * (1 - rate)) + 1;
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
         << ", 99.99% around the expected rate " << expected_rate;
}

}  // namespace rowbloom::testing

#endif  // ROWBLOOM_TESTS_TESTING_FPR_H_
