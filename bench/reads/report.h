// SPDX-License-Identifier: Apache-2.0
//
// Tables on stdout, and the numbers of JSON results in them.
//
//   Table table({"policy", "bits per key"});
//   for (const Json& run : runs)
//     table.Add({Text(run["policy"]), Number(run["bits_per_key"], "%.2f")});
//   table.Print("Policies at equal memory");

#ifndef ROWBLOOM_BENCH_READS_REPORT_H_
#define ROWBLOOM_BENCH_READS_REPORT_H_

#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace rowbloom::reads {

using Json = nlohmann::ordered_json;

// Null is "-".
std::string Number(const Json& value, const char* format);
// A ratio, as "7.0x" or "19x".
std::string Times(const Json& value);
// Numbers with commas between them.
std::string Joined(const Json& numbers, const char* format);
std::string Text(const Json& value);

// A Markdown table with columns of equal width.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}

  void Add(std::vector<std::string> cells) {
    rows_.push_back(std::move(cells));
  }
  void Print(const std::string& title) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// The levels of a tree as LevelsJson() has them.
void PrintLevels(const std::string& title, const Json& levels);

}  // namespace rowbloom::reads

#endif  // ROWBLOOM_BENCH_READS_REPORT_H_
