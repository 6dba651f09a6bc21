// SPDX-License-Identifier: Apache-2.0
//
// Expands the paths that a user named into files.

#ifndef ROWBLOOM_TOOLS_FORMATS_PATHS_H_
#define ROWBLOOM_TOOLS_FORMATS_PATHS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/formats/filter_file.h"

namespace rowbloom::tools {

struct TargetFile;

// The column family that a database's files belong to: the filters that its
// options ask for, and how the files compare.
class ColumnFamily {
 public:
  virtual ~ColumnFamily() = default;

  // FilterFile::Verify(), and a check that the filter is the expected one.
  // NotFound if the database has dropped the file since it was listed; the file
  // does not count then.
  virtual absl::Status Verify(const TargetFile& file, Json* entry) = 0;
  // Replaces Verify() for a file that could not be opened. Returns the status
  // to report: NotFound as above, DataLoss if the file is missing and should
  // not be, or `status`.
  virtual absl::Status AddUnopened(const TargetFile& file,
                                   const absl::Status& status) = 0;
  // The summary of the files verified so far: {"column_family", "expected",
  // "warnings"} and the sums, and the same as lines. The OPTIONS file does not
  // hold the capacity of the block cache.
  virtual Json Summary(std::optional<uint64_t> block_cache_bytes) = 0;
  virtual std::string TextOf(const Json& summary) const = 0;
};

struct TargetFile {
  std::string path;
  absl::Status error = {};                    // If `path` was not expanded.
  std::optional<int> level = {};              // In its database.
  std::shared_ptr<ColumnFamily> family = {};  // Null outside of databases.
  std::string place = {};                     // Below the directory walked.
  std::optional<uint64_t> size_bytes = {};    // As its database has it.
};

// Where the files of a RocksDB database are. No file of it names the
// directories that its program has in db_paths or cf_paths.
struct DatabasePlace {
  std::string directory;
  std::vector<std::string> db_paths;  // Further ones with SSTs, in any order.
};

// The live SSTs of a RocksDB database, by column family, level and file number.
// Adds a warning if there are others, unless `warnings` is null.
absl::StatusOr<std::vector<TargetFile>> ListLiveSsts(
    const DatabasePlace& place, std::vector<std::string>* warnings);

// True for the URL of a filter on a Redis server.
bool IsRedisPath(const std::string& path);
// The path as it may be printed: without a URL's password.
std::string ShownPath(const std::string& path);
// The text without the passwords of the Redis URLs in it.
std::string WithoutPasswords(const std::string& text);

// Where HBase writes files before it moves them to their family.
inline constexpr char kUnfinishedDirectory[] = ".tmp";

// True for a file below a directory that was named, if HBase gives no store
// file such a name: a write-ahead log, a text.
bool IsStray(const TargetFile& file);

// A file or a URL stands for itself; the directory of a RocksDB database for
// its live SSTs; any other directory for the files in it and below it, by name;
// a shell pattern that is not a file's name for its matches. A directory
// without files is an error, and so is an entry that cannot be read. `db_paths`
// has the further directories of the databases. Adds warnings of databases if
// `warnings` is not null.
std::vector<TargetFile> ExpandPaths(
    const std::vector<std::string>& paths,
    const std::vector<std::string>& db_paths = {},
    std::vector<std::string>* warnings = nullptr);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_FORMATS_PATHS_H_
