// SPDX-License-Identifier: Apache-2.0
//
// Compiled without RTTI, as RocksDB's own releases are: a subclass of Logger
// then links with both kinds of library.

#include "rocksdb_files.h"

#include <algorithm>
#include <cstdarg>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "output.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/utilities/options_util.h"
#include "rowbloom/rocksdb.h"
#include "rowbloom/rocksdb_budget.h"

namespace rowbloom::tools {
namespace {

namespace rdb = ROCKSDB_NAMESPACE;

absl::Status FromRocksDb(const rdb::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const std::string message = status.ToString();
  if (status.IsCorruption()) return absl::DataLossError(message);
  if (status.IsNotSupported()) return absl::UnimplementedError(message);
  return absl::UnavailableError(message);
}

// Keeps RocksDB from writing a LOG into a directory that is only looked at.
class NullLogger : public rdb::Logger {
 public:
  using rdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// By level what filters take, and how far that is from the best.
Json BudgetJson(const RocksDbBudgetReport& report) {
  Json levels = Json::array();
  for (const RocksDbBudgetLevel& level : report.levels) {
    levels.push_back({{"level", level.level},
                      {"files", level.file_count},
                      {"runs", level.run_count},
                      {"key_count", level.key_count},
                      {"filter_size_bytes", level.filter_bytes},
                      {"bits_per_key", level.bits_per_key},
                      {"expected_fpr", level.expected_fpr},
                      {"wasted_reads", level.expected_wasted_reads}});
  }
  return {{"filter", report.filter},
          {"missing_share", report.missing_share},
          {"levels", std::move(levels)},
          {"bits_per_key", report.waste.bits_per_key},
          {"wasted_reads", report.waste.wasted_reads},
          {"least_wasted_reads", report.waste.least_wasted_reads},
          {"percent_of_optimum", report.waste.percent_of_optimum()}};
}

class RocksDbColumnFamily : public ColumnFamily {
 public:
  explicit RocksDbColumnFamily(const std::string& name) {
    report_.column_family = name;
  }

  void Expect(const rdb::ColumnFamilyOptions& options) {
    report_.expected = ExpectedRocksDbFilter(options);
    options_.comparator = options.comparator;
  }
  void ExpectUnknown(std::string why) { unknown_ = std::move(why); }
  bool expects_filters() const {
    return !report_.expected.filter_policy.empty();
  }

  absl::Status Verify(const TargetFile& target, Json* entry) override {
    RocksDbVerifyOptions verify;
    verify.read_data_blocks = true;
    Add(target, VerifyRocksDbSst(target.path, options_, verify));
    const RocksDbFilterFile& file = report_.files.back();
    DescribeFilter(file, entry);
    if (file.status.ok() && unknown_.empty()) {
      (*entry)["filter"] = std::string(RocksDbFilterStateName(file.state));
      if (!file.note.empty()) (*entry)["note"] = EscapeControls(file.note);
    }
    return file.status;
  }

  void AddUnopened(const TargetFile& target,
                   const absl::Status& status) override {
    RocksDbFilterFile file;
    file.path = target.path;
    file.status = status;
    file.note = "see above";
    Add(target, std::move(file));
  }

  Json Summary() const override {
    Json summary{
        {"column_family", EscapeBytes(report_.column_family)},
        {"expected",
         unknown_.empty() ? Json(report_.expected.ToString()) : Json()},
        {"files", report_.files.size()}};
    for (int i = 0; i < static_cast<int>(RocksDbFilterState::kCount); ++i) {
      const auto state = static_cast<RocksDbFilterState>(i);
      summary["states"][std::string(RocksDbFilterStateName(state))] =
          unknown_.empty() ? Json(report_.CountOf(state)) : Json();
    }
    Json warnings = Json::array();
    if (!unknown_.empty()) warnings.push_back(unknown_);
    if (unknown_.empty()) {
      for (const std::string& warning : report_.warnings()) {
        warnings.push_back(EscapeControls(warning));
      }
    }
    summary["warnings"] = std::move(warnings);
    const auto budget = ReportRocksDbBudget(report_);
    summary["budget"] = budget.ok() ? BudgetJson(*budget) : Json();
    return summary;
  }

  std::string SummaryText() const override {
    if (unknown_.empty()) {
      const auto budget = ReportRocksDbBudget(report_);
      return report_.Summary() + (budget.ok() ? budget->ToString() : "");
    }
    return "column family " + EscapeBytes(report_.column_family) +
           "\nwarning: " + unknown_ + "\n";
  }

 private:
  void Add(const TargetFile& target, RocksDbFilterFile file) {
    file.level = target.level.value_or(0);
    CompareWithExpected(report_.expected, &file);
    report_.files.push_back(std::move(file));
  }

