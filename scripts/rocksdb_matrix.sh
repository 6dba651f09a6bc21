#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs rowbloom inside RocksDB releases; see usage().
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/rocksdb_paths.sh
. scripts/rocksdb_paths.sh

usage() {
  cat <<'END'
usage: rocksdb_matrix.sh [--built DIRECTORY] PATH...

Builds rowbloom for each RocksDB, runs it there and prints a table. PATH is an
install prefix, as /usr is, or a source tree of RocksDB, of which the script
first builds the shared library with its assertions, ldb and sst_dump, in some
minutes. Get the trees yourself, for instance from the release archives of
github.com/facebook/rocksdb.

  build         everything compiles: plugin, tool, examples, tests, benchmarks
  tests         tests/rocksdb_plugin, the differential test aside: passed of run
  differential  random operations compared with a map: operations, how many
                times a filter said no, wrong answers
  reads         wasted data-block reads per 1000 gets of absent rows, without a
                filter, with RocksDB's Bloom filter and with ROWCOL compact
  tool          tests/tools and tests/rocksdb_plugin/preload: passed of run

  --built DIRECTORY  a build of everything for the one PATH, by preset check
                     say, in place of a build of its own

OPERATIONS (1000000) is how many random operations there are; LEFT_OUT, a filter
of GoogleTest, names tests that are not run. What is built and the logs stay in
build/rocksdb_matrix/RELEASE, and are used again.

Exit code 0 if all is well, 1 if anything fails, 2 for wrong arguments.
END
}

work=$PWD/build/rocksdb_matrix
operations=${OPERATIONS:-1000000}
export CMAKE_CXX_COMPILER_LAUNCHER=ccache
export CCACHE_SLOPPINESS=pch_defines,time_macros

# `set -e` is off in all functions below, because the callers test their exit
# codes.

# build_rocksdb TREE: makes $directory/prefix look like an installation of TREE.
# RocksDB's own install target needs the static library, which would double the
# build time.
build_rocksdb() {
  local build=$directory/rocksdb prefix=$directory/prefix
  cmake -S "$1" -B "$build" -G Ninja \
    -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O1 \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
    -DROCKSDB_BUILD_SHARED=ON -DUSE_RTTI=ON -DPORTABLE=1 \
    -DFAIL_ON_WARNINGS=OFF -DWITH_LIBURING=OFF -DWITH_TESTS=OFF \
    -DWITH_TOOLS=OFF -DWITH_CORE_TOOLS=ON -DWITH_BENCHMARK_TOOLS=OFF \
    -DWITH_GFLAGS=OFF -DWITH_SNAPPY=ON -DWITH_LZ4=ON -DWITH_ZSTD=ON \
    -DWITH_ZLIB=ON -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_INSTALL_PREFIX="$prefix" &&
    cmake --build "$build" --target rocksdb-shared ldb sst_dump &&
    mkdir -p "$prefix/bin" "$prefix/lib/pkgconfig" &&
    ln -sfn "$1/include" "$prefix/include" &&
    ln -sf "$build"/librocksdb.so* "$prefix/lib" &&
    ln -sf "$build"/tools/{ldb,sst_dump} "$prefix/bin" &&
    cp "$build/rocksdb.pc" "$prefix/lib/pkgconfig"
}

build_rowbloom() {
  cmake --preset test -B "$rowbloom" -DROWBLOOM_BUILD_BENCHMARKS=ON \
    -DCMAKE_PREFIX_PATH="$prefix" &&
    cmake --build "$rowbloom"
}

# run_tests PROGRAM...: prints "passed of run" from GoogleTest's last lines.
run_tests() {
  local program log passed=0 run=0 failed=0
  for program; do
    log=$directory/$(basename "$program").log
    "$program" \
      --gtest_filter="-DbDifferential.AnswersAsAMapDoes:${LEFT_OUT:-}" \
      >"$log" 2>&1 || failed=1
    # A program that crashed prints neither count.
    passed=$((passed + $(sed -n 's/^\[  PASSED  \] \([0-9]*\) .*/\1/p' \
      "$log" | grep . || echo 0)))
    run=$((run + $(sed -n 's/^\[=*\] \([0-9]*\) .* ran\..*/\1/p' \
      "$log" | grep . || echo 0)))
  done
  echo "$passed of $run"
  return "$failed"
}

