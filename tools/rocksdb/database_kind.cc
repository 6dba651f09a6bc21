// SPDX-License-Identifier: Apache-2.0

#include "tools/rocksdb/database_kind.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <vector>

#include "rowbloom/rocksdb_verify.h"
#include "tools/formats/table_magic.h"

namespace rowbloom::tools {
namespace {

namespace fs = std::filesystem;

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// The files in the directory, by what their names say.
struct DatabaseFiles {
  explicit DatabaseFiles(const std::string& directory) {
    std::error_code error;
    for (fs::directory_iterator it(directory, error), end; !error && it != end;
         it.increment(error)) {
      const std::string name = it->path().filename().string();
      const std::string extension = it->path().extension().string();
      if (extension == ".sst" || extension == ".ldb") {
        tables.push_back(it->path().string());
      } else if (StartsWith(name, "OPTIONS-") && extension.empty()) {
        options.push_back(it->path().string());
      } else if (name == "IDENTITY") {
        identity.push_back(it->path().string());
      } else if (StartsWith(name, "MANIFEST-")) {
        has_manifest = true;
      }
    }
    // The newest tables tell most.
    std::sort(tables.rbegin(), tables.rend());
  }

  // LevelDB writes neither.
  bool has_files_of_rocksdb() const {
    return !options.empty() || !identity.empty();
  }

  // True if some file tells whether the database is plain.
  bool has_bytes() const;

  std::vector<std::string> tables;
  std::vector<std::string> options;
  std::vector<std::string> identity;
  bool has_manifest = false;
};

// Empty if it cannot be read.
std::string FirstBytes(const std::string& path, size_t size) {
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(
      static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return bytes;
}

bool DatabaseFiles::has_bytes() const {
  const auto any = [](const std::vector<std::string>& paths) {
    return std::any_of(paths.begin(), paths.end(), [](const auto& path) {
      return !FirstBytes(path, 1).empty();
    });
  };
  return any(tables) || any(options) || any(identity);
}

// The magic of a table; empty if the file is shorter.
std::string LastBytes(const std::string& path) {
  std::string bytes(kMagicBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(-static_cast<std::streamoff>(kMagicBytes), std::ios::end);
  if (!file.read(bytes.data(), kMagicBytes)) return "";
  return bytes;
}

// True for a magic that only RocksDB writes.
bool IsMagicOfRocksDb(std::string_view magic) {
  return magic == kBlockBasedMagic ||
         std::find(std::begin(kOtherRocksDbMagics),
                   std::end(kOtherRocksDbMagics),
                   magic) != std::end(kOtherRocksDbMagics);
}

bool HasText(const std::vector<std::string>& paths, std::string_view text) {
  constexpr size_t kHeadBytes = 4096;
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    return FirstBytes(path, kHeadBytes).find(text) != std::string::npos;
  });
}

// Both begin their LOG with what they did.
bool HasLogOfLevelDb(const std::string& directory) {
  const std::vector<std::string> logs = {directory + "/LOG",
                                         directory + "/LOG.old"};
  return !HasText(logs, "RocksDB") &&
         (!FirstBytes(logs[0], 1).empty() || !FirstBytes(logs[1], 1).empty());
}

bool IsOfLevelDb(const std::string& directory, const DatabaseFiles& files) {
  if (files.has_files_of_rocksdb()) return false;
  if (files.tables.empty()) {
    return files.has_manifest && HasLogOfLevelDb(directory);
  }
  bool has_table_of_leveldb = false;
  for (const std::string& table : files.tables) {
    const std::string magic = LastBytes(table);
    if (IsMagicOfRocksDb(magic)) return false;
    if (magic != kLegacyMagic) continue;
    const auto sst = ReadRocksDbSst(table);
    if (sst.ok()) return false;
    has_table_of_leveldb |= absl::IsInvalidArgument(sst.status());
  }
  return has_table_of_leveldb;
}

// True if a file is as RocksDB writes it through its default Env, up to damage.
bool IsPlain(const DatabaseFiles& files) {
  const auto is_text = [](const std::string& path) {
    constexpr size_t kUuidBytes = 36;
    const std::string bytes = FirstBytes(path, kUuidBytes);
    return !bytes.empty() &&
           std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) {
             return std::isprint(byte) != 0 || byte == '\n';
           });
  };
  return HasText(files.options, "[Version]") ||
         std::any_of(files.identity.begin(), files.identity.end(), is_text) ||
         std::any_of(files.tables.begin(), files.tables.end(),
                     [](const std::string& table) {
                       const std::string magic = LastBytes(table);
                       return magic == kLegacyMagic || IsMagicOfRocksDb(magic);
                     });
}

}  // namespace

absl::Status CheckNotOfLevelDb(const std::string& directory) {
  if (!IsOfLevelDb(directory, DatabaseFiles(directory))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      directory +
      ": a LevelDB database, not one of RocksDB; LevelDB checks its tables and "
      "their filters if it is opened with Options::paranoid_checks");
}

absl::Status ExplainUnopened(const std::string& directory,
                             const absl::Status& status) {
  if (status.ok()) return status;
  const DatabaseFiles files(directory);
  if (HasText(files.options, "pebble_version") ||
      std::any_of(files.tables.begin(), files.tables.end(),
                  [](const std::string& table) {
                    return LastBytes(table) == kPebbleMagic;
                  })) {
    return absl::InvalidArgumentError(
        directory +
        ": a Pebble database, not one of RocksDB; check it with Pebble's own "
        "tool: pebble db check DIR");
  }
  if (!files.has_bytes() || IsPlain(files)) return status;
  const bool names_manifest =
      StartsWith(FirstBytes(directory + "/CURRENT", 9), "MANIFEST-");
  return absl::InvalidArgumentError(
      directory + ": " +
      (names_manifest ? "no table, OPTIONS or IDENTITY file"
                      : "neither CURRENT nor any table, OPTIONS or IDENTITY "
                        "file") +
      " is in RocksDB's plain format, so the database is encrypted or was "
      "written through another Env; this tool reads plain files only: check "
      "the filters from a program that opens the database, with "
      "VerifyRocksDbFilters()");
}

}  // namespace rowbloom::tools
