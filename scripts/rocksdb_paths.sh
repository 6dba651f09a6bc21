# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions of scripts that are given RocksDB source trees and install prefixes.

# standard_of HEADERS: prints the C++ standard that they need, c++17 or c++20.
standard_of() {
  if echo '#include "rocksdb/db.h"' |
    "${CXX:-g++}" -std=c++17 -fsyntax-only -I "$1" -x c++ - 2>/dev/null; then
    echo c++17
  else
    echo c++20
  fi
}

# headers PATH: prints the directory that holds rocksdb/version.h.
headers() {
  local directory
  for directory in "$1/include" "$1"; do
    if [ -f "$directory/rocksdb/version.h" ]; then
      echo "$directory"
      return
    fi
  done
  echo "$1: no RocksDB: neither include/rocksdb/version.h nor" \
    "rocksdb/version.h is there" >&2
  return 1
}

# release_of HEADERS: prints the release, such as 7.8.3.
release_of() {
  sed -n 's/^#define ROCKSDB_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\).*/\2/p' \
    "$1/rocksdb/version.h" | paste -sd.
}
