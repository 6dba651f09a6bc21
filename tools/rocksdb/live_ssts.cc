// SPDX-License-Identifier: Apache-2.0

#include "tools/rocksdb/live_ssts.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb_plugin/release.h"
#include "rocksdb_plugin/sst_path.h"
#include "rowbloom/rocksdb_budget.h"
#include "tools/rocksdb/open.h"
#include "tools/text/output.h"

namespace rowbloom::tools {
namespace {

namespace rdb = ROCKSDB_NAMESPACE;

class Manifest;

// The filter memory of each level, and how far it is from the optimum.
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

// Sums over the filters that can be read, and notes on them.
void AddSums(const std::vector<RocksDbFilterFile>& files, Json* summary) {
  RocksDbFilterFile sum;
  uint64_t entries = 0;  // Files without a filter count.
  double positives = 0;  // One lookup for each key.
  uint64_t expecting_keys = 0;
  std::set<std::string> notes;
  for (const RocksDbFilterFile& file : files) {
    entries += file.entry_count;
    if (!file.unobserved.empty()) {
      notes.insert("not all filters were observed: " +
                   EscapeControls(file.unobserved));
    }
    if (file.filter_count == 0 || !file.status.ok()) continue;
    sum.entry_count += file.entry_count;
    sum.filter_size_bytes += file.filter_size_bytes;
    sum.filter_key_count += file.filter_key_count;
    sum.neighbour_count += file.neighbour_count;
    sum.false_positive_count += file.false_positive_count;
    if (!file.expected_fpr.has_value()) continue;
    expecting_keys += file.filter_key_count;
    positives +=
        *file.expected_fpr * static_cast<double>(file.filter_key_count);
  }
  const uint64_t keys = sum.filter_key_count;
  constexpr uint64_t kMany = 10;
  if (keys > 0 && sum.entry_count / keys >= kMany) {
    notes.insert(std::to_string(sum.entry_count / keys) +
                 " entries for each filter key, as rows of many cells and "
                 "versions of a key have; gets of absent ones among them are "
                 "passed");
  }
  summary->update({{"entry_count", entries},
                   {"filter_size_bytes", sum.filter_size_bytes},
                   {"key_count", keys},
                   {"bits_per_key", Ratio(8 * sum.filter_size_bytes, keys)},
                   {"expected_fpr", Ratio(positives, expecting_keys)},
                   {"observed_fpr", OrNull(sum.observed_fpr())},
                   {"neighbour_count", sum.neighbour_count},
                   {"notes", notes}});
}

// RocksDB opens no database with an SST of another size than it has written.
absl::Status CheckSize(const TargetFile& target) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(target.path, error);
  const uint64_t listed = target.size_bytes.value_or(bytes);
  if (error || bytes == listed) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(target.path, ": ", bytes, " bytes, and the MANIFEST says ",
                   listed, ": DB::Open() refuses the database"));
}

class RocksDbColumnFamily : public ColumnFamily {
 public:
  RocksDbColumnFamily(const std::string& name,
                      std::shared_ptr<Manifest> manifest)
      : manifest_(std::move(manifest)) {
    report_.column_family = name;
  }

  void Expect(const rdb::ColumnFamilyOptions& options) {
    report_.expected = ExpectedRocksDbFilter(options);
    options_.comparator = options.comparator;
    options_.prefix_extractor = options.prefix_extractor;
  }
  void ExpectUnknown(std::string why) { unknown_ = std::move(why); }
  bool expects_filters() const {
    return !report_.expected.filter_policy.empty();
  }

