#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds RocksDB with the plugin inside, and uses it; see usage().
set -euo pipefail
# shellcheck source=scripts/rocksdb_paths.sh
. "$(dirname "$0")/rocksdb_paths.sh"

usage() {
  cat <<'END'
usage: build_in_tree.sh ROCKSDB_TREE WORK_DIR [cmake|make]...

Installs the core below WORK_DIR, copies the RocksDB source tree there, links
the plugin into it, and builds RocksDB's static library and ldb with it, by
CMake and by make (or one of them). A program without a word of rowbloom then
makes its policies from strings, and ldb reads what it wrote. Takes as long as
RocksDB does; what is in WORK_DIR is not built again.

JOBS (the number of cores) compilers run at once.
END
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
esac
if [ $# -lt 2 ] || [ ! -f "$1/include/rocksdb/version.h" ]; then
  usage >&2
  exit 2
fi
for build in "${@:3}"; do
  case "$build" in
    cmake | make) ;;
    *) usage >&2; exit 2 ;;
  esac
done
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$2"
work=$(cd "$2" && pwd)
tree=$work/rocksdb
[ -d "$tree" ] || cp -a "$1" "$tree"
shift 2
jobs=${JOBS:-$(nproc)}

install_core() {
  cmake -S "$source" -B "$work/core" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DROWBLOOM_WITH_ROCKSDB=OFF -DROWBLOOM_WITH_LEVELDB=OFF \
    -DROWBLOOM_BUILD_TESTS=OFF -DROWBLOOM_BUILD_BENCHMARKS=OFF \
    -DROWBLOOM_BUILD_TOOLS=OFF -DROWBLOOM_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "$work/core" -j "$jobs"
  cmake --install "$work/core" --prefix "$work/prefix" >/dev/null
  PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name rowbloom.pc)")
  export PKG_CONFIG_PATH
}

# try BUILD LIBRARY LIBS...: builds the program against that librocksdb.a and
# runs it, and the ldb beside the library.
try() {
  local build=$1 library=$2 program=$work/from_strings.$1 db policy out
  shift 2
  g++ -std="$(standard_of "$tree/include")" -o "$program" -I "$tree/include" \
    "$source/tests/rocksdb_plugin/preload/from_strings.cc" "$library" "$@"
  for policy in rowbloom:12 "{id=rowbloom;bloom_type=ROW;filter_spec=compact}" \
    "{id=rowbloom.Composed;filter=bloom}"; do
    db=$work/db.$build
    rm -rf "$db"
    "$program" "$db" "$policy" rowbloom.RowPrefix:ROW:ordered
    out=$("$ldb" --db="$db" --try_load_options get key10998)
    [ "$out" = value ] || { echo "ldb says: $out" >&2; return 1; }
    "$ldb" --db="$db" --try_load_options compact
    grep -q 'id=rowbloom' "$(ls -t "$db"/OPTIONS-* | head -n 1)" ||
      { echo "ldb has lost the policy" >&2; return 1; }
  done
  printf '%s: works\n\n' "$build"
}

by_cmake() {
  local ldb=$work/cmake/tools/ldb
  cmake -S "$tree" -B "$work/cmake" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DROCKSDB_PLUGINS=rowbloom -DROCKSDB_BUILD_SHARED=OFF -DWITH_GFLAGS=OFF \
    -DWITH_TESTS=OFF -DWITH_BENCHMARK_TOOLS=OFF -DWITH_TOOLS=OFF >/dev/null
  cmake --build "$work/cmake" -j "$jobs" --target rocksdb ldb
  # shellcheck disable=SC2046 # One word for each flag.
  try cmake "$work/cmake/librocksdb.a" \
    $(pkg-config --libs rowbloom absl_strings) -ldl -lpthread
}

by_make() {
  local ldb=$tree/ldb
  make -C "$tree" -j "$jobs" DEBUG_LEVEL=0 ROCKSDB_PLUGINS=rowbloom \
    ROCKSDB_DISABLE_GFLAGS=1 LIB_MODE=static static_lib ldb
  # shellcheck disable=SC2046 # One word for each flag.
  try make "$tree/librocksdb.a" \
    $(pkg-config --libs rowbloom absl_strings) \
    $(sed -n 's/^PLATFORM_LDFLAGS=//p' "$tree/make_config.mk")
}

install_core
# The plugin directory holds links to files, because make puts objects beside
# the sources.
rm -rf "$tree/plugin/rowbloom"
cp -rs "$source/rocksdb_plugin" "$tree/plugin/rowbloom"
[ $# -gt 0 ] || set -- cmake make
for build; do
  "by_$build"
done
