// SPDX-License-Identifier: Apache-2.0

#include "tools/text/arguments.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "tools/text/output.h"

namespace rowbloom::tools {

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0) return "";  // A flag.
  const std::string type = option->get_type_name();
  std::string text = " " + type.substr(0, type.find(':'));
  std::string value = option->get_default_str();
  if (!value.empty() && value.front() == '[') {
    value = value.substr(1, value.size() - 2);  // A list.
  }
  if (!value.empty()) return text + "=" + value;
  if (option->get_delimiter() != '\0') return text + ",...";
  return text + (option->get_expected_max() > 1 ? "..." : "");
}

CLI::Validator WholeNumber() {
  const auto to_digits = [](std::string& text) -> std::string {
    if (text.size() > 1 && text[0] == '0' && absl::ascii_isdigit(text[1])) {
      return "'" + EscapeControls(text) +
             "' begins with 0, as digits behind a comma do: write 1,000 as "
             "1000 or 1e3";
    }
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

CLI::Validator ErrorRate() {
  const auto check = [](std::string& text) -> std::string {
    float rate = 0;
    if (absl::SimpleAtof(text, &rate) && rate > 0 && rate < 1) return "";
    return "'" + EscapeControls(text) +
           "' is not a rate of more than 0 and less than 1";
  };
  return {check, ""};
}

CLI::Validator NotNan() {
  const auto check = [](std::string& text) -> std::string {
    double number = 0;
    if (!absl::SimpleAtod(text, &number) || !std::isnan(number)) return "";
    return "'" + EscapeControls(text) + "' is not a number";
  };
  return {check, ""};
}

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

bool ReadLine(std::istream& in, std::string* line) {
  if (!std::getline(in, *line)) return false;
  if (!line->empty() && line->back() == '\r') line->pop_back();
  return true;
}

absl::StatusOr<std::vector<std::string>> ReadKeyLines(const char* name,
                                                      const std::string& path,
                                                      bool hex) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::UnavailableError(path + ": cannot be read");
  std::vector<std::string> keys;
  for (std::string line; ReadLine(file, &line);) {
    if (line.empty()) {
      throw CLI::ValidationError(name, EscapeControls(path) + ": line " +
                                           std::to_string(keys.size() + 1) +
                                           " has no key");
    }
    keys.push_back(hex ? FromHex(name, line) : line);
  }
  if (file.bad()) return absl::UnavailableError(path + ": cannot be read");
  return keys;
}

}  // namespace rowbloom::tools
