// SPDX-License-Identifier: Apache-2.0
//
// Stands for tools/rocksdb where rowbloom is built without RocksDB.

#include "tools/verbs/advise.h"
#include "tools/verbs/report.h"
#include "tools/verbs/verbs.h"

namespace rowbloom::tools {
namespace {

absl::Status WithoutRocksDb(const std::string& path, const char* what) {
  return absl::FailedPreconditionError(
      path + ": " + what + ", and this rowbloom was built without RocksDB");
}

}  // namespace

FilterFileOrError OpenRocksDbSst(const std::string& path) {
  return WithoutRocksDb(path, "an SST");
}

absl::StatusOr<std::vector<TargetFile>> ListLiveSsts(
    const DatabasePlace& place, std::vector<std::string>* /*warnings*/) {
  return WithoutRocksDb(place.directory, "a database of RocksDB");
}

int AdviseDatabase(AdviseArguments* arguments) {
  PrintError(ListLiveSsts({arguments->paths[0], {}}, nullptr).status());
  return kExitUsage;
}

void AddRefresh(CLI::App* /*app*/, int* /*exit_code*/) {}

}  // namespace rowbloom::tools
