#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs every check that is deeper than test.sh, in steps; see usage().
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

# A long step first that does not need what the step release builds.
steps=(
  "format     style, shell scripts, commit messages; the API keeps its promises"
  "asan       all tests under AddressSanitizer and UBSan"
  "release    optimised build of everything, its tests, headers by themselves"
  "older_cpus the tests of kernels and golden files, on older x86-64 CPUs"
  "rocksdb    the installed RocksDB: the matrix, its classes, no need of RTTI"
  "releases   the plugin compiles for later releases of RocksDB"
  "languages  RocksDB from C, Python, Rust and Go, with the preload library"
  "install    installed, linked and run in every way that the documents name"
  "bindings   programs in C, Rust, Python, Go and Java over the C API"
  "site       the pages with search and the API reference, advise in a browser"
  "packaging  Debian, Conan, vcpkg and Bazel packages, a rehearsed release"
  "tsan       the tests with threads under ThreadSanitizer"
  "fuzz       each fuzz target: its corpus, then new inputs for a while"
  "tidy       clang-tidy finds nothing"
  "aarch64    the NEON kernels: their tests in emulation, clang-tidy"
  "systems    the core without GNU extensions; with SYSTEMS, on other systems"
  "s390x      cross build for a big-endian machine, its tests in emulation"
  "hbase      HBase, also running, answers from files that rowbloom rebuilt"
  "redis      Redisson and rowbloom share filters on a server"
)

usage() {
  cat <<'END'
usage: check.sh [--list] [STEP...]

Runs the steps, or all of them, two at a time, after installing the Debian
packages of the lists core, engines, test and check, and those of the step
itself. A step that fails does not stop the others; the summary at the end names
it, and the exit code is 1. Exit code 2: wrong arguments.

  --list  print the steps

FUZZ_SECONDS (6) is how long each fuzz target looks for new inputs, and SYSTEMS
("") are more targets of tests/systems/run.sh: "x86_64-linux-musl".
END
}

list() { printf '%s\n' "${steps[@]}"; }

packages() {
  locked packages scripts/install_packages.sh core engines test check "$@"
}

format() {
  packages
  scripts/format.sh check
  scripts/check_commits.sh
  shellcheck -x -S warning scripts/*.sh
  # Debian's Python has clang's module.
  /usr/bin/python3 -B tests/stability/check_stability.py .
  /usr/bin/python3 -B tests/stability/check_stability_test.py
}

# The matrix runs the tests of RocksDB and of the tool in this build. Tests of
# text and of other processes do not depend on the optimiser. The step install
# has its consumers, and more.
release() {
  packages
  build check all all_verify_interface_header_sets
  local left_out='rocksdb(_db|_first_line)?_test(_2)?|cli_test|redis.*|layers.*'
  left_out+='|install\.(pkg_config|sanitized.*|.*find_package)'
  run_tests check -E "^($left_out|readme|format.*|mini_kv_c.*)\$"
}

# Code for newer instructions must run where there are none: a kernel that is
# chosen wrongly, or a function that was compiled with a kernel's flags and is
# used elsewhere, is an illegal instruction there. Rates and sizes are the same.
older_cpus() {
  local tests=build/check/tests
  local left_out='*Rate*:*MuchMoreThanExpected:*/200000:Fast.AF*:*Mebibytes*'
  packages
  build check filter_test golden_test
  printf '%s\n' {qemu64,Nehalem,Haswell}" $tests/"{filter,golden}_test |
    GTEST_FILTER="-$left_out" ROWBLOOM_OPERATIONS=1000000 GTEST_BRIEF=1 \
      xargs -P "$jobs" -L 1 qemu-x86_64 -cpu
}

# Release builds of RocksDB have no RTTI: an object that needs the typeinfo of
# one of its classes does not link to them.
needs_no_typeinfo_of_rocksdb() {
  find "$1" -name '*.o' -exec nm -AuC {} + |
    awk '/typeinfo for rocksdb::/ { print; found = 1 } END { exit found }'
}

rocksdb() {
  packages
  build check
  needs_no_typeinfo_of_rocksdb build/check
  # Their rates and counts are those of test.sh.
  local left_out='*DbAutoBits*:DbGetCost*:DbBudget*:DbDifferential.Control*'
  left_out+=':DbVerify.Observed*:DbVerify.Whatever*:*NeverOther*'
  left_out+=':*SessionsReplay'
  OPERATIONS=30000 LEFT_OUT=$left_out \
    scripts/rocksdb_matrix.sh --built build/check /usr
  tests/rocksdb_plugin/check_rocksdb_tree_test.sh \
    scripts/check_rocksdb_tree.sh /usr/include build/rocksdb_versions
}

