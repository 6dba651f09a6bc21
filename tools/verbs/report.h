// SPDX-License-Identifier: Apache-2.0
//
// The common part of the verbs that read files: goes over the files, prints
// each entry as text or as one JSON document, sums up, chooses the exit code.
//
//   Report report{"rowbloom-verify", Ask, Text};
//   return RunReport(report, paths, form);
//
// The JSON document: {"format", "version", "files":
// [{"path", "kind", "status", "error", (the verb's fields)}], (the verb's
// sums), "summary": {"files", "ok", "damaged", "newer", "older", "unknown",
// "unreadable"}}; and if the verb sums up databases, "column_families". Within
// a version fields may be added, never renamed or dropped.

#ifndef ROWBLOOM_TOOLS_VERBS_REPORT_H_
#define ROWBLOOM_TOOLS_VERBS_REPORT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "tools/formats/filter_file.h"
#include "tools/formats/paths.h"

namespace rowbloom::tools {

inline constexpr int kExitOk = 0;
inline constexpr int kExitDamaged = 1;
inline constexpr int kExitUsage = 2;     // Also for files that cannot be read.
inline constexpr int kExitNotKnown = 3;  // Another format, or a newer one.
inline constexpr int kExitOlder = 4;     // Older than what is supported.

inline constexpr int kReportVersion = 1;

struct Report {
  std::string format;
  // Adds the verb's fields to *entry, on error as far as possible.
  std::function<absl::Status(const TargetFile& target, const FilterFile& file,
                             Json* entry)>
      ask;
  // An entry as text that ends in a newline; not called for a file that could
  // not be read.
  std::function<std::string(const Json& entry)> text;
  // Fields of the document that sum up all entries, and their text, which is
  // printed after the entries. May be null.
  std::function<Json(const Json& files)> sum_up;
  std::function<std::string(const Json& files, const Json& sums)> sums_text;
  Json unasked = Json::object();  // The verb's fields of a file not opened.
  std::string unknown_hint;  // Follows the error of a file of no known format.
  bool sums_up_families = false;  // After each column family.
  // Warnings of column families and of files count as damage.
  bool is_strict = false;
  // The array "warnings" names databases with SSTs that no MANIFEST lists.
  bool warns_of_databases = false;
  // The further directories of databases.
  std::vector<std::string> db_paths;
  // The capacity of the block cache with which databases are opened.
  std::optional<uint64_t> block_cache_bytes;
};

// Adds --json and --html to a verb.
struct ReportForm {
  bool json = false;
  std::string html;  // A file for a page with the same numbers; may be empty.
};
void AddReportForm(CLI::App* verb, const std::string& format, ReportForm* form);

// Adds --db_path to a verb.
CLI::Option* AddDbPath(CLI::App* verb, std::vector<std::string>* db_paths);

int RunReport(const Report& report, const std::vector<std::string>& paths,
              const ReportForm& form);

// The exit code for a file.
int ExitCodeOf(const absl::Status& status);
// The exit code for several files: damage outweighs all others, a file that
// cannot be read one that is not known.
int WorseExitCode(int a, int b);

// Prints fields after those that each JSON document begins with.
void PrintDocument(const std::string& format, const Json& fields);

// Prints the document if `form` asks for JSON, and `text` otherwise, and writes
// the page that it asks for. Returns the exit code: `exit_code`, or kExitUsage
// if something cannot be written.
int PrintForm(const ReportForm& form, const std::string& format,
              const Json& fields, const std::string& text, int exit_code);

// The message of an error for the terminal or JSON, and as a line on standard
// error.
std::string ErrorText(const absl::Status& status);
void PrintError(const absl::Status& status);

// Flushes standard output; returns kExitUsage if it cannot be written.
int FlushOutput(int exit_code);

// The path, a line for each scalar field, and, if present, the array `table`
// and the error.
std::string FieldsAndTable(const Json& entry, const char* table);

// Sets "status", and "error" without the entry's "path" in front of it.
void SetStatus(const absl::Status& status, Json* entry);
// "path: status: error" or "path: status".
std::string StatusLine(const Json& entry);
// The same; a note that is not an error follows.
std::string NotedStatusLine(const Json& entry);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_VERBS_REPORT_H_
