#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test.sh [--quick]: everything that CI runs, from a fresh clone. --quick stops
# after the release build and its tests. Ends at the first failure.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") quick=false ;;
  --quick) quick=true ;;
  *) echo "usage: test.sh [--quick]" >&2; exit 2 ;;
esac

fuzz_seconds=20
jobs=$(nproc)
summary=

# step TITLE COMMAND...: runs it between a header and a line in the summary.
step() {
  local title=$1 start=$SECONDS
  shift
  printf '\n=== %s (at %d s)\n' "$title" "$start"
  if ! "$@"; then
    printf '%s\nFAILED: %s, after %d s\n' "$summary" "$title" \
      $((SECONDS - start)) >&2
    exit 1
  fi
  summary+=$(printf '\n  %4d s  %s' $((SECONDS - start)) "$title")
}

# build PRESET [TARGET...]: all targets if none is named.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null &&
    cmake --build --preset "$preset" ${1:+--target "$@"}
}

run_tests() {
  local preset=$1
  shift
  ctest --preset "$preset" -j "$jobs" "$@"
}

# Each directory of the corpus belongs to the target of that name. It runs
# first; what is found beyond it goes to the build directory.
fuzz_targets() {
  local directory
  for directory in tests/fuzz/corpus/*/; do
    echo "$(basename "$directory")_fuzz"
  done
}

fuzz_one() {
  local target=$1 found=build/fuzz/found/$1
  mkdir -p "$found"
  if ! "build/fuzz/tests/fuzz/$target" -max_total_time="$fuzz_seconds" \
    -print_final_stats=1 -artifact_prefix="$found-" \
    "$found" "tests/fuzz/corpus/${target%_fuzz}" >"$found.log" 2>&1; then
    tail -n 50 "$found.log"
    return 1
  fi
  echo "$target:" \
    "$(sed -n 's/^stat::number_of_exec.*: *//p' "$found.log") inputs"
}

fuzz() {
  export -f fuzz_one
  export fuzz_seconds
  # shellcheck disable=SC2016 # $0 is the target.
  fuzz_targets | xargs -n 1 -P "$jobs" bash -c 'fuzz_one "$0"'
}

# What newer instructions are compiled into must run where there are none.
older_x86_64() {
  local cpu name
  for cpu in qemu64 Nehalem; do
    for name in filter_test golden_test; do
      GTEST_FILTER='-*ObservedRate*' GTEST_BRIEF=1 \
        qemu-x86_64 -cpu "$cpu" "build/release/tests/$name" || return 1
    done
  done
}

step "packages" scripts/install_packages.sh
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

step "release: build" build release
step "release: public headers compile alone" \
  build release all_verify_interface_header_sets
step "release: tests" run_tests release
if ! $quick; then
  step "format" scripts/format.sh check
  step "asan: build" build asan
  step "asan: tests" run_tests asan
  step "tsan: build" build tsan base_test cache_test hfile_test memfilter_test \
    mini_kv_store_test reader_test stats_test
  step "tsan: tests" env GTEST_FILTER='*Threads.*:FilterStats.*' \
    ctest --preset tsan \
    -R '^(base|cache|hfile|memfilter|mini_kv_store|reader|stats)_test$'
  # shellcheck disable=SC2046 # One word for each target.
  step "fuzz: build" build fuzz $(fuzz_targets)
  step "fuzz: corpus and $fuzz_seconds s for each target" fuzz
  step "clang-tidy" scripts/tidy.sh
  step "cross: packages" scripts/install_packages.sh --cross
  step "cross: aarch64: build" build aarch64
  step "cross: aarch64: tests" run_tests aarch64
  step "cross: aarch64: clang-tidy of the NEON kernels" \
    scripts/tidy.sh build/aarch64 _neon.cc
  step "cross: s390x: build" build s390x
  step "cross: s390x: tests" run_tests s390x
  step "cross: tests on older x86-64" older_x86_64
fi

printf '%s\n  %4d s  all passed\n' "$summary" "$SECONDS"
