// SPDX-License-Identifier: Apache-2.0
//
// Reads bytes that are given as hexadecimal digits, and files of keys.

#ifndef ROWBLOOM_TOOLS_HEX_H_
#define ROWBLOOM_TOOLS_HEX_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace rowbloom::tools {

// Throws CLI::ValidationError, which becomes a usage message about `name`.
std::string FromHex(const char* name, std::string_view hex);

// The keys of a file, one on each line; `name` is the option that names it.
absl::StatusOr<std::vector<std::string>> ReadKeyLines(const char* name,
                                                      const std::string& path,
                                                      bool hex);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_HEX_H_
