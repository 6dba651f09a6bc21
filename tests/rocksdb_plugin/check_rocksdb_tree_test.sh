#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check_rocksdb_tree_test.sh SCRIPT HEADERS SCRATCH: the script accepts the
# installed headers, refuses an unknown release, and fails where there is no
# RocksDB.
set -euo pipefail
script=$1 headers=$2 scratch=$3

# expect CODE PATH PATTERN...: checks the script's exit code and output for
# PATH.
expect() {
  local out code=0 pattern
  out=$("$script" "$2" 2>&1) || code=$?
  for pattern in "${@:3}"; do
    if [ "$code" -ne "$1" ] || ! grep -qE "$pattern" <<<"$out"; then
      printf 'exit code %s, and no "%s" in:\n%s\n' "$code" "$pattern" "$out" >&2
      exit 1
    fi
  done
}

rm -rf "$scratch"
mkdir -p "$scratch/newer/rocksdb"
printf '#define ROCKSDB_%s 99\n' MAJOR MINOR PATCH \
  >"$scratch/newer/rocksdb/version.h"
echo '#error "of the future"' >"$scratch/newer/rocksdb/rocksdb_namespace.h"

expect 0 "$headers" \
  "^[0-9.]+ +c\+\+[0-9]+ +[ABC] +yes +yes +- +$headers$"
expect 1 "$scratch/newer" \
  '^99.99.99 +c\+\+20 +- +refused +NO' \
  'RocksDB 99.*refused:.*newer than' \
  'composed mode: .*of the future'
expect 2 "$scratch" 'no RocksDB'
