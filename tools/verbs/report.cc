// SPDX-License-Identifier: Apache-2.0

#include "tools/verbs/report.h"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "tools/formats/paths.h"
#include "tools/text/html.h"
#include "tools/text/output.h"

namespace rowbloom::tools {
namespace {

constexpr const char* kStatusWords[] = {"ok",    "damaged", "newer",
                                        "older", "unknown", "unreadable"};

struct StatusClass {
  const char* word;
  int exit_code;
};

// See filter_file.h for what the codes mean.
StatusClass ClassOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return {"ok", kExitOk};
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kOutOfRange:  // Shorter than it says.
      return {"damaged", kExitDamaged};
    case absl::StatusCode::kUnimplemented:
      if (IsOlder(status)) return {"older", kExitOlder};
      return {"newer", kExitNotKnown};
    case absl::StatusCode::kInvalidArgument:
      return {"unknown", kExitNotKnown};
    default:
      return {"unreadable", kExitUsage};
  }
}

// nullopt if the file's database has dropped it in the meantime.
std::optional<Json> AskFile(const Report& report, const TargetFile& target,
                            int* exit_code) {
  Json entry{{"path", EscapeControls(ShownPath(target.path))}};
  absl::Status status = target.error;
  std::unique_ptr<FilterFile> file;
  if (status.ok()) {
    absl::StatusOr<std::unique_ptr<FilterFile>> opened =
        OpenFilterFile(target.path, target.place);
    status = opened.status();
    if (opened.ok()) {
      file = *std::move(opened);
    } else if (absl::IsInvalidArgument(status)) {
      status = absl::InvalidArgumentError(std::string(status.message()) +
                                          report.unknown_hint);
    }
  }
  entry["kind"] = file == nullptr ? Json() : Json(std::string(file->kind()));
  if (target.level.has_value()) entry["level"] = *target.level;
  if (file == nullptr && target.family != nullptr) {
    status = target.family->AddUnopened(target, status);
  }
  SetStatus(status, &entry);
  if (file == nullptr) {
    entry.update(report.unasked);
  } else {
    status = report.ask(target, *file, &entry);
    SetStatus(status, &entry);
  }
  if (target.family != nullptr && absl::IsNotFound(status)) return std::nullopt;
  *exit_code = WorseExitCode(*exit_code, ExitCodeOf(status));
  return entry;
}

Json Document(const std::string& format, const Json& fields) {
  Json document{{"format", format}, {"version", kReportVersion}};
  document.update(fields);
  return document;
}

}  // namespace

int ExitCodeOf(const absl::Status& status) { return ClassOf(status).exit_code; }

int WorseExitCode(int a, int b) {
  return a == kExitOk || b == kExitOk ? std::max(a, b) : std::min(a, b);
}

void SetStatus(const absl::Status& status, Json* entry) {
  (*entry)["status"] = ClassOf(status).word;
  if (status.ok()) return;
  std::string message = WithoutPasswords(std::string(status.message()));
  // The path is printed before the message.
  const std::string prefix = entry->at("path").get<std::string>() + ": ";
  if (message.rfind(prefix, 0) == 0) message.erase(0, prefix.size());
  (*entry)["error"] = EscapeControls(message);
}

std::string FieldsAndTable(const Json& entry, const char* table) {
  Json fields = entry;
  fields.erase("path");
  fields.erase("error");  // Below, in full.
  std::string text = entry["path"].get<std::string>() + "\n";
  text += FieldLines(fields);
  if (entry.contains(table)) text += Table(entry[table]);
  if (entry.contains("error")) text += StatusLine(entry);
  return text;
}

std::string StatusLine(const Json& entry) {
  std::string line = entry["path"].get<std::string>() + ": " +
                     entry["status"].get<std::string>();
  if (entry.contains("error")) line += ": " + entry["error"].get<std::string>();
  return line + "\n";
}

std::string NotedStatusLine(const Json& entry) {
  std::string line = StatusLine(entry);
  // The warnings of a database's SSTs follow for all of them together.
  if (entry.contains("warning") && !entry.contains("level")) {
    line += "warning: " + entry["warning"].get<std::string>() + "\n";
  }
  if (!entry.contains("note")) return line;
  line.pop_back();
  line += ", ";
  if (entry.contains("filter")) {
    line += "filter " + entry["filter"].get<std::string>() + ": ";
  }
  return line + entry["note"].get<std::string>() + "\n";
}

void PrintDocument(const std::string& format, const Json& fields) {
  // Paths need not be UTF-8; JSON must be.
  std::cout << Document(format, fields)
                   .dump(2, ' ', false, Json::error_handler_t::replace)
            << "\n";
}

void AddReportForm(CLI::App* verb, const std::string& format,
                   ReportForm* form) {
  verb->add_flag("--json", form->json, "Print JSON (" + format + ")");
  verb->add_option("--html", form->html,
                   "Also write a page for a browser to this file")
      ->check([](const std::string& path) {
        return std::string(CheckHtmlPath(path).message());
      });
}

