#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Uses rowbloom from other languages' bindings of RocksDB; see usage().
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
  cat <<'END'
usage: run.sh MODULE WORK_DIR [LANGUAGE...]

Builds the program of each LANGUAGE (c python rust go) below WORK_DIR for the
installed RocksDB 7.8.3, and runs it twice with the options string in
options.txt: with MODULE, librowbloom_rocksdb_preload.so, where the filters
must answer, and without it, where the program must notice that it has none.
Crates and Go modules come from their registries, in the locked versions.
END
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
esac
if [ $# -lt 2 ] || [ ! -f "$1" ]; then
  usage >&2
  exit 2
fi
module=$(realpath "$1")
mkdir -p "$2"
work=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- c python rust go
# shellcheck source=tests/bindings/rocksdb/try.sh
. "$here/try.sh"

try_c() {
  gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -O1 -o "$work/c" \
    "$here/options.c" -lrocksdb
  try env LD_PRELOAD="$module" "$work/c"
  try_without "$work/c"
}

# Loads the module by itself.
try_python() {
  local librocksdb
  librocksdb=$(ldd "$module" | awk '/librocksdb/ { print $3 }')
  try python3 "$here/options.py" "$module"
  try_without python3 "$here/options.py" "$librocksdb"
}

try_rust() {
  local program=$work/rust/debug/rust_rocksdb_options
  ROCKSDB_LIB_DIR=$(pkg-config --variable=libdir rocksdb) \
  ROCKSDB_INCLUDE_DIR=$(pkg-config --variable=includedir rocksdb) \
    cargo build --quiet --locked --manifest-path "$here/rust/Cargo.toml" \
    --target-dir "$work/rust"
  try env LD_PRELOAD="$module" "$program"
  try_without "$program"
}

# Without the tag grocksdb asks for static libraries of its own.
try_go() {
  (cd "$here/go" && CGO_LDFLAGS=-lrocksdb \
    go build -buildvcs=false -tags grocksdb_no_link -o "$work/go" .)
  try env LD_PRELOAD="$module" "$work/go"
  try_without "$work/go"
}

for language; do
  case "$language" in
    c | python | rust | go) ;;
    *) usage >&2; exit 2 ;;
  esac
done
for language; do
  echo "$language:"
  "try_$language"
done
