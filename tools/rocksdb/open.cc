// SPDX-License-Identifier: Apache-2.0
//
// Compiled without RTTI, as RocksDB's own releases are: a subclass of Logger
// then links with both kinds of library.

#include "tools/rocksdb/open.h"

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb_plugin/open_db.h"
#include "rocksdb_plugin/sst_path.h"
#include "rowbloom/rocksdb.h"
#include "tools/rocksdb/database_kind.h"
#include "tools/text/output.h"

namespace rowbloom::tools {

namespace rdb = ROCKSDB_NAMESPACE;

namespace {

// A writer replaces MANIFEST and OPTIONS files by newer ones. An open that
// finds one gone is tried again.
constexpr int kMaxTries = 10;

template <typename Try>
rdb::Status WhileFilesGo(const Try& try_once) {
  rdb::Status status = try_once();
  for (int i = 1; i < kMaxTries && status.IsPathNotFound(); ++i) {
    status = try_once();
  }
  return status;
}

// Keeps RocksDB from writing a LOG into a directory that is only read, or in
// place of the application's LOG, which `advise` reads.
class NullLogger : public rdb::Logger {
 public:
  using rdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

// The manifest has a number for the directory of each SST: an index into
// cf_paths or db_paths, which only the program knows. RocksDB takes no more.
constexpr size_t kMaxDbPaths = 4;

// By column family.
using CfPaths = std::map<std::string, std::vector<rdb::DbPath>>;

// Gives the directory a name of its own for each number, so that the path of an
// SST tells its number. RocksDB stops the process at a number without a path.
std::vector<rdb::DbPath> UnknownPaths(const std::string& directory) {
  std::vector<rdb::DbPath> paths;
  for (std::string name = directory; paths.size() < kMaxDbPaths; name += "/.") {
    paths.emplace_back(name, std::numeric_limits<uint64_t>::max());
  }
  return paths;
}

// The SSTs that a column family has in one of its paths.
struct SstsOfPath {
  std::vector<std::string> names;
  std::string column_family;
  size_t path_id = 0;
  std::string path;  // As opened.

