// SPDX-License-Identifier: Apache-2.0

#include "hex.h"

#include <algorithm>
#include <fstream>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
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

absl::StatusOr<std::vector<std::string>> ReadKeyLines(const char* name,
                                                      const std::string& path,
                                                      bool hex) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::UnavailableError(path + ": cannot be read");
  std::vector<std::string> keys;
  for (std::string line; std::getline(file, line);) {
    keys.push_back(hex ? FromHex(name, line) : line);
  }
  if (file.bad()) return absl::UnavailableError(path + ": cannot be read");
  return keys;
}

}  // namespace rowbloom::tools
