// SPDX-License-Identifier: Apache-2.0
//
// Formats bytes and tables for a terminal.

#ifndef ROWBLOOM_TOOLS_TEXT_OUTPUT_H_
#define ROWBLOOM_TOOLS_TEXT_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "nlohmann/json.hpp"

namespace rowbloom::tools {

// Keeps fields in the order in which they were added: text output follows it.
using Json = nlohmann::ordered_json;

// Null for what is not known or has no meaning, so that no reader uses it as a
// number or a name: an empty optional, a share of nothing, an empty text.
template <class T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}
template <class Dividend, class Divisor>
Json Ratio(Dividend dividend, Divisor divisor) {
  if (divisor == 0) return nullptr;
  return static_cast<double>(dividend) / static_cast<double>(divisor);
}
inline Json OrNull(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}

// Printable ASCII as it is, a backslash doubled, any other byte as \xHH with
// always two digits, so that it can be reversed.
std::string EscapeBytes(std::string_view bytes);

// A path or message for the terminal: control characters as \xHH.
std::string EscapeControls(std::string_view text);

// A field as one word: null as "-", a number in its natural precision, a string
// cut if it has more than `max_width` bytes.
std::string FieldText(const Json& value, size_t max_width);

// "  name  value" lines, one for each scalar field of `entry`, aligned. Keys,
// which can be long, are cut; nothing else is.
std::string FieldLines(const Json& entry);

// ": 2 ok, 1 damaged": the numbers that are not 0; empty if all are.
std::string CountsText(const Json& counts);

// An array of objects with the same fields: a header and a line for each,
// aligned; numbers to the right; longer strings than `max_width` are cut.
std::string Table(const Json& rows, size_t max_width = 60);

// One line on standard error that is rewritten in place, if that is a
// terminal. Clear() before anything else is printed there.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(size_t done, size_t total, std::string_view name);
  // For things that are too many to name.
  void ShowCount(std::string_view what, uint64_t done, uint64_t total);
  void ShowText(const std::string& text);
  void Clear();
  bool on_terminal() const { return on_terminal_; }

 private:
  void Put(const std::string& line);

  const bool on_terminal_;
  bool shown_ = false;
};

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_TEXT_OUTPUT_H_
