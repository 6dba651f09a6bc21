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
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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
    rdb::Status read =
        rdb::LoadLatestOptions(config, directory, &db_options, &families_);
    if (read.ok()) {
      read =
          rdb::GetLatestOptionsFileName(directory, rdb::Env::Default(), &name_);
    }
    if (read.ok()) {
      read = rdb::ReadFileToString(rdb::Env::Default(), directory + "/" + name_,
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
  return OptionOf("[TableOptions/BlockBasedTable \"" + column_family + "\"]",
                  name);
}

std::string OptionsFile::DbOption(std::string_view name) const {
  return OptionOf("[DBOptions]", name);
}

std::string OptionsFile::OptionOf(const std::string& header,
                                  std::string_view name) const {
  const size_t begin = text_.find(header);
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

std::set<uint64_t> SstNumbersIn(const std::string& directory) {
  std::set<uint64_t> numbers;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory, error), end;
       !error && it != end; it.increment(error)) {
    const std::filesystem::path& path = it->path();
    const std::string stem = path.stem().string();
    uint64_t number = 0;
    if ((path.extension() == ".sst" || path.extension() == ".ldb") &&
        stem.find_first_not_of("0123456789") == std::string::npos &&
        absl::SimpleAtoi(stem, &number)) {
      numbers.insert(number);
    }
  }
  return numbers;
}

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

namespace {

absl::Status NotKnownError(const std::string& directory,
                           const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat(
      directory, ": its OPTIONS file has what this tool does not know (", name,
      "): call RefreshRocksDbFilters() in the program that does"));
}

// RocksDB drops listeners that it does not know without an error.
absl::Status CheckListeners(const std::string& directory,
                            const OptionsFile& options_file,
                            const rdb::DBOptions& options) {
  const std::string listed = options_file.DbOption("listeners");
  const std::vector<std::string> names =
      absl::StrSplit(listed, absl::ByAnyChar("{:}"), absl::SkipEmpty());
  if (names.size() == options.listeners.size()) return absl::OkStatus();
  return NotKnownError(directory, "listeners=" + listed);
}

// RocksDB replays the WALs of wal_dir into the database and deletes them.
absl::Status SetWalDir(const std::string& directory,
                       const OptionsFile& options_file,
                       const std::string& wal_dir, rdb::DBOptions* options) {
  const std::string written = options->wal_dir;
  if (!wal_dir.empty()) options->wal_dir = wal_dir;
  std::error_code error;
  if (options->wal_dir.empty() ||
      std::filesystem::equivalent(options->wal_dir, directory, error)) {
    options->wal_dir.clear();
    return absl::OkStatus();
  }
  if (wal_dir.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        directory, ": ", options_file.name(), " has wal_dir=", written,
        "; if the database is a copy, the WAL there is its original's, and "
        "would be replayed and deleted: name the directory of the WAL of this "
        "database with --wal_dir"));
  }
  options->wal_dir = std::filesystem::absolute(wal_dir, error).string();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AllOptions> LoadAllOptions(const std::string& directory,
                                          const std::string& wal_dir) {
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
  if (status.ok()) {
    const OptionsFile options_file(directory);
    absl::Status checked = CheckListeners(directory, options_file, options.db);
    checked.Update(SetWalDir(directory, options_file, wal_dir, &options.db));
    if (!checked.ok()) return checked;
    // The database exists, and RocksDB maps no file that it reads directly.
    options.db.error_if_exists = false;
    options.db.allow_mmap_reads &= !options.db.use_direct_reads;
    return options;
  }
  const absl::Status error = FromRocksDb(status);
  if (status.IsNotFound() || status.IsIOError()) {
    return ExplainUnopened(
        directory, absl::UnavailableError(absl::StrCat(
                       directory,
                       ": has no OPTIONS file that can be read, and cannot be "
                       "opened as its program does: ",
                       error.message())));
  }
  return NotKnownError(directory, std::string(error.message()));
}

namespace {

// Returns FailedPrecondition for a database with SSTs elsewhere, or whose
// MANIFEST lists none of its SSTs. One that cannot be read passes: the open
// that follows says why.
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
  const std::vector<SstsOfPath> listed = SstsByPath(opened.db.get(), cf_paths);
  const size_t there = SstNumbersIn(directory).size();
  if (listed.empty() && there > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        directory, ": its MANIFEST lists no SST, and RocksDB would delete the ",
        there, " that are there: restore the MANIFEST, or move them away"));
  }
  for (const SstsOfPath& ssts : listed) {
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
  const std::string text = status.ToString();
  if (status.IsIOError() && text.find("/LOCK") != std::string::npos) {
    const bool is_locked = text.find("open a file for lock") == text.npos;
    return absl::UnavailableError(absl::StrCat(
        directory,
        is_locked ? ": is open elsewhere: stop that program, or call "
                    "RefreshRocksDbFilters() in it ("
                  : ": cannot be opened for writing, which all but --dry_run "
                    "needs (",
        text, ")"));
  }
  return ExplainUnopened(directory, FromRocksDb(status));
}

}  // namespace rowbloom::tools