  absl::Status Verify(const TargetFile& target, Json* entry) override {
    RocksDbVerifyOptions verify;
    verify.read_data_blocks = true;
    RocksDbFilterFile verified =
        VerifyRocksDbSst(target.path, options_, verify);
    verified.status = ExplainMissing(target, verified.status);
    if (verified.status.ok()) {
      verified.status = CheckSize(target);
      if (!verified.status.ok()) {
        verified.state = RocksDbFilterState::kUnreadable;
      }
    }
    if (absl::IsNotFound(verified.status)) return verified.status;
    Add(target, std::move(verified));
    const RocksDbFilterFile& file = report_.files.back();
    DescribeFilter(file, entry);
    if (file.status.ok() && unknown_.empty()) {
      (*entry)["filter"] = std::string(RocksDbFilterStateName(file.state));
      if (!file.note.empty()) (*entry)["note"] = EscapeControls(file.note);
    }
    return file.status;
  }

  absl::Status AddUnopened(const TargetFile& target,
                           const absl::Status& status) override {
    absl::Status explained = ExplainMissing(target, status);
    if (absl::IsNotFound(explained)) return explained;
    // The state depends on which block is damaged.
    RocksDbFilterFile file = VerifyRocksDbSst(target.path, options_);
    if (file.status.ok()) file.state = RocksDbFilterState::kUnreadable;
    // The MANIFEST says that it is an SST.
    if (absl::IsInvalidArgument(explained) && !file.status.ok()) {
      explained = file.status;
    }
    file.status = explained;
    file.note = "see above";
    Add(target, std::move(file));
    return explained;
  }

  Json Summary(std::optional<uint64_t> block_cache_bytes) override {
    report_.block_cache_bytes = block_cache_bytes;
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
    AddSums(report_.files, &summary);
    Json warnings = Json::array();
    if (!unknown_.empty()) {
      warnings.push_back(unknown_);
    } else {
      for (const std::string& warning : report_.warnings()) {
        warnings.push_back(EscapeControls(warning));
      }
    }
    summary["warnings"] = std::move(warnings);
    const RocksDbFilterReport::WholeFilters whole =
        report_.EvictableWholeFilters();
    summary["evictable_whole_filters"] = {
        {"filters", whole.count},
        {"bytes", whole.total_bytes},
        {"largest_bytes", whole.largest_bytes},
        {"block_cache_bytes", OrNull(report_.block_cache_bytes)}};
    const auto budget = ReportRocksDbBudget(report_);
    summary["budget"] = budget.ok() ? BudgetJson(*budget) : Json();
    return summary;
  }

  std::string TextOf(const Json& summary) const override {
    std::string text =
        "column family " + summary["column_family"].get<std::string>();
    if (summary["expected"].is_null()) {
      text += "\n";
    } else {
      const Json& files = summary["files"];
      text += ": " + EscapeControls(summary["expected"].get<std::string>()) +
              "\n" + files.dump() + (files == 1 ? " file, " : " files, ") +
              summary["entry_count"].dump() + " entries" +
              CountsText(summary["states"]) + "\n";
      Json sums = Json::object();
      for (const char* name :
           {"filter_size_bytes", "key_count", "bits_per_key", "expected_fpr",
            "observed_fpr", "neighbour_count"}) {
        sums[name] = summary[name];
      }
      const Json& budget = summary["budget"];
      for (const char* name :
           {"wasted_reads", "least_wasted_reads", "percent_of_optimum"}) {
        if (!budget.is_null()) sums[name] = budget[name];
      }
      if (summary["key_count"] > 0) text += FieldLines(sums);
      if (!budget.is_null()) text += Table(budget["levels"]);
      for (const Json& note : summary["notes"]) {
        text += "note: " + note.get<std::string>() + "\n";
      }
    }
    for (const Json& warning : summary["warnings"]) {
      text += "warning: " + warning.get<std::string>() + "\n";
    }
    return text;
  }

 private:
  void Add(const TargetFile& target, RocksDbFilterFile file) {
    file.level = target.level.value_or(0);
    CompareWithExpected(report_.expected, &file);
    report_.files.push_back(std::move(file));
  }

