// SPDX-License-Identifier: Apache-2.0

#include "filter_bits_abi.h"

#include "absl/strings/str_cat.h"

namespace rowbloom {

std::string RunningRocksDbVersion() {
  return ROCKSDB_NAMESPACE::GetRocksVersionAsString(/*with_patch=*/false);
}

absl::Status CheckRocksDbVersion(std::string_view running) {
  const std::string compiled = absl::StrCat(ROCKSDB_MAJOR, ".", ROCKSDB_MINOR);
  if (running == compiled) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "rowbloom was compiled for RocksDB ", compiled, " but RocksDB ",
      std::string(running), " is loaded; compile it for that release"));
}

}  // namespace rowbloom
