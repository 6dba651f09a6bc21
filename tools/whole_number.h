// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers as arguments: digits, or a number such as 1e9. A negative, too
// large or fractional number is refused with an error that quotes it.
//
//   verb->add_option("--keys", key_count, "...")->transform(WholeNumber());

#ifndef ROWBLOOM_TOOLS_WHOLE_NUMBER_H_
#define ROWBLOOM_TOOLS_WHOLE_NUMBER_H_

#include "CLI/CLI.hpp"

namespace rowbloom::tools {

// Every option that is stored in an unsigned type needs this validator: CLI11
// itself reads -1 as the largest value of the type. Checks see the digits.
CLI::Validator WholeNumber();

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_WHOLE_NUMBER_H_
