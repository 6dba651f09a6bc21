// SPDX-License-Identifier: Apache-2.0
//
// Reads bytes that are given as hexadecimal digits.

#ifndef ROWBLOOM_TOOLS_HEX_H_
#define ROWBLOOM_TOOLS_HEX_H_

#include <string>
#include <string_view>

namespace rowbloom::tools {

// Throws CLI::ValidationError, which becomes a usage message about `name`.
std::string FromHex(const char* name, std::string_view hex);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_HEX_H_
