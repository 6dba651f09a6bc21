// SPDX-License-Identifier: Apache-2.0
//
// Tells databases that RocksDB would call damaged, or read without their
// filters, from RocksDB's own: those of LevelDB and Pebble, and those whose
// files were written through another Env.
//
//   absl::Status kind = CheckNotOfLevelDb(directory);
//   if (!kind.ok()) return kind;
//   if (!opened.ok()) return ExplainUnopened(directory, opened.status());

#ifndef ROWBLOOM_TOOLS_ROCKSDB_DATABASE_KIND_H_
#define ROWBLOOM_TOOLS_ROCKSDB_DATABASE_KIND_H_

#include <string>

#include "absl/status/status.h"

namespace rowbloom::tools {

// InvalidArgument for a database that LevelDB wrote and RocksDB never opened,
// if it has tables.
absl::Status CheckNotOfLevelDb(const std::string& directory);

// `status` of a failed open, or InvalidArgument if no file of the database is
// in RocksDB's plain format, or if the database is one of Pebble.
absl::Status ExplainUnopened(const std::string& directory,
                             const absl::Status& status);

}  // namespace rowbloom::tools

#endif  // ROWBLOOM_TOOLS_ROCKSDB_DATABASE_KIND_H_
