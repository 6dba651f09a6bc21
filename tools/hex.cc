// SPDX-License-Identifier: Apache-2.0

#include "hex.h"

#include <cctype>

#include "CLI/CLI.hpp"
#include "output.h"

namespace rowbloom::tools {

std::string FromHex(const char* name, std::string_view hex) {
  const auto digit = [&](char c) -> unsigned {
    if (std::isxdigit(static_cast<unsigned char>(c)) == 0) {
      throw CLI::ValidationError(name, "not hexadecimal: " + EscapeBytes(hex));
    }
    if (c <= '9') return static_cast<unsigned>(c - '0');
    return static_cast<unsigned>(std::tolower(c) - 'a') + 10;
  };
  if (hex.size() % 2 != 0) {
    throw CLI::ValidationError(
        name, "an odd number of hexadecimal digits: " + EscapeBytes(hex));
  }
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1])));
  }
  return bytes;
}

}  // namespace rowbloom::tools
