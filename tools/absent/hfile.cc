// SPDX-License-Identifier: Apache-2.0
//
// Stands for tools/hbase where rowbloom is built without HFiles: they are files
// of no known format, and there is no verb to rebuild them.

#include "tools/verbs/advise.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {

bool IsOlder(const absl::Status& /*status*/) { return false; }

std::unique_ptr<FilterFile> OpenByPlace(const std::string& /*place*/) {
  return nullptr;
}

FilterFileOrError OpenHFile(const std::string& /*path*/,
                            const Source& /*source*/) {
  return nullptr;
}

void AddRebuild(CLI::App* /*app*/, int* /*exit_code*/) {}

int AdviseHFiles(const AdviseArguments& /*arguments*/) {
  throw CLI::ValidationError(
      "PATH",
      "not a RocksDB database, and this rowbloom was built without "
      "HFiles");
}

}  // namespace rowbloom::tools
