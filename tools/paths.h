// SPDX-License-Identifier: Apache-2.0
//
// From the paths a user named to the files to look at.

#ifndef ROWBLOOM_TOOLS_PATHS_H_
#define ROWBLOOM_TOOLS_PATHS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "filter_file.h"

namespace rowbloom::tools {

struct TargetFile;

// The column family of a database that files belong to: what its options ask
// of their filters, and how these compare.
class ColumnFamily {
 public:
  virtual ~ColumnFamily() = default;

  // As FilterFile::Verify(), and whether the filter is the expected one.
  // NotFound if the database has dropped the file since it was listed; it does
  // not count then.
  virtual absl::Status Verify(const TargetFile& file, Json* entry) = 0;
  // In place of Verify(), for a file that could not be opened. Returns what is
  // to be said of it: NotFound as above, DataLoss if it is missing and should
  // not be, or `status`.
  virtual absl::Status AddUnopened(const TargetFile& file,
                                   const absl::Status& status) = 0;
  // The capacity of the block cache that the database is opened with: its
  // OPTIONS file does not hold it.
  virtual void SetBlockCache(uint64_t capacity_bytes) = 0;
  // Of the files verified so far: {"column_family", "expected", "warnings"}
  // and the sums, as JSON and as lines.
  virtual Json Summary() const = 0;
  virtual std::string SummaryText() const = 0;
};

struct TargetFile {
  std::string path;
  std::optional<int> level;              // In its database.
  absl::Status error;                    // Why `path` could not be expanded.
  std::shared_ptr<ColumnFamily> family;  // Null outside of databases.
};

// A file stands for itself; the directory of a RocksDB database for its live
// SSTs; any other directory for the regular files in it, by name; a pattern of
// the shell, of which there is no file, for what it matches.
std::vector<TargetFile> ExpandPaths(const std::vector<std::string>& paths);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_PATHS_H_
