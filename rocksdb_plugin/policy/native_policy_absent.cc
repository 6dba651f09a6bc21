// SPDX-License-Identifier: Apache-2.0
//
// Native mode in a build without it (ROWBLOOM_ROCKSDB_NATIVE=OFF): makes no
// policy and says why. It replaces the sources that include filter_bits_abi.h,
// and needs RocksDB's public API alone.

#include <memory>

#include "policy/builtin_filter.h"
#include "policy/native_policy.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom::plugin {

namespace {

constexpr char kAbsent[] =
    "this build of rowbloom has no native mode (ROWBLOOM_ROCKSDB_NATIVE=OFF); "
    "filter_policy rowbloom.Composed works with any RocksDB";

}  // namespace

absl::StatusOr<std::unique_ptr<const rdb::FilterPolicy>> ParseNativePolicy(
    std::string_view /*id*/) {
  return absl::UnimplementedError(kAbsent);
}

FilterSetting NativePolicy::SettingFor(
    const rdb::FilterBuildingContext& /*context*/) const {
  return {};  // There is no such policy.
}

BuiltinAsker AskerOfBuiltin(absl::Span<const std::string> /*filters*/) {
  return nullptr;
}

}  // namespace rowbloom::plugin

namespace rowbloom {

std::shared_ptr<const rdb::FilterPolicy> NewRocksDbFilterPolicy(
    const RocksDbOptions& /*options*/, rdb::Status* error) {
  if (error != nullptr) {
    *error = rdb::Status::NotSupported(plugin::kAbsent);
  }
  return nullptr;
}

}  // namespace rowbloom
