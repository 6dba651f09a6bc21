// SPDX-License-Identifier: Apache-2.0

#include "run.h"

#include <algorithm>
#include <cstdio>

#include "rocksdb/slice.h"

namespace rowbloom::bench {

std::string Number(const Json& value, const char* format) {
  if (value.is_null()) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), format, value.get<double>());
  return text;
}

std::string Percent(const Json& share) {
  return share.is_null() ? "-" : Number(100 * share.get<double>(), "%.3f%%");
}

std::string Times(const Json& value) {
  return Number(value, !value.is_null() && value.get<double>() < 9.95
                           ? "%.1fx"
                           : "%.0fx");
}

std::string Joined(const Json& numbers, const char* format) {
  std::string text;
  if (numbers.empty()) return "-";
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
    if (level["files"] == 0) continue;
    table.Add({"L" + Number(level["level"], "%.0f"),
               Number(level["files"], "%.0f"), Number(level["keys"], "%.0f"),
               Number(level["data_blocks"], "%.0f"),
               Number(level["data_bytes"].get<double>() / 1e6, "%.2f")});
  }
  table.Print(title);
}

void Answers::Add(bool is_right, std::string_view query, std::string_view key) {
  ++checked_;
  if (is_right || ++wrong_ > 3) return;
  std::fprintf(
      stderr, "\nWRONG ANSWER: %s %s\n", std::string(query).c_str(),
      rocksdb::Slice(key.data(), key.size()).ToString(/*hex=*/true).c_str());
}

void Answers::AddMany(uint64_t checked, uint64_t wrong,
                      std::string_view query) {
  checked_ += checked;
  wrong_ += wrong;
  if (wrong == 0) return;
  std::fprintf(stderr, "\n%llu WRONG ANSWERS: %s\n",
               static_cast<unsigned long long>(wrong),
               std::string(query).c_str());
}

double Quantile(std::vector<double> values, double quantile) {
  std::sort(values.begin(), values.end());
  const double at = quantile * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, values.size() - 1);
  return values[below] +
         (at - static_cast<double>(below)) * (values[above] - values[below]);
}

void Latencies::Add(Clock::time_point start, Clock::time_point end) {
  const std::chrono::nanoseconds took = end - start;
  nanoseconds_.push_back(
      static_cast<uint32_t>(std::min<int64_t>(took.count(), UINT32_MAX)));
}

void Latencies::Add(const Latencies& other) {
  nanoseconds_.insert(nanoseconds_.end(), other.nanoseconds_.begin(),
                      other.nanoseconds_.end());
}

double Latencies::QuantileMicroseconds(double quantile) {
  const auto at = std::min(
      nanoseconds_.size() - 1,
      static_cast<size_t>(quantile * static_cast<double>(nanoseconds_.size())));
  const auto place = nanoseconds_.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(nanoseconds_.begin(), place, nanoseconds_.end());
  return *place / 1000.0;
}

}  // namespace rowbloom::bench