differential() {
  local log=$directory/differential.log
  ROWBLOOM_OPERATIONS=$operations \
    "$rowbloom/tests/rocksdb_plugin/rocksdb_db_test" \
    --gtest_filter=DbDifferential.AnswersAsAMapDoes >"$log" 2>&1 || true
  sed -n 's/^ours: \([0-9]*\) operations, \([0-9]*\) times a filter said no,'`
    `' \([0-9]*\) wrong answers.*/\1; \2 no; \3 wrong/p' "$log"
  grep -q '^\[  PASSED  \] 1 test' "$log"
}

reads() {
  local json=$directory/reads.json
  "$rowbloom/bench/rocksdb/reads_bench" rows --rows 40000 --gets 3000 \
    --policies none,rocksdb_bloom,rowbloom_rowcol_compact --json "$json" \
    >"$directory/reads.log" 2>&1 || return 1
  python3 - "$json" <<'END'
import json, sys
results = json.load(open(sys.argv[1]))
wasted = {run["policy"]: run["wasted_reads_per_1000_gets"]
          for run in results["runs"]
          if run["query"] == "absent_row" and run["mix"] == "uniform"}
if results["wrong_answers"]:
    sys.exit("wrong answers")
print("none {none:.0f}, Bloom {rocksdb_bloom:.1f}, "
      "compact {rowbloom_rowcol_compact:.1f}".format(**wasted))
END
}

tool() {
  run_tests "$rowbloom/tests/tools/cli_test" \
    "$rowbloom/tests/rocksdb_plugin/preload/rocksdb_preload_test"
}

# cell NAME COMMAND...: stores the command's output, after FAILED if it failed.
cell() {
  local out code=0
  out=$("${@:2}") || code=1
  [ $code -eq 0 ] || out="FAILED $out"
  echo "$out" >"$directory/$1.cell"
  return $code
}

check() {
  local path directory release prefix rowbloom result=yes
  path=$(cd "$1" && pwd)
  release=$(release_of "$(headers "$path")")
  directory=$work/$release
  mkdir -p "$directory"
  rm -f "$directory"/*.cell
  prefix=$path
  rowbloom=${built:-$directory/rowbloom}
  echo "RocksDB $release: build" >&2
  if [ -f "$path/CMakeLists.txt" ]; then
    prefix=$directory/prefix
    build_rocksdb "$path" >"$directory/rocksdb.log" 2>&1 || result=
  fi
  if [ "$result" ] && [ -z "$built" ]; then
    build_rowbloom >"$directory/build.log" 2>&1 || result=
  fi
  if ! grep -qx "ROWBLOOM_ROCKSDB_RELEASE:INTERNAL=$release" \
    "$rowbloom/CMakeCache.txt"; then
    echo "$rowbloom was not built for RocksDB $release" >&2
    result=
  fi
  if [ -z "$result" ]; then
    echo "| $release | FAILED: $directory | - | - | - | - |" >>"$work/table"
    return 1
  fi
  echo "RocksDB $release: run" >&2
  (cell differential differential) &
  local plugin_tests=$rowbloom/tests/rocksdb_plugin
  cell tests run_tests "$plugin_tests/rocksdb_test" \
    "$plugin_tests/rocksdb_db_test" || result=
  cell reads reads || result=
  cell tool tool || result=
  wait $! || result=
  printf '| %s | yes | %s | %s | %s | %s |\n' "$release" \
    "$(cat "$directory/tests.cell")" "$(cat "$directory/differential.cell")" \
    "$(cat "$directory/reads.cell")" "$(cat "$directory/tool.cell")" \
    >>"$work/table"
  [ "$result" ]
}

built=
if [ "${1:-}" = --built ] && [ $# -eq 3 ]; then
  built=$(cd "$2" && pwd)
  shift 2
fi
case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  "" | -*) usage >&2; exit 2 ;;
esac
for path; do headers "$path" >/dev/null || exit 2; done

mkdir -p "$work"
: >"$work/table"
code=0
for path; do check "$path" || code=1; done
echo "| RocksDB | build | tests | differential | reads | tool |"
echo "|---|---|---|---|---|---|"
cat "$work/table"
exit $code
