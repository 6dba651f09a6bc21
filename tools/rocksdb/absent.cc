// SPDX-License-Identifier: Apache-2.0
//
// Stands for the other files here where rowbloom is built without RocksDB.

#include "tools/formats/filter_file.h"
#include "tools/formats/paths.h"

namespace rowbloom::tools {

FilterFileOrError OpenRocksDbSst(const std::string& path) {
  return absl::FailedPreconditionError(
      path + ": an SST, and this rowbloom was built without RocksDB");
}

absl::StatusOr<std::vector<TargetFile>> ListLiveSsts(
    const std::string& directory) {
  return absl::FailedPreconditionError(
      directory +
      ": a database of RocksDB, and this rowbloom was built without it");
}

}  // namespace rowbloom::tools