  // Returns `status`, but NotFound for a file that was deleted since it was
  // listed, and DataLoss for one that is missing and should exist.
  absl::Status ExplainMissing(const TargetFile& target,
                              const absl::Status& status) const;

  const std::shared_ptr<Manifest> manifest_;
  rdb::Options options_;
  std::string unknown_;  // Why no filter is expected, or empty.
  RocksDbFilterReport report_;
};

// Sets the filter that column family `name` is expected to have.
void Configure(const OptionsFile& options_file, const std::string& name,
               RocksDbColumnFamily* family) {
  const rdb::ColumnFamilyOptions* options = options_file.Find(name);
  const std::string policy = options_file.TableOption(name, "filter_policy");
  if (!options_file.error().empty()) {
    family->ExpectUnknown("what filters are asked for is not known: " +
                          EscapeControls(options_file.error()));
  } else if (options != nullptr &&
             options->table_factory
                     ->GetOptions<rdb::BlockBasedTableOptions>() == nullptr) {
    family->ExpectUnknown(
        "the tables are not block based, and ask no filter_policy");
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
}

// The live SSTs of a database, as of the last read of its manifest.
class Manifest {
 public:
  explicit Manifest(DatabasePlace place) : place_(std::move(place)) {}

  absl::Status Read() {
    options_file_.emplace(place_.directory);
    rdb::DBOptions options;
    // The list is in the manifest: open as few tables as RocksDB allows.
    options.max_open_files = 16;
    // Damaged and missing SSTs are for the verbs to report, each by name.
    options.paranoid_checks = false;
    const absl::StatusOr<OpenedDb> opened =
        OpenReadOnly(place_, *options_file_, options);
    if (!opened.ok()) return opened.status();
    files_.clear();
    opened->db->GetLiveFilesMetaData(&files_);
    return absl::OkStatus();
  }

  const std::vector<rdb::LiveFileMetaData>& files() const { return files_; }
  const OptionsFile& options_file() const { return *options_file_; }

  // Reads the manifest again, unless the file is already gone: none comes back.
  absl::StatusOr<bool> StillLists(const std::string& path) {
    if (!Lists(path)) return false;
    if (absl::Status status = Read(); !status.ok()) return status;
    return Lists(path);
  }

 private:
  bool Lists(const std::string& path) const {
    return std::any_of(files_.begin(), files_.end(),
                       [&path](const rdb::LiveFileMetaData& file) {
                         const std::string listed = plugin::ListedPath(file);
                         return listed == path ||
                                plugin::LevelDbSstPath(listed) == path;
                       });
  }

  const DatabasePlace place_;
  std::optional<OptionsFile> options_file_;
  std::vector<rdb::LiveFileMetaData> files_;
};

// This maps directories of a database to the numbers of their SSTs.
using SstNumbers = std::map<std::string, std::set<uint64_t>>;

SstNumbers SstNumbersOf(const DatabasePlace& place) {
  SstNumbers numbers = {{place.directory, SstNumbersIn(place.directory)}};
  for (const std::string& path : place.db_paths) {
    numbers.emplace(path, SstNumbersIn(path));
  }
  return numbers;
}

// Warns of SSTs that were there before and after the manifest was read, and
// that it does not list. A directory without listed SSTs may be that of another
// database.
void WarnOfUnlisted(const DatabasePlace& place, const Manifest& manifest,
                    const SstNumbers& before,
                    std::vector<std::string>* warnings) {
  std::set<std::string> directories = {place.directory};
  std::set<uint64_t> listed;
  for (const rdb::LiveFileMetaData& file : manifest.files()) {
    directories.insert(file.directory);
    listed.insert(file.file_number);
  }
  std::set<uint64_t> unlisted;
  for (const auto& [directory, numbers] : SstNumbersOf(place)) {
    if (directories.count(directory) == 0) continue;
    for (const uint64_t number : numbers) {
      const bool is_old = before.at(directory).count(number) > 0;
      if (is_old && listed.count(number) == 0) unlisted.insert(number);
    }
  }
  if (unlisted.empty()) return;
  warnings->push_back(absl::StrCat(
      place.directory, ": ", unlisted.size(),
      unlisted.size() == 1 ? " SST is" : " SSTs are",
      " not in the MANIFEST; of a running database they may be new or "
      "obsolete"));
}

absl::Status RocksDbColumnFamily::ExplainMissing(
    const TargetFile& target, const absl::Status& status) const {
  std::error_code error;
  if (status.ok() || std::filesystem::exists(target.path, error) || error) {
    return status;
  }
  const absl::StatusOr<bool> is_live = manifest_->StillLists(target.path);
  if (!is_live.ok()) return status;
  if (*is_live) {
    return absl::DataLossError(target.path +
                               ": missing, and the database needs it");
  }
  return absl::NotFoundError(target.path +
                             ": gone, as the database no longer needs it");
}

}  // namespace

