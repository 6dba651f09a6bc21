// SPDX-License-Identifier: Apache-2.0
//
// Reads arguments: numbers, hexadecimal bytes, and files of keys.
//
//   verb->add_option("--keys", key_count, "...")->transform(WholeNumber());

#ifndef ROWBLOOM_TOOLS_TEXT_ARGUMENTS_H_
#define ROWBLOOM_TOOLS_TEXT_ARGUMENTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace rowbloom::tools {

// Digits, or a number such as 1e9. A negative, too large or fractional number
// is refused with an error that quotes it. Every option that is stored in an
// unsigned type needs this validator: CLI11 itself reads -1 as the largest
// value of the type. Checks see the digits.
CLI::Validator WholeNumber();
// A rate between 0 and 1.
CLI::Validator ErrorRate();

// Throws CLI::ValidationError, which becomes a usage message about `name`.
std::string FromHex(const char* name, std::string_view hex);

// The keys of a file, one on each line; `name` is the option that names it.
absl::StatusOr<std::vector<std::string>> ReadKeyLines(const char* name,
                                                      const std::string& path,
                                                      bool hex);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_TEXT_ARGUMENTS_H_
