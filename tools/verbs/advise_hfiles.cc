// SPDX-License-Identifier: Apache-2.0
//
// rowbloom advise on HFiles: the size of other filters over their cells, and
// what gets would read, summed by column family.

#include "rowbloom/hfile_writer.h"
#include "tools/hbase/family_plans.h"
#include "tools/text/arguments.h"
#include "tools/verbs/advise.h"
#include "tools/verbs/report.h"

namespace rowbloom::tools {

int AdviseHFiles(const AdviseArguments& arguments) {
  // Before any cell is read.
  for (const int64_t chunk_size : arguments.hfiles.chunk_sizes) {
    for (const float rate : arguments.hfiles.error_rates) {
      for (const BloomType type : {BloomType::kRow, BloomType::kRowCol}) {
        HFileWriterOptions options;
        options.bloom_type = type;
        options.error_rate = rate;
        options.chunk_size_bytes = chunk_size;
        ValueOf("--chunk_size, --error_rate", PlanHFileFilter(options, 1));
      }
    }
  }
  FamilyPlans families(
      arguments.missing_share.value_or(GetCostOptions().missing_share),
      arguments.column_share);
  PlanQuestion question = arguments.hfiles;
  question.families = &families;
  Report report;
  report.format = "rowbloom-advise";
  report.unknown_hint = "; if it is a file of keys, give their --key_codec";
  report.ask = [&](const TargetFile& target, const FilterFile& file,
                   Json* entry) {
    question.path = target.path;
    return file.Plan(question, entry);
  };
  report.text = [](const Json& entry) {
    return entry["status"] == "ok" && !entry.contains("note")
               ? ""
               : NotedStatusLine(entry);
  };
  report.sum_up = [&](const Json&) { return families.Sums(); };
  report.sums_text = [&](const Json&, const Json& sums) {
    return families.Text(sums);
  };
  return RunReport(report, arguments.paths, arguments.form);
}

}  // namespace rowbloom::tools
