// SPDX-License-Identifier: Apache-2.0

#include "hex.h"

#include <algorithm>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "output.h"

namespace rowbloom::tools {

std::string FromHex(const char* name, std::string_view hex) {
  if (hex.size() % 2 != 0) {
    throw CLI::ValidationError(
        name, "an odd number of hexadecimal digits: " + EscapeBytes(hex));
  }
  if (!std::all_of(hex.begin(), hex.end(),
                   [](unsigned char c) { return absl::ascii_isxdigit(c); })) {
    throw CLI::ValidationError(name, "not hexadecimal: " + EscapeBytes(hex));
  }
  return absl::HexStringToBytes(std::string(hex));
}

}  // namespace rowbloom::tools
