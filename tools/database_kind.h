// SPDX-License-Identifier: Apache-2.0
//
// Tells databases of LevelDB from RocksDB's own.
//
//   absl::Status kind = CheckNotOfLevelDb(directory);
//   if (!kind.ok()) return kind;

#ifndef ROWBLOOM_TOOLS_DATABASE_KIND_H_
#define ROWBLOOM_TOOLS_DATABASE_KIND_H_

#include <string>

#include "absl/status/status.h"

namespace rowbloom::tools {

// InvalidArgument for a database that LevelDB wrote and RocksDB never opened.
absl::Status CheckNotOfLevelDb(const std::string& directory);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_DATABASE_KIND_H_