void DescribeFilter(const RocksDbFilterFile& file, Json* entry) {
  (*entry)["filter_policy"] = EscapeBytes(file.filter_policy);
  (*entry)["family"] = OrNull(file.family);
  (*entry)["is_partitioned"] = file.is_partitioned;
  (*entry)["chunk_count"] = file.filter_count;
  (*entry)["filter_size_bytes"] = file.filter_size_bytes;
  (*entry)["largest_chunk_bytes"] = file.largest_filter_bytes;
  (*entry)["key_count"] = file.filter_key_count;
  (*entry)["bits_per_key"] =
      Ratio(8 * file.filter_size_bytes, file.filter_key_count);
  (*entry)["expected_fpr"] = OrNull(file.expected_fpr);
  (*entry)["observed_fpr"] = OrNull(file.observed_fpr());
  (*entry)["neighbour_count"] = file.neighbour_count;
  (*entry)["sampled_keys"] = file.sampled_key_count;
  (*entry)["misfit_keys"] = file.misfit_key_count;
  if (!file.unobserved.empty()) {
    (*entry)["unobserved"] = EscapeControls(file.unobserved);
  }
  if (const std::string warning = file.warning(); !warning.empty()) {
    (*entry)["warning"] = EscapeControls(warning);
  }
}

absl::StatusOr<std::vector<TargetFile>> ListLiveSsts(
    const DatabasePlace& place, std::vector<std::string>* warnings) {
  const absl::Status& release = plugin::CheckRocksDbRelease();
  if (!release.ok()) return release;
  SstNumbers before;
  if (warnings != nullptr) before = SstNumbersOf(place);
  const auto manifest = std::make_shared<Manifest>(place);
  if (absl::Status status = manifest->Read(); !status.ok()) return status;
  if (warnings != nullptr) WarnOfUnlisted(place, *manifest, before, warnings);
  std::vector<rdb::LiveFileMetaData> files = manifest->files();
  std::sort(files.begin(), files.end(),
            [](const rdb::LiveFileMetaData& a, const rdb::LiveFileMetaData& b) {
              return std::tie(a.column_family_name, a.level, a.file_number) <
                     std::tie(b.column_family_name, b.level, b.file_number);
            });
  std::map<std::string, std::shared_ptr<RocksDbColumnFamily>> families;
  std::vector<TargetFile> result;
  result.reserve(files.size());
  for (const rdb::LiveFileMetaData& file : files) {
    const std::string& name = file.column_family_name;
    std::shared_ptr<RocksDbColumnFamily>& family = families[name];
    if (family == nullptr) {
      family = std::make_shared<RocksDbColumnFamily>(name, manifest);
      Configure(manifest->options_file(), name, family.get());
    }
    result.push_back(
        {plugin::SstPath(rdb::Env::Default(), plugin::ListedPath(file)),
         absl::OkStatus(), file.level, family, "", file.size});
  }
  return result;
}

}  // namespace rowbloom::tools
