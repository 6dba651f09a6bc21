// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers as arguments: digits, or a number such as 1e9. One that is
// negative, too large or a fraction is refused by its own text.
//
//   verb->add_option("--keys", key_count, "...")->transform(WholeNumber());

#ifndef ROWBLOOM_TOOLS_WHOLE_NUMBER_H_
#define ROWBLOOM_TOOLS_WHOLE_NUMBER_H_

#include "CLI/CLI.hpp"

namespace rowbloom::tools {

// For every option that is stored in an unsigned type: CLI11 by itself takes
// -1 for the largest value of the type. Checks see the digits.
CLI::Validator WholeNumber();

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_WHOLE_NUMBER_H_
