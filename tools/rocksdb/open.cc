// SPDX-License-Identifier: Apache-2.0
//
// Compiled without RTTI, as RocksDB's own releases are: a subclass of Logger
// then links with both kinds of library.

#include "tools/rocksdb/open.h"

#include <cstdarg>

#include "absl/strings/str_cat.h"
#include "rocksdb/convenience.h"
#include "rocksdb/env.h"
#include "rocksdb/utilities/options_util.h"
#include "rocksdb_plugin/open_db.h"
#include "rowbloom/rocksdb.h"
#include "tools/rocksdb/database_kind.h"

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

absl::StatusOr<OpenedDb> OpenReadOnly(
    const std::string& directory, const OptionsFile& options_file,
    rdb::DBOptions options,
    const std::function<void(rdb::ColumnFamilyDescriptor*)>& configure) {
  options.info_log = std::make_shared<NullLogger>();
  options.skip_stats_update_on_db_open = true;
  if (absl::Status kind = CheckNotOfLevelDb(directory); !kind.ok()) return kind;
  OpenedDb result;
  const rdb::Status status = WhileFilesGo([&] {
    std::vector<std::string> names;
    rdb::Status opened =
        rdb::DB::ListColumnFamilies(options, directory, &names);
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
    }
    return rowbloom::plugin::OpenDb(
        [&](auto* db) {
          return rdb::DB::OpenForReadOnly(options, directory, descriptors,
                                          &result.families, db);
        },
        &result.db);
  });
  if (!status.ok()) return ExplainUnopened(directory, FromRocksDb(status));
  return result;
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

absl::StatusOr<OpenedDb> OpenWith(const std::string& directory,
                                  AllOptions options, bool for_reading) {
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
