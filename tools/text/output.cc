// SPDX-License-Identifier: Apache-2.0

#include "tools/text/output.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "tools/platform/platform.h"

namespace rowbloom::tools {
namespace {

constexpr size_t kMaxFieldWidth = 60;

// Appends \xHH for a byte that is escaped, and another as it is.
void AppendByte(char byte, bool is_escaped, std::string* out) {
  if (is_escaped) {
    *out += "\\x" + absl::BytesToHexString({&byte, 1});
  } else {
    out->push_back(byte);
  }
}

void AppendPadded(const std::string& text, size_t width, bool to_the_right,
                  std::string* line) {
  const std::string padding(width - std::min(width, text.size()), ' ');
  line->append("  ");
  line->append(to_the_right ? padding + text : text + padding);
}

void EndLine(std::string* line) {
  line->erase(line->find_last_not_of(' ') + 1);
  line->push_back('\n');
}

}  // namespace

std::string EscapeBytes(std::string_view bytes) {
  std::string escaped;
  for (const char byte : bytes) {
    if (byte == '\\') escaped.push_back('\\');
    AppendByte(byte, !absl::ascii_isprint(static_cast<unsigned char>(byte)),
               &escaped);
  }
  return escaped;
}

std::string EscapeControls(std::string_view text) {
  std::string escaped;
  for (const char byte : text) {
    AppendByte(byte, absl::ascii_iscntrl(static_cast<unsigned char>(byte)),
               &escaped);
  }
  return escaped;
}

std::string FieldText(const Json& value, size_t max_width) {
  if (value.is_null()) return "-";
  if (value.is_number_float()) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.4g", value.get<double>());
    return text;
  }
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (text.empty()) return "\"\"";
  if (text.size() <= max_width) return text;
  return text.substr(0, max_width - 3) + "...";
}

std::string FieldLines(const Json& entry) {
  size_t width = 0;
  for (const auto& [name, value] : entry.items()) {
    if (value.is_primitive()) width = std::max(width, name.size());
  }
  std::string lines;
  for (const auto& [name, value] : entry.items()) {
    if (!value.is_primitive()) continue;
    AppendPadded(name, width, false, &lines);
    const bool is_key = name == "last_key";
    AppendPadded(FieldText(value, is_key ? kMaxFieldWidth : std::string::npos),
                 0, false, &lines);
    EndLine(&lines);
  }
  return lines;
}

std::string CountsText(const Json& counts) {
  std::string text;
  for (const auto& [name, count] : counts.items()) {
    if (count == 0) continue;
    text += (text.empty() ? ": " : ", ") + count.dump() + " " + name;
  }
  return text;
}

std::string Table(const Json& rows, size_t max_width) {
  if (rows.empty()) return "";
  // The longest row has all columns: a damaged chunk may lack some.
  const Json& longest = *std::max_element(
      rows.begin(), rows.end(),
      [](const Json& a, const Json& b) { return a.size() < b.size(); });
  std::vector<std::string> lines(rows.size() + 1);
  for (const auto& [name, example] : longest.items()) {
    std::vector<std::string> column = {name};
    bool is_number = example.is_number();
    for (const Json& row : rows) {
      is_number = is_number || (row.contains(name) && row[name].is_number());
      column.push_back(row.contains(name) ? FieldText(row[name], max_width)
                                          : "?");
    }
    size_t width = 0;
    for (const std::string& text : column) {
      width = std::max(width, text.size());
    }
    for (size_t i = 0; i < column.size(); ++i) {
      AppendPadded(column[i], width, is_number, &lines[i]);
    }
  }
  std::string table;
  for (std::string& line : lines) {
    EndLine(&line);
    table += line;
  }
  return table;
}

ProgressLine::ProgressLine() : on_terminal_(platform::ErrorsAreOnTerminal()) {}

void ProgressLine::Show(size_t done, size_t total, std::string_view name) {
  if (!on_terminal_ || total < 2) return;
  Put("file " + std::to_string(done + 1) + " of " + std::to_string(total) +
      "  " + EscapeControls(name));
}

void ProgressLine::ShowCount(std::string_view what, uint64_t done,
                             uint64_t total) {
  if (!on_terminal_ || total == 0) return;
  Put(std::string(what) + " " + std::to_string(done) + " of " +
      std::to_string(total) + "  " + std::to_string(100 * done / total) + "%");
}

void ProgressLine::ShowText(const std::string& text) {
  if (on_terminal_) Put(text);
}

void ProgressLine::Put(const std::string& line) {
  // Erase the line, and cut it so that it cannot wrap.
  std::fprintf(stderr, "\r\x1b[K%.79s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::Clear() {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace rowbloom::tools
