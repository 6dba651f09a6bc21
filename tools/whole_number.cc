// SPDX-License-Identifier: Apache-2.0

#include "whole_number.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/numbers.h"
#include "output.h"

namespace rowbloom::tools {

CLI::Validator WholeNumber() {
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

}  // namespace rowbloom::tools
