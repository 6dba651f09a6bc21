// SPDX-License-Identifier: Apache-2.0
//
// Refuses a RocksDB of another minor release than the one whose headers
// rowbloom was compiled with. The dynamic linker does not: RocksDB's SONAME
// names only the major release, and LD_PRELOAD checks no SONAME. Minor releases
// add members to structs and functions to the middle of vtables.
//
//   const absl::Status& release = CheckRocksDbRelease();
//   if (!release.ok()) return release;  // Before RocksDB's types are touched.
//
// Every public function that takes, makes or calls a RocksDB object checks this
// first. RegisterRocksDb() is the exception: its factories check it. All builds
// have this file, with native mode and without.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_RELEASE_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_RELEASE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "rowbloom/export.h"

namespace rowbloom::plugin {

// CheckRocksDbVersion() of the library that is loaded. Computed once; later
// calls cost some predictable branches. Exported for the preload library.
ROWBLOOM_EXPORT const absl::Status& CheckRocksDbRelease();

// The releases of the loaded library and of the headers, for example "7.8.3".
std::string RunningRocksDbVersion();
std::string CompiledRocksDbVersion();

// FailedPrecondition names both releases if they are not of one minor release.
// Patch releases do not change the layout, except those of 7.0 before 7.0.3,
// which both this check and the compiler refuse.
absl::Status CheckRocksDbVersion(
    std::string_view running,
    std::string_view compiled = CompiledRocksDbVersion());

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_RELEASE_H_