  // Returns the directory that has one of them, or an empty string.
  std::string DirectoryOf(const DatabasePlace& place) const {
    std::vector<std::string> directories = {place.directory};
    directories.insert(directories.end(), place.db_paths.begin(),
                       place.db_paths.end());
    for (const std::string& directory : directories) {
      for (const std::string& name : names) {
        const std::string sst = absl::StrCat(directory, "/", name);
        rdb::Env* const env = rdb::Env::Default();
        if (env->FileExists(plugin::SstPath(env, sst)).ok()) return directory;
      }
    }
    return "";
  }
};

std::vector<SstsOfPath> SstsByPath(rdb::DB* db, const CfPaths& cf_paths) {
  std::vector<rdb::LiveFileMetaData> files;
  db->GetLiveFilesMetaData(&files);
  std::map<std::pair<std::string, std::string>, SstsOfPath> by_path;
  for (const rdb::LiveFileMetaData& file : files) {
    SstsOfPath& ssts = by_path[{file.column_family_name, file.directory}];
    ssts.names.push_back(file.relative_filename);
  }
  std::vector<SstsOfPath> result;
  for (auto& [key, ssts] : by_path) {
    std::tie(ssts.column_family, ssts.path) = key;
    const std::vector<rdb::DbPath>& paths = cf_paths.at(ssts.column_family);
    while (ssts.path_id < paths.size() &&
           paths[ssts.path_id].path != ssts.path) {
      ++ssts.path_id;
    }
    result.push_back(std::move(ssts));
  }
  return result;
}

absl::Status NotFoundError(const DatabasePlace& place, const SstsOfPath& ssts) {
  std::string message = absl::StrCat(
      place.directory, ": SST ", ssts.names.front(), " of column family \"",
      EscapeBytes(ssts.column_family), "\" is in ");
  if (ssts.path_id > 0) {
    absl::StrAppend(&message, "another directory, number ", ssts.path_id,
                    " of the db_paths or cf_paths of its program: name that "
                    "directory with --db_path");
  } else {
    absl::StrAppend(&message,
                    "another directory, or lost: name the directories of the "
                    "db_paths or cf_paths of its program with --db_path, or "
                    "this one if there are none");
  }
  return absl::FailedPreconditionError(message);
}

// True if the user says that SSTs belong into the database's own directory.
bool NamesItself(const DatabasePlace& place) {
  return std::any_of(place.db_paths.begin(), place.db_paths.end(),
                     [&place](const std::string& path) {
                       std::error_code error;
                       return std::filesystem::equivalent(path, place.directory,
                                                          error);
                     });
}

// Finds the directories of the SSTs. Returns true if the database was opened
// with others.
absl::StatusOr<bool> FindDirectories(const DatabasePlace& place, rdb::DB* db,
                                     CfPaths* cf_paths) {
  bool is_changed = false;
  for (const SstsOfPath& ssts : SstsByPath(db, *cf_paths)) {
    const std::string directory = ssts.DirectoryOf(place);
    if (directory == ssts.path) continue;
    if (!directory.empty()) {
      (*cf_paths)[ssts.column_family].at(ssts.path_id).path = directory;
      is_changed = true;
    } else if (ssts.path_id > 0 || !NamesItself(place)) {
      return NotFoundError(place, ssts);
    }
  }
  return is_changed;
}

}  // namespace

OptionsFile::OptionsFile(const std::string& directory) {
  RegisterRocksDb();
  // The application's merge operators and the like are unknown here.
  rdb::ConfigOptions config;
  config.ignore_unknown_options = true;
  config.ignore_unsupported_options = true;
  const rdb::Status status = WhileFilesGo([&] {
    rdb::DBOptions db_options;
    std::string name;
    rdb::Status read =
        rdb::LoadLatestOptions(config, directory, &db_options, &families_);
    if (read.ok()) {
      read =
          rdb::GetLatestOptionsFileName(directory, rdb::Env::Default(), &name);
    }
    if (read.ok()) {
      read = rdb::ReadFileToString(rdb::Env::Default(), directory + "/" + name,
                                   &text_);
    }
    return read;
  });
  if (!status.ok()) error_ = status.ToString();
}

const rdb::ColumnFamilyOptions* OptionsFile::Find(
    const std::string& column_family) const {
  for (const rdb::ColumnFamilyDescriptor& family : families_) {
    if (family.name == column_family) return &family.options;
  }
  return nullptr;
}

std::string OptionsFile::TableOption(const std::string& column_family,
                                     std::string_view name) const {
  const size_t begin =
      text_.find("[TableOptions/BlockBasedTable \"" + column_family + "\"]");
  if (begin == std::string::npos) return "";
  const std::string section =
      text_.substr(begin, text_.find("\n[", begin) - begin);
  const std::string key = "\n  " + std::string(name) + "=";
  const size_t at = section.find(key);
  if (at == std::string::npos) return "";
  const size_t value = at + key.size();
  return section.substr(value, section.find('\n', value) - value);
}

OpenedDb::~OpenedDb() {
  for (rdb::ColumnFamilyHandle* family : families) {
    db->DestroyColumnFamilyHandle(family);
  }
}

namespace {

// Opens once. Column families that `cf_paths` lacks are added to it.
rdb::Status TryOpenReadOnly(
    const std::string& directory, const OptionsFile& options_file,
    rdb::DBOptions options,
    const std::function<void(rdb::ColumnFamilyDescriptor*)>& configure,
    CfPaths* cf_paths, OpenedDb* result) {
  options.info_log = std::make_shared<NullLogger>();
  options.skip_stats_update_on_db_open = true;
  std::vector<std::string> names;
  rdb::Status opened = rdb::DB::ListColumnFamilies(options, directory, &names);
  if (!opened.ok()) return opened;
  std::vector<rdb::ColumnFamilyDescriptor> descriptors;
  for (const std::string& name : names) {
    rdb::ColumnFamilyDescriptor& added =
        descriptors.emplace_back(name, rdb::ColumnFamilyOptions());
    if (const auto* written = options_file.Find(name); written != nullptr) {
      added.options.comparator = written->comparator;
      added.options.num_levels = written->num_levels;
    }
    if (configure) configure(&added);
    added.options.cf_paths =
        cf_paths->try_emplace(name, UnknownPaths(directory)).first->second;
  }
  return plugin::OpenDb(
      [&](auto* db) {
        return rdb::DB::OpenForReadOnly(options, directory, descriptors,
                                        &result->families, db);
      },
      &result->db);
}

}  // namespace

absl::StatusOr<OpenedDb> OpenReadOnly(
    const DatabasePlace& place, const OptionsFile& options_file,
    const rdb::DBOptions& options,
    const std::function<void(rdb::ColumnFamilyDescriptor*)>& configure) {
  const std::string& directory = place.directory;
  if (absl::Status kind = CheckNotOfLevelDb(directory); !kind.ok()) return kind;
  CfPaths cf_paths;
  absl::StatusOr<bool> is_elsewhere = false;
  for (int i = 0; i < kMaxTries; ++i) {
    OpenedDb result;
    const rdb::Status status = WhileFilesGo([&] {
      return TryOpenReadOnly(directory, options_file, options, configure,
                             &cf_paths, &result);
    });
    if (!status.ok()) return ExplainUnopened(directory, FromRocksDb(status));
    // A compaction may have removed what was looked for.
    is_elsewhere = FindDirectories(place, result.db.get(), &cf_paths);
    if (is_elsewhere.ok() && !*is_elsewhere) return result;
  }
  if (!is_elsewhere.ok()) return is_elsewhere.status();
  return absl::UnavailableError(
      directory + ": its SSTs were moved each time that they were looked for");
}

absl::StatusOr<AllOptions> LoadAllOptions(const std::string& directory) {
  if (absl::Status kind = CheckNotOfLevelDb(directory); !kind.ok()) return kind;
  RegisterRocksDb();
  rdb::ConfigOptions config;
  config.ignore_unknown_options = false;
  config.ignore_unsupported_options = false;
  AllOptions options;
  const rdb::Status status = WhileFilesGo([&] {
    return rdb::LoadLatestOptions(config, directory, &options.db,
                                  &options.families);
  });
  if (status.ok()) return options;
  const absl::Status error = FromRocksDb(status);
  if (status.IsNotFound() || status.IsIOError()) {
    return ExplainUnopened(
        directory, absl::UnavailableError(absl::StrCat(
                       directory,
                       ": has no OPTIONS file that can be read, and cannot be "
                       "opened as its program does: ",
                       error.message())));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      directory, ": its OPTIONS file has what this tool does not know (",
      error.message(),
      "): call RefreshRocksDbFilters() in the program that does"));
}

namespace {

// FailedPrecondition for a database with SSTs elsewhere. One that cannot be
// read passes: the open that follows says why.
absl::Status CheckSstsAreInside(const std::string& directory) {
  const OptionsFile options_file(directory);
  rdb::DBOptions options;
  options.max_open_files = 16;
  options.paranoid_checks = false;
  CfPaths cf_paths;
  OpenedDb opened;
  const rdb::Status status = WhileFilesGo([&] {
    return TryOpenReadOnly(directory, options_file, options, nullptr, &cf_paths,
                           &opened);
  });
  if (!status.ok()) return absl::OkStatus();
  for (const SstsOfPath& ssts : SstsByPath(opened.db.get(), cf_paths)) {
    if (ssts.path_id == 0 && !ssts.DirectoryOf({directory, {}}).empty()) {
      continue;
    }
    return absl::FailedPreconditionError(absl::StrCat(
        directory, ": SST ", ssts.names.front(), " of column family \"",
        EscapeBytes(ssts.column_family),
        "\" is in another directory of the db_paths or cf_paths of its program"
        ", or lost: call RefreshRocksDbFilters() in that program"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpenedDb> OpenWith(const std::string& directory,
                                  AllOptions options, bool for_reading) {
  if (absl::Status status = CheckSstsAreInside(directory); !status.ok()) {
    return status;
  }
  options.db.info_log = std::make_shared<NullLogger>();
  OpenedDb result;
  const auto open = [&](auto* db) {
    return for_reading ? rdb::DB::OpenForReadOnly(options.db, directory,
                                                  options.families,
                                                  &result.families, db)
                       : rdb::DB::Open(options.db, directory, options.families,
                                       &result.families, db);
  };
  const rdb::Status status = plugin::OpenDb(open, &result.db);
  if (status.ok()) return result;
  if (status.IsIOError() &&
      status.ToString().find("/LOCK") != std::string::npos) {
    return absl::UnavailableError(
        absl::StrCat(directory,
                     ": is open elsewhere: stop that program, or call "
                     "RefreshRocksDbFilters() in it (",
                     status.ToString(), ")"));
  }
  return ExplainUnopened(directory, FromRocksDb(status));
}

}  // namespace rowbloom::tools
