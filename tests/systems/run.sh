#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds rowbloom for other systems and compilers; see usage().
set -euo pipefail

usage() {
  cat <<'END'
usage: run.sh WORK_DIR [TARGET]...

Without a TARGET it takes all.

Builds the core, the memory filters, the C API, HFiles, the tool and their tests
below WORK_DIR, and runs the tests where this machine can, of golden files and
vectors of the format, too. Prints a line for each target with its seconds and
those of processors: ok, skipped with the reason, or FAILED with the log's path.
Exit code 1 if one failed or, where CI is set, was skipped for another reason
than that a download failed.

plain               this machine's compiler without GNU's extensions, as MSVC is
x86_64-linux-musl   static programs, which run here
x86_64-windows-gnu  programs that run under Wine
aarch64-linux-musl  static programs; fewer tests, under qemu-user
aarch64-macos x86_64-macos
                    for macOS 13; linked, not run; a call of what macOS has
                    since a later release is an error

All but the first are compiled by zig c++ of the PyPI package ziglang, with what
rowbloom needs from Debian's source packages. JOBS (the number of cores)
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
all=(plain x86_64-linux-musl x86_64-windows-gnu aarch64-linux-musl
  aarch64-macos x86_64-macos)
[ $# -gt 0 ] || set -- "${all[@]}"
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
tool_tests='*'
# Their facts have nothing to do with the system, and rates take long.
left_out='*Rate*:*MuchMoreThanExpected:*/200000:Fast.AF*:*OfLargeFilters*'
left_out+=':MemFilterMemory.*:*CacheModel*'
rooms=(key util filter budget cache block reader golden memfilter)
others=(c_test hfile_test tool_platform_test write_cases rowbloom_tool)
programs=(hosts/c/c_test hosts/hfile/hfile_test tools/tool_platform_test)
libraries=(abseil xxhash zlib snappy lz4 libzstd libisal)

# skip REASON: ends a target that this machine cannot build or run.
skip() {
  echo "$1" >"$work/$target.reason"
  exit 77
}
# lacks REASON: the same where a download failed, which is not our fault.
lacks() {
  echo "$1" >"$work/$target.reason"
  exit 78
}

# zig is not below WORK_DIR, since a new copy builds all libraries anew.
get_zig() {
  local venv=${XDG_CACHE_HOME:-$HOME/.cache}/rowbloom/ziglang-$ziglang
  zig=$venv/bin/zig
  [ ! -x "$zig" ] || return 0
  python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet "ziglang==$ziglang" &&
    ln -s "$("$venv/bin/python" -c 'import os, ziglang
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
    apt-get "${options[@]}" source --download-only "${libraries[@]}") ||
    lacks "Debian's source packages could not be had: ${libraries[*]}"
  for name in "${libraries[@]}"; do
    mkdir "$work/sources/$name"
    tar -xf "$apt/downloads/$name"_*.orig.tar.*[!c] --strip-components=1 \
      -C "$work/sources/$name"
  done
  ln -s include "$work/sources/libisal/isa-l" # As it is installed.
  mkdir "$work/sources/include"
  ln -s /usr/include/{CLI,nlohmann,protozero} "$work/sources/include"
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
  # CMake calls it as Microsoft's: the last two words are OBJECT SOURCE.
  # shellcheck disable=SC2016 # The program expands them.
  printf '%s\n' '#!/bin/sh' 'for word; do out=$in in=$word; done' \
    'exec "$ZIG" rc /fo "$out" -- "$in"' >"$work/bin/$target/rc"
  for program in cc c++ ar ranlib; do
    words=$program
    [[ $program != c* ]] || words+=" -target $system -fno-sanitize=undefined"
    printf '#!/bin/sh\nexec "$ZIG" %s "$@"\n' "$words" \
      >"$work/bin/$target/$program"
  done
  chmod +x "$work/bin/$target"/*
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

# ccache finds no object that clang's precompiled headers of another directory
# are part of.
build_by_zig() {
  flock 9
  get_zig
  get_sources
  flock -u 9
  write_compilers
  configure "$source/tests/systems" -DROWBLOOM_ZIG_TARGET="$target" \
    -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON \
    -DCMAKE_TOOLCHAIN_FILE="$source/cmake/toolchains/zig.cmake" \
    -DROWBLOOM_ZIG_BIN="$work/bin/$target" -DDEPENDENCIES="$work/sources"
  build "$@"
  tests=$work/$target/rowbloom/tests
}

# run_tests [SUFFIX]: all test programs, by `runner` if it is not empty.
run_tests() {
  printf '%s\n' "${programs[@]}" "${rooms[@]/%/_test}" |
    GTEST_FILTER="-$left_out" GTEST_BRIEF=1 ROWBLOOM_OPERATIONS=50000 \
      xargs -I NAME -P "$jobs" env $runner "$tests/NAME${1:-}"
}

# run_vectors [SUFFIX]: the library writes and answers as they say.
run_vectors() {
  # shellcheck disable=SC2086 # No word, or one.
  python3 -B "$source/tests/format/check_format_vectors.py" $runner \
    "$tests/format/write_cases${1:-}"
}

# build_plainly NINJA_TARGET...: with this machine's compiler.
build_plainly() (
  target=plain
  unset CCACHE_COMPILERTYPE CCACHE_COMPILERCHECK
  flock 9
  configure "$source" -DROWBLOOM_PLAIN_CXX=ON -DROWBLOOM_DEVELOPER=ON \
    -DROWBLOOM_WITH_HFILE=ON -DROWBLOOM_BUILD_BENCHMARKS=OFF \
    -DROWBLOOM_BUILD_EXAMPLES=OFF
  build "$@"
  flock -u 9
)

# run_tool [SUFFIX]: the tool's tests run it as they run this machine's.
run_tool() {
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$runner" \
    "$work/$target/rowbloom/tools/rowbloom${1:-}" >"$work/$target/tool"
  chmod +x "$work/$target/tool"
  build_plainly cli_test
  ROWBLOOM_TOOL=$work/$target/tool "$work/plain/tests/tools/cli_test" \
    --gtest_brief=1 --gtest_filter="$tool_tests"
}

# The tests of what differs. All but the tests is compiled.
plain() {
  rooms=(util filter golden memfilter)
  programs=(hosts/c/c_test)
  tests=$work/$target/tests
  build_plainly "${rooms[@]/%/_test}" c_test write_cases rowbloom_tool
  run_tests
  run_vectors
}

musl() {
  left_out+=':TwoCopies.*' # A static program loads no library.
  tool_tests='-CliTest.FilesThatCannotBeRead*' # musl words errors otherwise.
  build_by_zig "${rooms[@]/%/_test}" "${others[@]}"
  run_tests
  run_vectors
  run_tool
}

# check_dll: rowbloom_c.dll has the functions of c.h, which a program calls.
check_dll() {
  local dll=$work/$target/bindings/rowbloom_c.dll
  build one_library dll_program
  llvm-readobj --coff-exports "$dll" | sed -n 's/^ *Name: //p' | sort |
    diff - <(grep '^ROWBLOOM_API' "$source/tests/hosts/c/abi.golden" |
      grep -o 'rowbloom_[a-z0-9_]*(' | tr -d '(' | sort)
  cp "$dll" "$work/$target"
  "$runner" "$work/$target/dll_program.exe"
}

windows() {
  local server
  runner=$(command -v wine64 || echo /usr/lib/wine/wine64)
  [ -x "$runner" ] || skip "wine64 is not installed"
  build_by_zig "${rooms[@]/%/_test}" "${others[@]}"
  # It has no FIFOs and no such names, and Wine hides links to nowhere.
  tool_tests='-CliTest.FilesThatCannotBeRead*:*ShowMarkupOfFileNames*'
  tool_tests+=':*ThatAreNotUtf8*:*AWalkThatFindsNothing*'
  export WINEPREFIX=$work/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
  # Without a server that stays, each program would start one, and have on its
  # standard error what goes wrong there. The first start makes the prefix.
  mkdir -p "$WINEPREFIX"
  server=$(command -v wineserver || echo /usr/lib/wine/wineserver64)
  "$server" -p600 9>&- || true # It may be there.
  "$runner" "$tests/golden_test.exe" --gtest_list_tests >/dev/null 2>&1
  run_tests .exe
  check_dll
  run_vectors .exe
  run_tool .exe
}

arm_musl() {
  runner=$(command -v qemu-aarch64) || skip "qemu-user is not installed"
  rooms=(golden)
  # ARM fuses multiplications and additions: the last digits of a plan differ.
  tool_tests='PathsTest.*:CliTest.*-CliTest.FilesThatCannotBeRead*:*APlan*'
  build_by_zig "${rooms[@]/%/_test}" "${others[@]}"
  run_tests
  run_vectors
  run_tool
}

# The compiler knows since when macOS has a function, and refuses newer ones.
macos() {
  local release program
  command -v llvm-objdump >/dev/null || skip "llvm is not installed"
  rooms=(key golden)
  build_by_zig "${rooms[@]/%/_test}" "${others[@]}"
  build newer_call >"$work/$target/newer_call" 2>&1 || true
  grep -q "'strchrnul' is only available on macOS 15.4" \
    "$work/$target/newer_call"
  for program in "$tests"/{key,golden}_test \
    "$work/$target/rowbloom/tools/rowbloom"; do
    release=$(llvm-objdump --macho --private-headers "$program" |
      sed -n 's/^ *minos //p')
    [ "$release" = 13.0 ] || { echo "$program is for $release"; return 1; }
  done
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

# take_target TARGET
take_target() {
  local target=$1 start=$SECONDS log=$work/$1.log status=0 result
  set +e
  (set -e; run_target) >"$log" 2>&1 9>"$work/lock"
  status=$?
  set -e
  case $status in
    0) result=ok ;;
    77 | 78) result="skipped: $(cat "$work/$target.reason")" ;;
    *) result="FAILED: $log" ;;
  esac
  case $status${CI:+ci} in
    0* | 77 | 78*) ;;
    *) touch "$work/failed" && tail -n 40 "$log" ;;
  esac
  times >"$work/$target.times"
  printf '%-20s %4d s  %4d s of processors  %s\n' "$target" \
    $((SECONDS - start)) "$(tr 'ms' '  ' <"$work/$target.times" |
      awk '{ sum += 60 * ($1 + $3) + $2 + $4 } END { printf "%d", sum }')" \
    "$result"
}

# Two at once: configuring and linking take one core each. They take turns at
# what they share by a lock.
rm -f "$work/failed"
for target; do
  [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n
  take_target "$target" &
done
wait
[ ! -e "$work/failed" ]
