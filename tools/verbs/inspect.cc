// SPDX-License-Identifier: Apache-2.0
//
// rowbloom inspect: prints the properties that filters store.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/text/output.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {
namespace {

// The columns of --brief that are summed up.
constexpr const char* kSums[] = {"file_bytes", "cells", "filter_bytes"};

// The line of a file.
Json BriefRow(const Json& entry) {
  const Json file_bytes = entry.value("file_size_bytes", Json());
  const Json filter_bytes = entry.value("filter_size_bytes", Json());
  const bool has_share = filter_bytes.is_number() && file_bytes.is_number();
  return {{"path", entry["path"]},
          {"kind", entry["kind"]},
          {"status", entry["status"]},
          {"file_bytes", file_bytes},
          {"rows", entry.value("row_count", Json())},
          {"cells", entry.value("cell_count", Json())},
          {"bloom_type", entry.value("bloom_type", Json())},
          {"filter_bytes", filter_bytes},
          {"share", has_share ? Ratio(filter_bytes.get<uint64_t>(),
                                      file_bytes.get<uint64_t>())
                              : Json()},
          {"expected_fpr", entry.value("expected_fpr", Json())},
          {"hbase", entry.value("usable_in_hbase", Json())}};
}

bool IsUsable(const Json& entry) {
  const Json filter = entry.value("filter", Json());
  const bool is_refused =
      filter.is_string() && filter.get<std::string>().rfind("none", 0) == 0;
  return entry["status"] == "ok" &&
         (entry["bloom_type"] == "NONE" || !is_refused);
}

// Sums by bloom type over the files that have one.
Json TotalsByType(const Json& files) {
  Json totals = Json::array();
  for (const Json& entry : files) {
    const Json row = BriefRow(entry);
    const Json& type = row["bloom_type"];
    if (!type.is_string()) continue;
    auto total = std::find_if(
        totals.begin(), totals.end(),
        [&](const Json& other) { return other["bloom_type"] == type; });
    if (total == totals.end()) {
      totals.push_back({{"bloom_type", type}, {"files", 0}, {"unusable", 0}});
      total = totals.end() - 1;
      for (const char* sum : kSums) (*total)[sum] = 0;
    }
    const auto add = [&](const char* sum, uint64_t value) {
      (*total)[sum] = (*total)[sum].get<uint64_t>() + value;
    };
    add("files", 1);
    add("unusable", IsUsable(entry) ? 0 : 1);
    for (const char* sum : kSums) {
      if (row[sum].is_number()) add(sum, row[sum].get<uint64_t>());
    }
  }
  return totals;
}

std::string BriefText(const Json& files, const Json& sums) {
  Json rows = Json::array();
  for (const Json& entry : files) rows.push_back(BriefRow(entry));
  return Table(rows, std::string::npos) + Table(sums["totals"]);
}

std::string FileInfoText(const Json& info) {
  Json rows = Json::array();
  for (const auto& [name, value] : info.items()) {
    rows.push_back(
        {{"file_info", name},
         {"value", value.is_structured() ? Json(value.dump()) : value}});
  }
  return Table(rows);
}

struct InspectArguments {
  std::vector<std::string> paths;
  std::vector<std::string> db_paths;
  bool brief = false;
  bool cells = false;
  bool blocks = false;
  ReportForm form;
};

int RunInspect(const InspectArguments& arguments) {
  Report report;
  report.format = "rowbloom-inspect";
  report.warns_of_databases = true;
  report.db_paths = arguments.db_paths;
  report.ask = [&](const TargetFile&, const FilterFile& file, Json* entry) {
    absl::Status status = file.Inspect(entry);
    if (arguments.blocks) status.Update(file.InspectBlocks(entry));
    if (arguments.cells && status.ok()) status = file.InspectCells(entry);
    return status;
  };
  report.text = [](const Json& entry) {
    std::string text = FieldsAndTable(entry, "chunks");
    if (entry.contains("cell_sizes")) text += Table(entry["cell_sizes"]);
    if (entry.contains("file_info")) text += FileInfoText(entry["file_info"]);
    if (entry.contains("blocks")) text += Table(entry["blocks"]);
    return text;
  };
  if (arguments.brief) {
    report.text = [](const Json& entry) {
      return entry["status"] == "ok" ? "" : StatusLine(entry);
    };
    report.sum_up = [](const Json& files) {
      return Json{{"totals", TotalsByType(files)}};
    };
    report.sums_text = BriefText;
  }
  return RunReport(report, arguments.paths, arguments.form);
}

}  // namespace

void AddInspect(CLI::App* app, int* exit_code) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* verb = app->add_subcommand(
      "inspect", "Show properties, chunks and expected false positive rates");
  verb->add_option("PATH", arguments->paths,
                   "Filter blocks, SSTs, HFiles, saved mem filters, "
                   "directories of them, or URLs of filters in Redis")
      ->required();
  verb->add_flag("--brief", arguments->brief,
                 "A line for each file, and sums by bloom type");
  verb->add_flag("--cells", arguments->cells,
                 "Also read the cells of HFiles, to count rows and the columns "
                 "that are always maybe");
  verb->add_flag("--blocks", arguments->blocks,
                 "Also list the blocks of HFiles, by their headers");
  AddDbPath(verb, &arguments->db_paths);
  AddReportForm(verb, "rowbloom-inspect", &arguments->form);
  verb->callback(
      [arguments, exit_code] { *exit_code = RunInspect(*arguments); });
}

}  // namespace rowbloom::tools
