// SPDX-License-Identifier: Apache-2.0

#include "tools/rocksdb/database_kind.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "rowbloom/io.h"
#include "rowbloom/rocksdb_verify.h"
#include "tools/formats/filter_file.h"

namespace rowbloom::tools {
namespace {

namespace fs = std::filesystem;

bool IsTable(const fs::path& path) {
  return path.extension() == ".sst" || path.extension() == ".ldb";
}

bool IsIdentity(const fs::path& path) { return path.filename() == "IDENTITY"; }

// OPTIONS and IDENTITY, which LevelDB does not write, and the tables.
std::vector<fs::path> FilesOf(const std::string& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    const fs::path& path = it->path();
    const bool is_options =
        path.filename().string().rfind("OPTIONS-", 0) == 0 &&
        path.extension().empty();
    if (is_options || IsIdentity(path) || IsTable(path)) files.push_back(path);
  }
  // The newest tables tell most, and are behind the other files.
  std::sort(files.rbegin(), files.rend());
  return files;
}

// The first bytes of the file; empty if it cannot be read.
std::string Head(const fs::path& path) {
  const auto source = OpenFileSource(path.string());
  if (!source.ok()) return "";
  const uint64_t size = std::min<uint64_t>((*source)->size_bytes(), 4096);
  return ReadBytes(**source, 0, size).value_or("");
}

// The magic of a table; empty if the file cannot be read.
std::string Magic(const fs::path& table) {
  const auto source = OpenFileSource(table.string());
  return source.ok() ? LastBytes(**source, kMagicBytes).value_or("") : "";
}

// True if there are tables, and they are LevelDB's.
bool IsOfLevelDb(const std::vector<fs::path>& files) {
  bool has_table_of_leveldb = false;
  for (const fs::path& path : files) {
    if (!IsTable(path)) return false;
    const std::string magic = Magic(path);
    if (magic == kBlockBasedMagic) return false;
    if (magic != kLegacyMagic) continue;
    const auto sst = ReadRocksDbSst(path.string());
    if (sst.ok()) return false;
    has_table_of_leveldb |= absl::IsInvalidArgument(sst.status());
  }
  return has_table_of_leveldb;
}

bool IsOfPebble(const fs::path& path) {
  return IsTable(path) ? Magic(path) == kPebbleMagic
                       : Head(path).find("pebble_version") != std::string::npos;
}

// True if the file is as RocksDB writes it through its default Env, up to
// damage.
bool IsPlain(const fs::path& path) {
  if (IsTable(path)) {
    const std::string magic = Magic(path);
    return magic == kLegacyMagic || magic == kBlockBasedMagic;
  }
  const std::string head = Head(path);
  if (!IsIdentity(path)) return head.find("[Version]") != std::string::npos;
  constexpr size_t kUuidBytes = 36;
  const std::string uuid = head.substr(0, kUuidBytes);
  return !uuid.empty() &&
         std::all_of(uuid.begin(), uuid.end(), [](unsigned char byte) {
           return std::isprint(byte) != 0 || byte == '\n';
         });
}

}  // namespace

absl::Status CheckNotOfLevelDb(const std::string& directory) {
  if (!IsOfLevelDb(FilesOf(directory))) return absl::OkStatus();
  return absl::InvalidArgumentError(
      directory +
      ": a LevelDB database, not one of RocksDB; LevelDB checks its tables and "
      "their filters if it is opened with Options::paranoid_checks");
}

absl::Status ExplainUnopened(const std::string& directory,
                             const absl::Status& status) {
  if (status.ok()) return status;
  if (absl::StrContains(status.message(),
                        "does not match existing comparator")) {
    return absl::InvalidArgumentError(absl::StrCat(
        directory, ": has a comparator of its own (", status.message(),
        "): verify its SSTs one by one (DIRECTORY/*.sst), or call "
        "VerifyRocksDbFilters() in the program that has the comparator"));
  }
  const std::vector<fs::path> files = FilesOf(directory);
  if (std::any_of(files.begin(), files.end(), IsOfPebble)) {
    return absl::InvalidArgumentError(
        directory +
        ": a Pebble database, not one of RocksDB; check it with Pebble's own "
        "tool: pebble db check DIR");
  }
  const bool has_bytes =
      std::any_of(files.begin(), files.end(),
                  [](const fs::path& path) { return !Head(path).empty(); });
  if (!has_bytes || std::any_of(files.begin(), files.end(), IsPlain)) {
    return status;
  }
  return absl::InvalidArgumentError(
      directory +
      ": no table, OPTIONS or IDENTITY file is in RocksDB's plain format, so "
      "the database is encrypted or was written through another Env; this tool "
      "reads plain files only: check the filters from a program that opens the "
      "database, with VerifyRocksDbFilters()");
}

}  // namespace rowbloom::tools
