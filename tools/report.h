// SPDX-License-Identifier: Apache-2.0
//
// What the verbs that ask files have in common: go over the files, print what
// each says as text or as one JSON document, sum up, choose the exit code.
//
//   Report report{"rowbloom-verify", Ask, Text};
//   return RunReport(report, paths, as_json);
//
// The JSON document: {"format", "version", (report.header's fields), "files":
// [{"path", "kind", "status", "error", (the verb's fields)}], "summary":
// {"files", "ok", "damaged", "newer", "unknown", "unreadable"}}; and where the
// verb sums up databases, "column_families". Fields are added to it within a
// version, never renamed or dropped.

#ifndef ROWBLOOM_TOOLS_REPORT_H_
#define ROWBLOOM_TOOLS_REPORT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "filter_file.h"
#include "paths.h"

namespace rowbloom::tools {

inline constexpr int kExitOk = 0;
inline constexpr int kExitDamaged = 1;
inline constexpr int kExitUsage = 2;  // And files that cannot be read.

inline constexpr int kReportVersion = 1;

struct Report {
  std::string format;
  // Adds the verb's fields to *entry, on error as far as it got.
  std::function<absl::Status(const TargetFile& target, const FilterFile& file,
                             Json* entry)>
      ask;
  // An entry as text, ending in a newline; not called for what could not be
  // read.
  std::function<std::string(const Json& entry)> text;
  Json header = Json::object();   // Of the whole report.
  Json unasked = Json::object();  // The verb's fields of a file not opened.
  bool sums_up_families = false;  // Behind the files of each column family.
  // Warnings of column families count as damage.
  bool is_strict = false;
  // The capacity of the block cache that databases are opened with.
  std::optional<uint64_t> block_cache_bytes;
};

int RunReport(const Report& report, const std::vector<std::string>& paths,
              bool as_json);

// Flushes standard output: kExitUsage if it cannot be written.
int FlushOutput(int exit_code);

// The path, a line for each scalar field, the array `table`, the error; of the
// last two, what there is.
std::string FieldsAndTable(const Json& entry, const char* table);

// "path: status: error" or "path: status".
std::string StatusLine(const Json& entry);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_REPORT_H_
