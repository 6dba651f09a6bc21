// SPDX-License-Identifier: Apache-2.0
//
// The names of SSTs. RocksDB lists each as NNNNNN.sst and, as LevelDB's tables
// are named so, opens NNNNNN.ldb where that is not there.

#ifndef ROWBLOOM_ROCKSDB_PLUGIN_SST_PATH_H_
#define ROWBLOOM_ROCKSDB_PLUGIN_SST_PATH_H_

#include <string>

#include "rdb.h"
#include "rocksdb/env.h"
#include "rocksdb/metadata.h"

namespace rowbloom::plugin {

// The path by which RocksDB lists an SST.
inline std::string ListedPath(const rdb::FileStorageInfo& sst) {
  return sst.directory + "/" + sst.relative_filename;
}

// LevelDB's name of an SST that RocksDB lists by this path.
inline std::string LevelDbSstPath(std::string path) {
  const size_t dot = path.rfind('.');
  if (dot != std::string::npos && path.compare(dot, path.npos, ".sst") == 0) {
    path.replace(dot, path.npos, ".ldb");
  }
  return path;
}

// The path by which RocksDB opens an SST; `path` if there is no such file.
inline std::string SstPath(rdb::Env* env, const std::string& path) {
  if (env->FileExists(path).ok()) return path;
  std::string other = LevelDbSstPath(path);
  return env->FileExists(other).ok() ? other : path;
}

}  // namespace rowbloom::plugin

#endif  // ROWBLOOM_ROCKSDB_PLUGIN_SST_PATH_H_
