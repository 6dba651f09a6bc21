// SPDX-License-Identifier: Apache-2.0

#include "report.h"

#include <algorithm>
#include <cstdio>

namespace rowbloom::reads {

std::string Number(const Json& value, const char* format) {
  if (value.is_null()) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), format, value.get<double>());
  return text;
}

std::string Times(const Json& value) {
  return Number(value, !value.is_null() && value.get<double>() < 9.95
                           ? "%.1fx"
                           : "%.0fx");
}

std::string Joined(const Json& numbers, const char* format) {
  std::string text;
  for (const Json& number : numbers) {
    text += (text.empty() ? "" : ", ") + Number(number, format);
  }
  return text;
}

std::string Text(const Json& value) { return value.get<std::string>(); }

void Table::Print(const std::string& title) const {
  std::vector<int> widths(rows_.front().size(), 3);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], static_cast<int>(row[i].size()));
    }
  }
  std::printf("\n%s\n\n", title.c_str());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      std::printf("| %-*s ", widths[i], row[i].c_str());
    }
    std::printf("|\n");
    if (&row != &rows_.front()) continue;
    for (const int width : widths) {
      std::printf("|%s", std::string(width + 2, '-').c_str());
    }
    std::printf("|\n");
  }
}

void PrintLevels(const std::string& title, const Json& levels) {
  Table table({"level", "files", "keys", "data blocks", "data MB"});
  for (const Json& level : levels) {
    table.Add({"L" + Number(level["level"], "%.0f"),
               Number(level["files"], "%.0f"), Number(level["keys"], "%.0f"),
               Number(level["data_blocks"], "%.0f"),
               Number(level["data_bytes"].get<double>() / 1e6, "%.2f")});
  }
  table.Print(title);
}

}  // namespace rowbloom::reads
