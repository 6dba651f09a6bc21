// SPDX-License-Identifier: Apache-2.0
//
// From the paths a user named to the files to look at.

#ifndef ROWBLOOM_TOOLS_PATHS_H_
#define ROWBLOOM_TOOLS_PATHS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace rowbloom::tools {

struct TargetFile {
  std::string path;
  std::optional<int> level;  // In its database.
  absl::Status error;        // Why `path` could not be expanded.
};

// A file stands for itself; the directory of a RocksDB database for its live
// SSTs; any other directory for the regular files in it, by name; a pattern of
// the shell, of which there is no file, for what it matches.
std::vector<TargetFile> ExpandPaths(const std::vector<std::string>& paths);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_PATHS_H_
