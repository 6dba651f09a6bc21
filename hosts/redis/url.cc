// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "rowbloom/redis/connection.h"
#include "util/absl_view.h"

namespace rowbloom {

namespace {

constexpr std::string_view kTcp = "redis://";
constexpr std::string_view kUnix = "unix://";

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

// The text before the separator, which is removed with it; all of it if there
// is none.
std::string_view Cut(std::string_view* text, char separator) {
  const size_t end = text->find(separator);
  const std::string_view before = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return before;
}

// %HH as the byte; other text as it is.
std::string Unescaped(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view hex = text.substr(i + 1, 2);
    if (text[i] == '%' && hex.size() == 2 &&
        hex.find_first_not_of("0123456789abcdefABCDEF") ==
            std::string_view::npos) {
      bytes += absl::HexStringToBytes(util::AbslView(hex));
      i += 2;
    } else {
      bytes.push_back(text[i]);
    }
  }
  return bytes;
}

absl::Status Wrong(std::string_view what) {
  // Without the URL, which may hold a password.
  return absl::InvalidArgumentError(
      absl::StrCat("redis URL: ", util::AbslView(what),
                   "; expected redis://[[USER]:PASSWORD@]HOST[:PORT]/NAME or "
                   "unix:///PATH?name=NAME, then ?db=N&timeout_ms=N"));
}

absl::Status ParseParameters(std::string_view text, RedisAddress* address) {
  while (!text.empty()) {
    std::string_view value = Cut(&text, '&');
    const std::string_view key = Cut(&value, '=');
    int number = 0;
    const bool is_number = absl::SimpleAtoi(util::AbslView(value), &number);
    if (key == "db" && is_number && number >= 0) {
      address->options.database = number;
    } else if (key == "timeout_ms" && is_number && number > 0) {
      address->options.timeout = std::chrono::milliseconds(number);
      address->options.connect_timeout = address->options.timeout;
    } else if (key == "name" && !address->options.unix_socket.empty()) {
      address->name = Unescaped(value);
    } else {
      return Wrong("a parameter is unknown, or its value is wrong");
    }
  }
  return absl::OkStatus();
}

// [[USER]:PASSWORD@]HOST[:PORT]; HOST may be an IPv6 address in brackets.
absl::Status ParseAuthority(std::string_view text, RedisOptions* options) {
  if (const size_t at = text.rfind('@'); at != std::string_view::npos) {
    std::string_view password = text.substr(0, at);
    options->user = Unescaped(Cut(&password, ':'));
    options->password = Unescaped(password);
    if (options->password.empty()) return Wrong("no password before the @");
    text.remove_prefix(at + 1);
  }
  const bool is_bracketed = StartsWith(text, "[");
  if (is_bracketed) text.remove_prefix(1);
  const size_t host_size = text.find(is_bracketed ? ']' : ':');
  options->host = std::string(text.substr(0, host_size));
  if (options->host.empty() ||
      (is_bracketed && host_size == std::string_view::npos)) {
    return Wrong("no host");
  }
  text.remove_prefix(std::min(text.size(), host_size));
  if (is_bracketed) Cut(&text, ']');
  if (!text.empty() &&
      (Cut(&text, ':').size() > 0 ||
       !absl::SimpleAtoi(util::AbslView(text), &options->port) ||
       options->port < 1 || options->port > 65535)) {
    return Wrong("the port is not a number from 1 to 65535");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RedisAddress> ParseRedisUrl(std::string_view url) {
  const bool is_tcp = StartsWith(url, kTcp);
  if (!is_tcp && !StartsWith(url, kUnix)) {
    return Wrong("it does not begin with redis:// or unix://");
  }
  url.remove_prefix(is_tcp ? kTcp.size() : kUnix.size());
  RedisAddress address;
  std::string_view target = Cut(&url, '?');
  if (is_tcp) {
    const std::string_view authority = Cut(&target, '/');
    // A part of the password would be taken for the name.
    if (target.find('@') != std::string_view::npos ||
        url.find('@') != std::string_view::npos) {
      return Wrong(
          "an @ after the server: a password has %2F for /, %3F for ? and %40 "
          "for @, and a name has %40");
    }
    const absl::Status status = ParseAuthority(authority, &address.options);
    if (!status.ok()) return status;
    address.name = Unescaped(target);
  } else {
    address.options.unix_socket = Unescaped(target);
    if (target.empty()) return Wrong("no path of a socket");
  }
  const absl::Status status = ParseParameters(url, &address);
  if (!status.ok()) return status;
  if (address.name.empty()) return Wrong("no name of a key");
  return address;
}

}  // namespace rowbloom
