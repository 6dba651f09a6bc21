#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds rowbloom for other systems and compilers; see usage().
set -euo pipefail

usage() {
  cat <<'END'
usage: run.sh WORK_DIR [TARGET]...

Without a TARGET it takes all but aarch64-linux-musl, which has not run yet.

Builds the core, the memory filters, the C API and their tests below WORK_DIR,
and runs the tests where this machine can: golden files and vectors of the
format, too. Prints a line for each target with its seconds: ok, skipped with
the reason, or FAILED with the log's path. Exit code 1 if one failed or, where
CI is set, was skipped for another reason than that a download failed.

plain               this machine's compiler without GNU's extensions, as MSVC is
x86_64-linux-musl   static programs, which run here
x86_64-windows-gnu  programs that run under Wine
aarch64-linux-musl  golden_test and vectors, which run under qemu-user
aarch64-macos x86_64-macos
                    for macOS 13; linked, not run; what they take from the
                    system is compared with macos_symbols.txt

All but the first are compiled by zig c++ of the PyPI package ziglang, with
Abseil and xxHash from Debian's source packages. JOBS (the number of cores)
compilers run at once; ccache is used if it is there.
END
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  "" | -*) usage >&2; exit 2 ;;
esac
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
usual=(plain x86_64-linux-musl x86_64-windows-gnu aarch64-macos x86_64-macos)
all=("${usual[@]}" aarch64-linux-musl)
[ $# -gt 0 ] || set -- "${usual[@]}"
for target; do
  [[ " ${all[*]} " == *" $target "* ]] || { usage >&2; exit 2; }
done
jobs=${JOBS:-$(nproc)}
ziglang=0.17.1
launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  export CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=1
  export CCACHE_BASEDIR=$source
fi
# Their facts have nothing to do with the system, and rates take long.
left_out='*Rate*:*MuchMoreThanExpected:*/200000:Fast.AF*:*OfLargeFilters*'
left_out+=':MemFilterMemory.*:*CacheModel*'
rooms=(key util filter budget cache block reader golden memfilter)

# skip REASON: ends a target that this machine cannot build or run.
skip() {
  echo "$1" >"$work/reason"
  exit 77
}
# lacks REASON: the same where a download failed, which is not our fault.
lacks() {
  echo "$1" >"$work/reason"
  exit 78
}

get_zig() {
  zig=$work/venv/bin/zig
  [ ! -x "$zig" ] || return 0
  python3 -m venv "$work/venv" &&
    "$work/venv/bin/pip" install --quiet "ziglang==$ziglang" &&
    ln -s "$("$work/venv/bin/python" -c 'import os, ziglang
print(os.path.dirname(ziglang.__file__))')/zig" "$zig" ||
    lacks "ziglang $ziglang of PyPI could not be installed"
}

# The system's own package sources, as those of source packages.
get_sources() {
  local apt=$work/apt file name
  [ ! -e "$work/sources/done" ] || return 0
  rm -rf "$apt" "$work/sources"
  mkdir -p "$apt"/{lists/partial,parts,downloads} "$work/sources"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
    [ ! -e "$file" ] ||
      sed -E 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$file" \
        >"$apt/parts/$(basename "$file")"
  done
  local options=(-qq -o Acquire::Retries=3 -o "Dir::Etc::SourceList=/dev/null"
    -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State::Lists=$apt/lists")
  (cd "$apt/downloads" && apt-get "${options[@]}" update &&
    apt-get "${options[@]}" source --download-only abseil xxhash) ||
    lacks "Debian's source packages of abseil and xxhash could not be had"
  for name in abseil xxhash; do
    mkdir "$work/sources/$name"
    tar -xf "$apt/downloads/$name"_*.orig.tar.* --strip-components=1 \
      -C "$work/sources/$name"
  done
  # The local time zone of macOS is in a framework, which zig does not have.
  sed -i 's/defined(__APPLE__)/0/' \
    "$work/sources/abseil/absl/time/internal/cctz/src/time_zone_lookup.cc"
  touch "$work/sources/done"
}

# Programs of the same text wherever they stand, for ccache.
write_compilers() {
  local program words system=${target/macos/macos.13.0}
  export ZIG=$zig CCACHE_COMPILERTYPE=clang
  export CCACHE_COMPILERCHECK="string:ziglang $ziglang $system"
  mkdir -p "$work/bin/$target"
  for program in cc c++ ar ranlib rc; do
    words=$program
    [[ $program != c* ]] || words+=" -target $system -fno-sanitize=undefined"
    printf '#!/bin/sh\nexec "$ZIG" %s "$@"\n' "$words" \
      >"$work/bin/$target/$program"
    chmod +x "$work/bin/$target/$program"
  done
}

# configure SOURCE_DIR OPTION...
configure() {
  cmake -S "$1" -B "$work/$target" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -g0" "-DCMAKE_C_FLAGS_RELEASE=-O1 -g0" \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 \
    "${launcher[@]}" "${@:2}"
}

# build NINJA_TARGET...
build() { ninja -C "$work/$target" -j "$jobs" "$@"; }

build_by_zig() {
  get_zig
  get_sources
  write_compilers
  configure "$source/tests/systems" -DROWBLOOM_ZIG_TARGET="$target" \
    -DCMAKE_TOOLCHAIN_FILE="$source/cmake/toolchains/zig.cmake" \
    -DROWBLOOM_ZIG_BIN="$work/bin/$target" -DDEPENDENCIES="$work/sources"
  build "$@"
  tests=$work/$target/rowbloom/tests
}

# run_tests [SUFFIX]: all test programs, by `runner` if it is not empty.
run_tests() {
  printf '%s\n' "${rooms[@]/%/_test}" hosts/c/c_test |
    GTEST_FILTER="-$left_out" GTEST_BRIEF=1 ROWBLOOM_OPERATIONS=50000 \
      xargs -I NAME -P "$jobs" env $runner "$tests/NAME${1:-}"
}

# run_vectors [SUFFIX]: the library writes and answers as they say.
run_vectors() {
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$runner" \
    "$tests/format/write_cases${1:-}" >"$work/$target/write_cases"
  chmod +x "$work/$target/write_cases"
  python3 -B "$source/tests/format/check_format_vectors.py" \
    "$work/$target/write_cases"
}

plain() {
  rooms=(util filter golden memfilter)
  configure "$source" -DROWBLOOM_PLAIN_CXX=ON -DROWBLOOM_DEVELOPER=ON \
    -DROWBLOOM_BUILD_TOOLS=OFF -DROWBLOOM_BUILD_BENCHMARKS=OFF \
    -DROWBLOOM_BUILD_EXAMPLES=OFF
  tests=$work/$target/tests
  build "${rooms[@]/%/_test}" c_test write_cases
  run_tests
  run_vectors
}

musl() {
  left_out+=':TwoCopies.*' # A static program loads no library.
  build_by_zig "${rooms[@]/%/_test}" c_test write_cases
  run_tests
  run_vectors
}

windows() {
  runner=$(command -v wine64 || echo /usr/lib/wine/wine64)
  [ -x "$runner" ] || skip "wine64 is not installed"
  build_by_zig "${rooms[@]/%/_test}" c_test write_cases
  export WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
  # The first start makes the prefix.
  "$runner" "$tests/golden_test.exe" --gtest_list_tests >/dev/null 2>&1
  run_tests .exe
  run_vectors .exe
}

arm_musl() {
  runner=$(command -v qemu-aarch64) || skip "qemu-user is not installed"
  rooms=(golden)
  build_by_zig golden_test c_test write_cases
  run_tests
  run_vectors
}

# The oldest promised release of macOS has all symbols of C that the libraries
# take: look one up there, then add it to the list.
macos() {
  command -v llvm-nm >/dev/null || skip "llvm is not installed"
  build_by_zig key_test golden_test c_test
  local built=$work/$target/rowbloom new
  llvm-nm --undefined-only --just-symbol-name "$built"/{src,hosts/*}/*.a |
    grep '^_' | grep -v '^__Z' | sort -u >"$work/$target/symbols"
  new=$(grep -vxFf "$source/tests/systems/macos_symbols.txt" \
    "$work/$target/symbols" || true)
  [ -z "$new" ] || { echo "not in macos_symbols.txt: $new"; return 1; }
}

run_target() {
  runner=
  case "$target" in
    plain) plain ;;
    x86_64-linux-musl) musl ;;
    x86_64-windows-gnu) windows ;;
    aarch64-linux-musl) arm_musl ;;
    *-macos) macos ;;
  esac
}

failed=0
for target; do
  start=$SECONDS log=$work/$target.log
  set +e
  (set -e; run_target) >"$log" 2>&1
  status=$?
  set -e
  case $status in
    0) result=ok ;;
    77 | 78) result="skipped: $(cat "$work/reason")" ;;
    *) result="FAILED: $log" ;;
  esac
  case $status${CI:+ci} in
    0* | 77 | 78*) ;;
    *) failed=1 && tail -n 40 "$log" ;;
  esac
  printf '%-20s %4d s  %s\n' "$target" $((SECONDS - start)) "$result"
done
exit $failed
