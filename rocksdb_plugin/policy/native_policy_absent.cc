// SPDX-License-Identifier: Apache-2.0
//
// Native mode in a build without it (ROWBLOOM_ROCKSDB_NATIVE=OFF): makes no
// policy and says why. It replaces the sources that include filter_bits_abi.h,
// and needs RocksDB's public API alone.

#include <memory>
#include <string>

#include "policy/native_policy.h"
#include "rowbloom/rocksdb.h"

namespace rowbloom {

using RocksDbFilterPolicy = ROCKSDB_NAMESPACE::FilterPolicy;

namespace {

constexpr char kAbsent[] =
    "this build of rowbloom has no native mode (ROWBLOOM_ROCKSDB_NATIVE=OFF); "
    "filter_policy rowbloom.Composed works with any RocksDB";

}  // namespace

const RocksDbFilterPolicy* MakeNativePolicy(
    const std::string& /*id*/,
    std::unique_ptr<const RocksDbFilterPolicy>* /*guard*/, std::string* error) {
  *error = kAbsent;
  return nullptr;
}

std::shared_ptr<const RocksDbFilterPolicy> NewRocksDbFilterPolicy(
    const RocksDbOptions& /*options*/, ROCKSDB_NAMESPACE::Status* error) {
  if (error != nullptr) {
    *error = ROCKSDB_NAMESPACE::Status::NotSupported(kAbsent);
  }
  return nullptr;
}

}  // namespace rowbloom
