// SPDX-License-Identifier: Apache-2.0

#include "release.h"

#include "absl/strings/str_cat.h"
#include "rocksdb/version.h"

namespace rowbloom::plugin {

namespace {

// For example "7.8" for "7.8.3".
std::string_view MinorRelease(std::string_view version) {
  return version.substr(0, version.rfind('.'));
}

// The compiler refuses them too: FilterPolicy lacks CompatibilityName().
bool HasOlderInterface(std::string_view version) {
  return version == "7.0.0" || version == "7.0.1" || version == "7.0.2";
}

}  // namespace

const absl::Status& CheckRocksDbRelease() {
  static const auto* const status =
      new absl::Status(CheckRocksDbVersion(RunningRocksDbVersion()));
  return *status;
}

std::string RunningRocksDbVersion() {
  return ROCKSDB_NAMESPACE::GetRocksVersionAsString(/*with_patch=*/true);
}

std::string CompiledRocksDbVersion() {
  return absl::StrCat(ROCKSDB_MAJOR, ".", ROCKSDB_MINOR, ".", ROCKSDB_PATCH);
}

absl::Status CheckRocksDbVersion(std::string_view running,
                                 std::string_view compiled) {
  if (MinorRelease(running) == MinorRelease(compiled) &&
      !HasOlderInterface(running)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("rowbloom was compiled for RocksDB ", std::string(compiled),
                   " but RocksDB ", std::string(running),
                   " is loaded; compile it for that release"));
}

}  // namespace rowbloom::plugin