releases() {
  packages languages
  tests/rocksdb_plugin/released_headers.sh build/rocksdb_releases
}

languages() {
  packages languages
  build check rowbloom_rocksdb_preload
  tests/bindings/rocksdb/run.sh \
    build/check/rocksdb_plugin/librowbloom_rocksdb_preload.so build/languages
}

install() {
  packages
  build check
  # Most of their commands keep one core busy.
  tests/install/documents_test.sh build/documents >build/documents.txt 2>&1 &
  local documents=$! result=0
  tests/install/install_every_way.sh build/install build/check || result=1
  wait "$documents" || result=1
  cat build/documents.txt
  return "$result"
}

bindings() {
  packages bindings
  tests/bindings/run.sh build/bindings
}

site() {
  packages site
  scripts/site.sh
  build check rowbloom_tool rowbloom_cli_inputs
  tests/tools/page_in_browser.sh build/check/tools/rowbloom \
    build/check/tests/tools/rowbloom_cli_inputs
}

packaging() {
  packages packaging
  packaging/check.sh build/packaging
}

# Rates, sizes and counts of reads need no sanitizer, and rocksdb_db_test runs
# the same code as rocksdb_first_line_test. The preset leaves such tests out.
# The tool is given damaged and unknown files.
asan() {
  packages
  build asan
  run_tests asan -E '^(rocksdb_first_line|cli)_test$'
  ASAN_OPTIONS=allocator_may_return_null=1 build/asan/tests/tools/cli_test \
    --gtest_brief=1 \
    --gtest_filter='*Damage*:*Newer*:*Unknown*:*Flipped*:*Rebuild*:Other*'
}

tsan() {
  local tests=(util cache hfile memfilter mini_kv_store reader)
  packages
  build tsan "${tests[@]/%/_test}"
  GTEST_FILTER='*Threads.*:FilterStats.*' \
    run_tests tsan -R "^($(IFS='|' && echo "${tests[*]}"))_test$"
}

fuzz() {
  packages
  # shellcheck disable=SC2046 # One word for each target.
  build fuzz $(fuzz_targets)
  export -f fuzz_one
  # shellcheck disable=SC2016 # $0 is the target.
  fuzz_targets | xargs -n 1 -P "$jobs" \
    bash -c 'fuzz_one "$0" "${FUZZ_SECONDS:-6}"'
}

tidy() {
  packages
  cmake --preset tidy >/dev/null
  scripts/tidy.sh
}

# These tests reach the NEON kernels; s390x runs the others, too.
aarch64() {
  local tests=(util filter memfilter golden)
  packages cross
  build aarch64 "${tests[@]/%/_test}"
  run_tests aarch64 -R "^($(IFS='|' && echo "${tests[*]}"))_test$"
  scripts/tidy.sh build/aarch64 _neon.cc
}

s390x() {
  packages cross
  build s390x
  run_tests s390x -E '^(budget|planning)_test$' # They have no bytes.
}

# A system takes seven to ten minutes more the first time, when the compiler
# builds the system's libraries, too.
systems() {
  packages ${SYSTEMS:+systems}
  # shellcheck disable=SC2086 # One word for each target.
  tests/systems/run.sh build/systems plain ${SYSTEMS:-}
}

hbase() {
  packages hbase
  build check rowbloom_tool
  tests/hosts/hfile/hbase/compare_rebuilt.sh build/check/tools/rowbloom
  tests/hosts/hfile/hbase/cluster.sh build/check/tools/rowbloom
}

redis() {
  packages redisson
  build check redisson_peer
  tests/hosts/redis/redisson/compare.sh \
    build/check/tests/hosts/redis/redisson_peer
}

case "${1:-}" in
  --list) list; exit 0 ;;
  -h | --help) usage; printf '\n%s\n' "Steps:"; list | sed 's/^/  /'; exit 0 ;;
esac
known=" $(list | cut -d' ' -f1 | paste -sd' ') "
for name; do
  [[ $known == *" $name "* ]] || {
    echo "check.sh: unknown step \"$name\"; known:$known" >&2
    exit 2
  }
done
# shellcheck disable=SC2086 # One word for each step.
[ $# -gt 0 ] || set -- $known

if [ $# -eq 1 ]; then
  step "$1" "$1"
else
  steps_side_by_side "$@"
fi
finish