CLI::Option* AddDbPath(CLI::App* verb, std::vector<std::string>* db_paths) {
  return verb
      ->add_option("--db_path", *db_paths,
                   "A directory of db_paths or cf_paths with which the "
                   "program opens its database")
      ->allow_extra_args(false)
      ->check(CLI::ExistingDirectory);
}

int PrintForm(const ReportForm& form, const std::string& format,
              const Json& fields, const std::string& text, int exit_code) {
  if (form.json) {
    PrintDocument(format, fields);
  } else {
    std::cout << text;
  }
  exit_code = FlushOutput(exit_code);
  if (form.html.empty()) return exit_code;
  const absl::Status written =
      WriteHtmlPage(Document(format, fields), form.html);
  if (written.ok()) return exit_code;
  PrintError(written);
  return kExitUsage;
}

std::string ErrorText(const absl::Status& status) {
  return EscapeControls(WithoutPasswords(std::string(status.message())));
}

void PrintError(const absl::Status& status) {
  std::cerr << "rowbloom: " << ErrorText(status) << "\n";
}

int FlushOutput(int exit_code) {
  std::cout.flush();
  if (std::cout) return exit_code;
  std::cerr << "rowbloom: cannot write to standard output\n";
  return kExitUsage;
}

int RunReport(const Report& report, const std::vector<std::string>& paths,
              const ReportForm& form) {
  std::vector<std::string> warnings;
  const std::vector<TargetFile> targets = ExpandPaths(
      paths, report.db_paths, report.warns_of_databases ? &warnings : nullptr);
  Json summary{{"files", 0}};
  for (const char* word : kStatusWords) summary[word] = 0;
  Json files = Json::array();
  Json families = Json::array();
  int exit_code = kExitOk;
  const bool keeps_files = form.json || !form.html.empty();
  // In a tree of HFiles, files that are not known and that HBase names
  // otherwise are no trouble.
  int stray_exit_code = kExitOk;
  bool has_hfile = false;

  const auto count = [&](Json entry) {
    const std::string status = entry["status"];
    summary["files"] = summary["files"].get<uint64_t>() + 1;
    summary[status] = summary[status].get<uint64_t>() + 1;
    if (status == "unreadable") {
      std::cerr << "rowbloom: " << StatusLine(entry);
    } else if (!form.json) {
      std::cout << (status == "unknown" ? StatusLine(entry)
                                        : report.text(entry))
                << std::flush;
    }
    if (keeps_files || report.sum_up) files.push_back(std::move(entry));
  };

  ProgressLine progress;
  for (size_t i = 0; i < targets.size(); ++i) {
    progress.Show(i, targets.size(), ShownPath(targets[i].path));
    int file_exit_code = kExitOk;
    std::optional<Json> entry = AskFile(report, targets[i], &file_exit_code);
    progress.Clear();
    const bool is_stray = entry.has_value() && IsStray(targets[i]) &&
                          (*entry)["status"] == "unknown";
    int& sum = is_stray ? stray_exit_code : exit_code;
    sum = WorseExitCode(sum, file_exit_code);
    has_hfile |= entry.has_value() && (*entry)["kind"] == "hfile";
    if (report.is_strict && entry.has_value() && entry->contains("warning")) {
      exit_code = kExitDamaged;
    }
    if (entry.has_value()) {
      count(*std::move(entry));
    } else {
      std::cerr << "rowbloom: " << EscapeControls(targets[i].path)
                << ": gone since it was listed, and no longer needed\n";
    }

    ColumnFamily* family = targets[i].family.get();
    const bool is_last_of_family =
        family != nullptr &&
        (i + 1 == targets.size() || targets[i + 1].family.get() != family);
    if (!report.sums_up_families || !is_last_of_family) continue;
    families.push_back(family->Summary(report.block_cache_bytes));
    if (!form.json) std::cout << family->TextOf(families.back()) << std::flush;
    if (report.is_strict && !families.back()["warnings"].empty()) {
      exit_code = kExitDamaged;
    }
  }

  if (!has_hfile) exit_code = WorseExitCode(exit_code, stray_exit_code);
  Json document = Json::object();
  std::string text;
  const Json sums = report.sum_up ? report.sum_up(files) : Json::object();
  if (report.sum_up) text = report.sums_text(files, sums);
  for (std::string& warning : warnings) {
    warning = EscapeControls(warning);
    text += "warning: " + warning + "\n";
    if (report.is_strict) exit_code = kExitDamaged;
  }
  if (targets.size() != 1) {
    Json counts = summary;
    counts.erase("files");
    text += summary["files"].dump() + " files" + CountsText(counts) + "\n";
  }
  document["files"] = std::move(files);
  if (report.sums_up_families) {
    document["column_families"] = std::move(families);
  }
  document.update(sums);
  if (!warnings.empty()) document["warnings"] = warnings;
  document["summary"] = std::move(summary);
  return PrintForm(form, report.format, document, text, exit_code);
}

}  // namespace rowbloom::tools
