// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers as arguments: digits, or a number such as 1e9. A negative, too
// large or fractional number is refused with an error that quotes it.
//
//   verb->add_option("--keys", key_count, "...")->transform(WholeNumber());

#ifndef ROWBLOOM_TOOLS_WHOLE_NUMBER_H_
#define ROWBLOOM_TOOLS_WHOLE_NUMBER_H_

#include <cmath>
#include <cstdint>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/numbers.h"
#include "output.h"

namespace rowbloom::tools {

// Every option that is stored in an unsigned type needs this validator: CLI11
// itself reads -1 as the largest value of the type. Checks see the digits.
inline CLI::Validator WholeNumber() {
  const auto to_digits = [](std::string& text) -> std::string {
    uint64_t whole = 0;
    double number = 0;
    if (!absl::SimpleAtoi(text, &whole)) {
      if (!absl::SimpleAtod(text, &number) || !(number >= 0) ||
          number >= 0x1p64 || number != std::floor(number)) {
        return "'" + EscapeControls(text) +
               "' is not a whole number of 0 to 2^64 - 1";
      }
      whole = static_cast<uint64_t>(number);
    }
    text = std::to_string(whole);
    return "";
  };
  return {to_digits, ""};
}

// A rate between 0 and 1.
inline CLI::Validator ErrorRate() {
  const auto check = [](std::string& text) -> std::string {
    float rate = 0;
    if (absl::SimpleAtof(text, &rate) && rate > 0 && rate < 1) return "";
    return "'" + EscapeControls(text) +
           "' is not a rate of more than 0 and less than 1";
  };
  return {check, ""};
}

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_WHOLE_NUMBER_H_
