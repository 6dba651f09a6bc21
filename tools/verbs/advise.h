// SPDX-License-Identifier: Apache-2.0
//
// rowbloom advise looks at what is there: a RocksDB database, HFiles, or a
// sample of keys.

#ifndef ROWBLOOM_TOOLS_VERBS_ADVISE_H_
#define ROWBLOOM_TOOLS_VERBS_ADVISE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rowbloom/filter_spec.h"
#include "rowbloom/get_cost.h"
#include "tools/formats/filter_file.h"
#include "tools/verbs/report.h"

namespace rowbloom::tools {

struct AdviseArguments {
  std::vector<std::string> paths;
  std::optional<double> missing_share;
  bool hex = false;
  ReportForm form;
  // These are for a database.
  std::vector<std::string> db_paths;
  std::string column_family = "default";
  std::string statistics;
  std::string gets;
  std::optional<uint64_t> cache_bytes;
  double read_us = GetCostOptions().read_us;
  std::optional<double> zipf;
  // These are for HFiles.
  PlanQuestion hfiles;
  std::optional<double> column_share;
  // These are for a file with a key on each line.
  std::string key_codec;
  std::string filter_spec = FilterSpec().ToString();
};

// Each returns the exit code.
int AdviseDatabase(AdviseArguments* arguments);
int AdviseHFiles(const AdviseArguments& arguments);
int AdviseKeys(const AdviseArguments& arguments);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_VERBS_ADVISE_H_
