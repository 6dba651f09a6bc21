// SPDX-License-Identifier: Apache-2.0

#include "report.h"

#include <array>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>

#include "output.h"
#include "paths.h"

namespace rowbloom::tools {
namespace {

constexpr std::array<const char*, 5> kStatusWords = {"ok", "damaged", "newer",
                                                     "unknown", "unreadable"};

// See filter_file.h for what the codes mean.
const char* StatusWord(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return "ok";
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kOutOfRange:  // Shorter than it says.
      return "damaged";
    case absl::StatusCode::kUnimplemented:
      return "newer";
    case absl::StatusCode::kInvalidArgument:
      return "unknown";
    default:
      return "unreadable";
  }
}

void SetStatus(const absl::Status& status, Json* entry) {
  (*entry)["status"] = StatusWord(status);
  if (status.ok()) return;
  std::string message(status.message().data(), status.message().size());
  // The path is printed before the message.
  const std::string prefix = entry->at("path").get<std::string>() + ": ";
  if (message.rfind(prefix, 0) == 0) message.erase(0, prefix.size());
  (*entry)["error"] = EscapeControls(message);
}

// nullopt if the file's database has dropped it in the meantime.
std::optional<Json> AskFile(const Report& report, const TargetFile& target) {
  Json entry{{"path", EscapeControls(ShownPath(target.path))}};
  absl::Status status = target.error;
  std::unique_ptr<FilterFile> file;
  if (status.ok()) {
    absl::StatusOr<std::unique_ptr<FilterFile>> opened =
        OpenFilterFile(target.path);
    status = opened.status();
    if (opened.ok()) file = *std::move(opened);
  }
  entry["kind"] = file == nullptr ? Json() : Json(std::string(file->kind()));
  if (target.level.has_value()) entry["level"] = *target.level;
  if (file == nullptr) {
    if (target.family != nullptr) {
      status = target.family->AddUnopened(target, status);
    }
    SetStatus(status, &entry);
    entry.update(report.unasked);
  } else {
    SetStatus(status, &entry);
    status = report.ask(target, *file, &entry);
    SetStatus(status, &entry);
  }
  if (target.family != nullptr && absl::IsNotFound(status)) return std::nullopt;
  return entry;
}

std::string SummaryLine(const Json& summary) {
  std::string line = summary["files"].dump() + " files";
  const char* separator = ": ";
  for (const char* word : kStatusWords) {
    if (summary[word] == 0) continue;
    line += separator + summary[word].dump() + " " + word;
    separator = ", ";
  }
  return line + "\n";
}

}  // namespace

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

void PrintDocument(const std::string& format, const Json& fields) {
  Json document{{"format", format}, {"version", kReportVersion}};
  document.update(fields);
  // Paths need not be UTF-8; JSON must be.
  std::cout << document.dump(2, ' ', false, Json::error_handler_t::replace)
            << "\n";
}

int FlushOutput(int exit_code) {
  std::cout.flush();
  if (std::cout) return exit_code;
  std::cerr << "rowbloom: cannot write to standard output\n";
  return kExitUsage;
}

int RunReport(const Report& report, const std::vector<std::string>& paths,
              bool as_json) {
  const std::vector<TargetFile> targets = ExpandPaths(paths);
  Json summary{{"files", 0}};
  for (const char* word : kStatusWords) summary[word] = 0;
  Json files = Json::array();
  Json families = Json::array();
  bool any_damaged = false;
  bool any_unreadable = false;

  const auto count = [&](Json entry) {
    const std::string status = entry["status"];
    summary["files"] = summary["files"].get<uint64_t>() + 1;
    summary[status] = summary[status].get<uint64_t>() + 1;
    if (status == "unreadable") {
      any_unreadable = true;
      std::cerr << "rowbloom: " << StatusLine(entry);
    } else if (status != "ok") {
      any_damaged = true;
    }
    if (as_json) {
      files.push_back(std::move(entry));
    } else if (status == "unknown") {
      std::cout << StatusLine(entry);
    } else if (status != "unreadable") {
      std::cout << report.text(entry) << std::flush;
    }
  };

  ProgressLine progress;
  for (size_t i = 0; i < targets.size(); ++i) {
    progress.Show(i, targets.size(), targets[i].path);
    std::optional<Json> entry = AskFile(report, targets[i]);
    progress.Clear();
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
    if (report.block_cache_bytes.has_value()) {
      family->SetBlockCache(*report.block_cache_bytes);
    }
    families.push_back(family->Summary());
    if (!as_json) std::cout << family->SummaryText() << std::flush;
    if (report.is_strict && !families.back()["warnings"].empty()) {
      any_damaged = true;
    }
  }

  if (as_json) {
    Json document = report.header;
    document["files"] = std::move(files);
    if (report.sums_up_families) {
      document["column_families"] = std::move(families);
    }
    document["summary"] = std::move(summary);
    PrintDocument(report.format, document);
  } else if (targets.size() != 1) {
    std::cout << SummaryLine(summary);
  }
  if (any_damaged) return FlushOutput(kExitDamaged);
  return FlushOutput(any_unreadable ? kExitUsage : kExitOk);
}

}  // namespace rowbloom::tools
