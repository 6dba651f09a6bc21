// SPDX-License-Identifier: Apache-2.0
//
// Reads arguments: numbers, hexadecimal bytes, and files of keys.
//
//   verb->add_option("--keys", key_count, "...")->transform(WholeNumber());

#ifndef ROWBLOOM_TOOLS_TEXT_ARGUMENTS_H_
#define ROWBLOOM_TOOLS_TEXT_ARGUMENTS_H_

#include <istream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"

namespace rowbloom::tools {

// Prints a line for each option: without ranges, and without what it needs or
// excludes, which errors name.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override;
};

// Digits, or a number such as 1e9. A negative, too large or fractional number
// is refused with an error that quotes it, and so is one with a leading zero:
// the option may be a list, and 1,000 was meant to be a thousand. Every option
// that is stored in an unsigned type needs this validator: CLI11 itself reads
// -1 as the largest value of the type. Checks see the digits.
CLI::Validator WholeNumber();
// A rate between 0 and 1.
CLI::Validator ErrorRate();
// Refuses NaN, which CLI::Range() lets through.
CLI::Validator NotNan();

// An option that takes values with commas between them. Later words are of the
// next argument.
template <class T>
CLI::Option* AddList(CLI::App* verb, const char* name, std::vector<T>* values,
                     const char* text) {
  return verb->add_option(name, *values, text)
      ->delimiter(',')
      ->allow_extra_args(false);
}

// The value, or an error about `option` that CLI11 reports as wrong usage.
template <class T>
T ValueOf(const char* option, absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  throw CLI::ValidationError(option, std::string(value.status().message()));
}

// Throws CLI::ValidationError, which becomes a usage message about `name`.
std::string FromHex(const char* name, std::string_view hex);

// Reads a line and leaves out its end, LF or CR LF. Returns false if the input
// has no more lines.
bool ReadLine(std::istream& in, std::string* line);
// The keys of a file, one on each line; `name` is the option that names it.
absl::StatusOr<std::vector<std::string>> ReadKeyLines(const char* name,
                                                      const std::string& path,
                                                      bool hex);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_TEXT_ARGUMENTS_H_