  rdb::Options options_;
  std::string unknown_;  // Why nothing is known to be expected, or empty.
  RocksDbFilterReport report_;
};

// What the OPTIONS file says in `section` of `name`; empty if nothing.
std::string OptionText(const std::string& options_file,
                       const std::string& section, std::string_view name) {
  const size_t begin = options_file.find("[" + section + "]");
  if (begin == std::string::npos) return "";
  const std::string section_text =
      options_file.substr(begin, options_file.find("\n[", begin) - begin);
  const std::string key = "\n  " + std::string(name) + "=";
  const size_t at = section_text.find(key);
  if (at == std::string::npos) return "";
  const size_t value = at + key.size();
  return section_text.substr(value, section_text.find('\n', value) - value);
}

// What the latest OPTIONS file says of each column family.
class OptionsFile {
 public:
  explicit OptionsFile(const std::string& directory) {
    RegisterRocksDb();
    // Merge operators and such of the application are not known here.
    rdb::ConfigOptions config;
    config.ignore_unknown_options = true;
    config.ignore_unsupported_options = true;
    rdb::DBOptions db_options;
    std::string name;
    rdb::Status status =
        rdb::LoadLatestOptions(config, directory, &db_options, &families_);
    if (status.ok()) {
      status =
          rdb::GetLatestOptionsFileName(directory, rdb::Env::Default(), &name);
    }
    if (status.ok()) {
      status = rdb::ReadFileToString(rdb::Env::Default(),
                                     directory + "/" + name, &text_);
    }
    if (!status.ok()) error_ = status.ToString();
  }

  const rdb::ColumnFamilyOptions* Find(const std::string& name) const {
    for (const rdb::ColumnFamilyDescriptor& family : families_) {
      if (family.name == name) return &family.options;
    }
    return nullptr;
  }

  std::shared_ptr<RocksDbColumnFamily> MakeFamily(
      const std::string& name) const {
    auto family = std::make_shared<RocksDbColumnFamily>(name);
    const rdb::ColumnFamilyOptions* options = Find(name);
    const std::string policy =
        OptionText(text_, "TableOptions/BlockBasedTable \"" + name + "\"",
                   "filter_policy");
    if (!error_.empty()) {
      family->ExpectUnknown("what filters are asked for is not known: " +
                            EscapeControls(error_));
    } else if (options == nullptr || policy.empty()) {
      family->ExpectUnknown(
          "the OPTIONS file does not say what filters are asked for");
    } else {
      family->Expect(*options);
      if (!family->expects_filters() && policy != "nullptr") {
        family->ExpectUnknown("filter_policy " + EscapeControls(policy) +
                              " of the OPTIONS file is not known to this tool");
      }
    }
    return family;
  }

 private:
  std::vector<rdb::ColumnFamilyDescriptor> families_;
  std::string text_;
  std::string error_;
};

}  // namespace

void DescribeFilter(const RocksDbFilterFile& file, Json* entry) {
  (*entry)["filter_policy"] = EscapeBytes(file.filter_policy);
  (*entry)["family"] = file.family.empty() ? Json() : Json(file.family);
  (*entry)["is_partitioned"] = file.is_partitioned;
  (*entry)["chunk_count"] = file.filter_count;
  (*entry)["filter_size_bytes"] = file.filter_size_bytes;
  (*entry)["largest_chunk_bytes"] = file.largest_filter_bytes;
  (*entry)["key_count"] = file.filter_key_count;
  (*entry)["bits_per_key"] =
      file.filter_key_count == 0 ? Json() : Json(file.bits_per_key());
  const auto optional = [](const std::optional<double>& value) {
    return value.has_value() ? Json(*value) : Json();
  };
  (*entry)["expected_fpr"] = optional(file.expected_fpr);
  (*entry)["observed_fpr"] = optional(file.observed_fpr());
  (*entry)["probe_count"] = file.probe_count;
}

absl::StatusOr<std::vector<TargetFile>> ListLiveSsts(
    const std::string& directory) {
  rdb::Options options;
  options.info_log = std::make_shared<NullLogger>();
  // The list is in the manifest: open as few tables as RocksDB allows.
  options.max_open_files = 16;
  options.skip_stats_update_on_db_open = true;
  // Damaged and missing SSTs are for the verbs to report, each by name.
  options.paranoid_checks = false;
  std::vector<std::string> names;
  rdb::Status status = rdb::DB::ListColumnFamilies(options, directory, &names);
  if (!status.ok()) return FromRocksDb(status);

  const OptionsFile options_file(directory);
  std::vector<rdb::ColumnFamilyDescriptor> descriptors;
  std::map<std::string, std::shared_ptr<RocksDbColumnFamily>> families;
  for (const std::string& name : names) {
    families[name] = options_file.MakeFamily(name);
    const rdb::ColumnFamilyOptions* written = options_file.Find(name);
    rdb::ColumnFamilyOptions family_options(options);
    if (written != nullptr) family_options.comparator = written->comparator;
    descriptors.emplace_back(name, family_options);
  }
  std::vector<rdb::ColumnFamilyHandle*> handles;
  rdb::DB* raw_db = nullptr;
  status = rdb::DB::OpenForReadOnly(options, directory, descriptors, &handles,
                                    &raw_db);
  if (!status.ok()) return FromRocksDb(status);
  const std::unique_ptr<rdb::DB> db(raw_db);

  std::vector<rdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  for (rdb::ColumnFamilyHandle* handle : handles) {
    db->DestroyColumnFamilyHandle(handle);
  }
  std::sort(files.begin(), files.end(),
            [](const rdb::LiveFileMetaData& a, const rdb::LiveFileMetaData& b) {
              return std::tie(a.column_family_name, a.level, a.file_number) <
                     std::tie(b.column_family_name, b.level, b.file_number);
            });
  std::vector<TargetFile> result;
  result.reserve(files.size());
  for (const rdb::LiveFileMetaData& file : files) {
    result.push_back({file.directory + "/" + file.relative_filename, file.level,
                      absl::OkStatus(), families.at(file.column_family_name)});
  }
  return result;
}

}  // namespace rowbloom::tools
