#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs rowbloom in every way and uses it as strangers do; see usage().
set -euo pipefail

usage() {
  cat <<'END'
usage: install_every_way.sh WORK_DIR [BUILD_DIR]

Builds below WORK_DIR a static and a shared rowbloom with all components,
installs them, and builds and runs programs against them:

  find_package, pkg-config   g++ and clang++, C++17 and C++20, with and without
                             exceptions and RTTI
  add_subdirectory           the core and the C API as C++20, without
                             exceptions and RTTI, with link-time
                             optimisation, without a warning
  shared libraries           exported symbols, SONAME, RUNPATH
  examples/mini_kv           as a project of its own, with its tests
  RocksDB                    by its Makefile, shared and static; as a target of
                             the same build, by CMake 3.16

BUILD_DIR is a finished static build with all components, of the preset check
say; it is then installed, and no other static one is built. What is in WORK_DIR
is not compiled again. JOBS (the number of cores) compilers run at once.
Prints a line for each way. Exit code 0 if all are ok, 1 if one failed.
END
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  "" | -*) usage >&2; exit 2 ;;
esac
source=$(cd "$(dirname "$0")/../.." && pwd)
tests=$source/tests/install
mkdir -p "$1"
work=$(cd "$1" && pwd)
static_build=${2:+$(cd "$2" && pwd)}
jobs=${JOBS:-$(nproc)}
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
fi
if command -v ninja >/dev/null; then
  export CMAKE_GENERATOR=${CMAKE_GENERATOR-Ninja}
fi
no_frills="-fno-exceptions -fno-rtti"
# A unity build changes only the compile time.
unity=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12)
# The flags of the preset check, so that a compiler cache has the objects.
as_checked=(-DCMAKE_CXX_FLAGS_RELEASE=-O1 "-DROWBLOOM_OPTIMIZE=-O3;-DNDEBUG")
failed=()

# way NAME COMMAND...: runs the command and prints one line of the report.
way() {
  local name=$1 start=$SECONDS log=$work/${1//[ \/]/_}.log verdict=ok
  shift
  # The command is not in a condition, where the shell would ignore failures.
  set +e
  (set -e; "$@") >"$log" 2>&1
  [ $? -eq 0 ] || verdict=FAILED
  set -e
  printf '%-6s %4d s  %s\n' "$verdict" $((SECONDS - start)) "$name"
  if [ "$verdict" = FAILED ]; then
    failed+=("$name")
    tail -n 40 "$log"
  fi
}

fail() {
  echo "$@" >&2
  return 1
}

# configure BUILD OPTIONS...: the build type is the default.
configure() {
  local build=$1
  shift
  cmake -S "$source" -B "$build" -DROWBLOOM_DEVELOPER=ON \
    -DROWBLOOM_WITH_ROCKSDB=ON -DROWBLOOM_WITH_LEVELDB=ON \
    -DROWBLOOM_WITH_HFILE=ON -DROWBLOOM_WITH_REDIS=ON \
    -DROWBLOOM_BUILD_TESTS=OFF -DROWBLOOM_BUILD_BENCHMARKS=OFF \
    -DROWBLOOM_BUILD_EXAMPLES=OFF "${unity[@]}" "$@"
}

compile() {
  CCACHE_BASEDIR=$1 cmake --build "$1" -j "$jobs"
}

# The tree is moved after its installation, as packages are.
install_to() {
  rm -rf "$2" "$2.at_first"
  cmake --install "$1" --prefix "$2.at_first"
  mv "$2.at_first" "$2"
}

# libraries PREFIX: prints the directory of the libraries.
libraries() {
  dirname "$(dirname "$(find "$1" -name rowbloom.pc)")"
}

# consumer PROJECT BUILD OPTIONS...: building it runs its program.
consumer() {
  local project=$1 build=$2
  shift 2
  rm -rf "$build"
  cmake -S "$project" -B "$build" "$@"
  compile "$build"
}

by_find_package() {
  local prefix=$1 compiler=$2 every_way=$3
  LD_LIBRARY_PATH=$(libraries "$prefix") \
    consumer "$tests/find_package" "$prefix.find_package.$compiler" \
    -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" \
    -DALL_HEADERS="$work/all_headers.cc" -DEVERY_WAY="$every_way"
}

# by_pkg_config PREFIX COMPILER PACKAGE SOURCE FLAGS...
by_pkg_config() {
  local prefix=$1 compiler=$2 package=$3 program=$4 lib
  shift 4
  lib=$(libraries "$prefix")
  CXX=$compiler PKG_CONFIG_PATH=$lib/pkgconfig LD_LIBRARY_PATH=$lib \
    sh "$tests/pkg_config.sh" "$package" "$tests/$program" \
    "$prefix.$package.$compiler" "$@"
}

# Shared libraries differ from static ones in no way that depends on the
# standard.
consumers() {
  local prefix=$1 kind=$2 compiler every_way=ON
  [ "$kind" = static ] || every_way=OFF
  for compiler in g++ clang++; do
    way "$kind: find_package, $compiler" \
      by_find_package "$prefix" "$compiler" $every_way
    way "$kind: pkg-config, $compiler" \
      by_pkg_config "$prefix" "$compiler" rowbloom consumer.cc \
      "-std=c++17 -Wall -Wextra -Wpedantic -Werror $work/all_headers.cc"
    [ "$kind $compiler" = "shared clang++" ] ||
      way "$kind: under sanitizers, $compiler" under_sanitizers \
        "$prefix" "$compiler"
  done
}

under_sanitizers() {
  local program
  for program in ../../examples/{quick_start,embed_in_flush}.cc consumer.cc; do
    by_pkg_config "$1" "$2" rowbloom "$program" \
      "-std=c++17 -fsanitize=address,undefined -fno-sanitize-recover=all" \
      "-std=c++17 -fsanitize=thread"
  done
}

components() {
  local prefix=$1 kind=$2 engine
  for engine in c planning memfilter rocksdb leveldb hfile redis; do
    way "$kind: find_package, $engine" env -u LD_LIBRARY_PATH \
      ctest --build-and-test "$tests/$engine" "$prefix.$engine" \
      --build-generator "${CMAKE_GENERATOR:-Unix Makefiles}" \
      --build-options -DCMAKE_PREFIX_PATH="$prefix"
  done
  way "$kind: pkg-config, c" by_pkg_config "$prefix" cc rowbloom-c \
    ../hosts/c/program/c_program.c "-std=c99 -Wall -Wextra -Wpedantic -Werror" \
    -std=c11
  way "$kind: pkg-config, rocksdb" by_pkg_config "$prefix" g++ \
    rowbloom-rocksdb rocksdb_consumer.cc -std=c++17
  for engine in planning memfilter leveldb hfile redis; do
    way "$kind: pkg-config, $engine" by_pkg_config "$prefix" g++ \
      "rowbloom-$engine" "${engine}_consumer.cc" "-std=c++20 $no_frills"
  done
}

# static_c_program PREFIX: links no shared library, by a C compiler.
static_c_program() {
  # shellcheck disable=SC2046 # One word for each flag.
  cc -std=c11 -static -o "$1.static_c_program" \
    "$tests/../hosts/c/program/c_program.c" \
    $(PKG_CONFIG_PATH=$(libraries "$1")/pkgconfig \
      pkg-config --static --cflags --libs rowbloom-c)
  "$1.static_c_program"
}

# A prefix such as RocksDB's Makefile installs, with one kind of library and
# without a CMake package, is preferred to the system's RocksDB.
rocksdb_by_make() {
  local library=$1 engine=$work/rocksdb.$1 prefix=$work/prefix.rocksdb.$1
  rm -rf "$engine"
  mkdir -p "$engine/include" "$engine/lib/pkgconfig"
  ln -s "$(pkg-config --variable=includedir rocksdb)/rocksdb" "$engine/include"
  ln -s "$(pkg-config --variable=libdir rocksdb)/$library" "$engine/lib"
  cat >"$engine/lib/pkgconfig/rocksdb.pc" <<END
prefix=$engine
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: rocksdb
Description: RocksDB
Version: $(pkg-config --modversion rocksdb)
Libs: -L\${libdir} -lrocksdb
Libs.private: -lpthread -lrt -ldl -lsnappy -lgflags -lz -lbz2 -llz4 -lzstd
Cflags: -I\${includedir} -std=c++11 -DROCKSDB_PLATFORM_POSIX -march=native
END
  configure "$work/build.rocksdb.$library" -DCMAKE_PREFIX_PATH="$engine" \
    -DROWBLOOM_BUILD_TOOLS=OFF "${as_checked[@]}" |
    tee "$work/configured"
  grep "RocksDB .*: $engine/lib/$library" "$work/configured"
  compile "$work/build.rocksdb.$library"
  install_to "$work/build.rocksdb.$library" "$prefix"
  consumer "$tests/rocksdb" "$prefix.consumer" \
    -DCMAKE_PREFIX_PATH="$prefix;$engine"
}

# The package is for one minor release, whose layout was compiled in.
another_rocksdb_is_refused() {
  local engine=$work/rocksdb.another
  rm -rf "$engine"
  cp -r "$work/rocksdb.librocksdb.so" "$engine"
  rm "$engine/include/rocksdb"
  cp -r "$(pkg-config --variable=includedir rocksdb)/rocksdb" "$engine/include"
  sed -i "s|^prefix=.*|prefix=$engine|" "$engine/lib/pkgconfig/rocksdb.pc"
  sed -i 's/\(ROCKSDB_MINOR\) .*/\1 99/' "$engine/include/rocksdb/version.h"
  ! consumer "$tests/rocksdb" "$work/rocksdb.another.consumer" \
    -DCMAKE_PREFIX_PATH="$work/prefix.static;$engine" \
    >"$work/another.txt" 2>&1 || fail "another RocksDB was taken"
  tr '\n' ' ' <"$work/another.txt" | tr -s ' ' |
    grep 'compiled for RocksDB .* needs a release .*; found: "[0-9]*\.99'
}

# Objects with the layout of one release would be linked to another.
mixed_rocksdb_is_refused() {
  ! configure "$work/mixed" -DCMAKE_PREFIX_PATH="$work/rocksdb.another" \
    >"$work/mixed.txt" 2>&1 || fail "two releases were mixed"
  tr '\n' ' ' <"$work/mixed.txt" | tr -s ' ' |
    grep 'mixed: .* headers of RocksDB [0-9]*\.99 and a library of [0-9.]*;'
}

# A server that builds RocksDB itself gets that one, though another is installed
# where CMake looks first, and nothing that it links is shared. Its CMake is the
# oldest that rowbloom admits, from PyPI.
rocksdb_as_target() {
  local build=$work/rocksdb_target oldest=$work/cmake_3.16
  local options=(-DROWBLOOM_SOURCE_DIR="$source" -DCMAKE_CXX_FLAGS=-fno-rtti
    -DCMAKE_PREFIX_PATH="$work/rocksdb.another" "${unity[@]}"
    -DROCKSDB_INCLUDE_DIR="$(pkg-config --variable=includedir rocksdb)"
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0)
  if [ ! -x "$oldest/bin/cmake" ]; then
    python3 -m venv "$oldest"
    "$oldest/bin/pip" install --quiet cmake==3.16.8
  fi
  PATH=$oldest/bin:$PATH consumer "$tests/rocksdb_target" "$build" \
    "${options[@]}" | tee "$build.txt"
  grep "RocksDB $(pkg-config --modversion rocksdb): $tests/rocksdb_target" \
    "$build.txt"
  ! ldd "$build/server" | grep -E "absl|xxhash|rocksdb|stdc" ||
    fail "the server links shared libraries"
  rm -rf "$build"
  cmake -S "$tests/rocksdb_target" -B "$build" "${options[@]}" \
    -DROCKSDB_IMPORTED=ON | grep "RocksDB [0-9.]*: /.*/librocksdb.a"
  rm -rf "$build"
  ! cmake -S "$tests/rocksdb_target" -B "$build" "${options[@]}" \
    -DCMAKE_PREFIX_PATH= -DROWBLOOM_FIRST=ON >"$build.txt" 2>&1 ||
    fail "two RocksDBs are linked"
  tr '\n' ' ' <"$build.txt" | tr -s ' ' |
    grep "for RocksDB [0-9.]*, /.* Add that directory before rowbloom"
}

release_by_default() {
  grep '^CMAKE_BUILD_TYPE:STRING=Release$' "$work/shared/CMakeCache.txt"
}

tests_are_refused() {
  ! cmake -S "$source" -B "$work/refused" -DBUILD_SHARED_LIBS=ON \
    -DROWBLOOM_BUILD_TESTS=ON >"$work/refused.txt" 2>&1 ||
    fail "a shared build with tests was configured"
  grep "Tests and benchmarks use internal functions" "$work/refused.txt"
}

# Exported names belong to namespace rowbloom and to none of its inner
# namespaces, whose names begin in lower case. The exceptions are the names that
# src/util exports for rowbloom::hfile, and those that rocksdb_plugin/release.h
# and sst_properties.h export for the preload library and the tool.
exports_only_the_api() {
  local library others
  for library in "$(libraries "$work/prefix.shared")"/*.so; do
    if [ "$(basename "$library")" = librowbloom_c.so ]; then
      python3 -B "$source/tests/hosts/c/check_abi.py" "$source" nm "$library"
      continue
    fi
    nm -D --defined-only "$library" | sed 's/.* //' >"$work/symbols"
    wc -l "$library" "$work/symbols"
    others=$(grep -Ev "^_Z(T[A-Z]|Z|GVZ)?NK?8rowbloom([0-9]+k?[A-Z]|[a-z]{2})" \
      "$work/symbols" | grep -Ev \
      "^_ZN8rowbloom4util(11ReadExactlyE|8internal(12global_epoch|\
13thread_record|15CallOrTerminate|16guards_are_light|19AcquireThreadRecord)E)|\
^_ZN8rowbloom6plugin(14ReportBudgetOf|17ReadSstProperties|\
19CheckRocksDbRelease|20ReadListedProperties)E" || true)
    [ -z "$others" ] || fail "$library exports" "$(c++filt <<<"$others")"
    ! grep 4Impl "$work/symbols" || fail "$library exports private classes"
  done
  nm -D --defined-only "$(libraries "$work/prefix.shared")/librowbloom.so" |
    grep ' _ZN8rowbloom7VersionEv$'
}

# filter_state.h has nothing to export, and kernels include it. c.h is in
# C: check_abi.py compares what it declares.
headers_export() {
  local others
  others=$(cd "$source" &&
    grep -rL '^namespace ROWBLOOM_EXPORT rowbloom {$' include \
      hosts/*/include rocksdb_plugin/include |
    grep -v '/\(export\|filter_state\|c\)\.h$' || true)
  [ -z "$others" ] || fail "not marked with ROWBLOOM_EXPORT:" "$others"
}

# dynamic FIELD FILE: prints its values in the file's dynamic section.
dynamic() {
  readelf -d "$2" | sed -En "s/.*\(($1)\).*\[(.*)\]/\2/p"
}

sonames() {
  local library base number
  for library in "$(libraries "$work/prefix.shared")"/*.so; do
    base=$(basename "$library")
    case "$base" in
      *_preload.so) continue ;; # A module, not to be linked.
      librowbloom_c.so) number=1 ;;
      *) number=0.1 ;;
    esac
    [ "$(dynamic SONAME "$library")" = "$base.$number" ] ||
      fail "$base has the SONAME '$(dynamic SONAME "$library")'"
    [ -e "$library.$number" ] || fail "there is no $base.$number"
  done
}

run_paths() {
  local prefix=$work/prefix.shared library
  # shellcheck disable=SC2016 # $ORIGIN is a word of the dynamic linker.
  for library in "$(libraries "$prefix")"/*.so; do
    [ "$(dynamic 'RUNPATH|RPATH' "$library")" = '$ORIGIN' ] ||
      fail "$library has the RUNPATH '$(dynamic 'RUNPATH|RPATH' "$library")'"
  done
  # shellcheck disable=SC2016
  [ "$(dynamic RUNPATH "$prefix/bin/rowbloom")" = '$ORIGIN/../lib' ] ||
    fail "the tool's RUNPATH is '$(dynamic RUNPATH "$prefix/bin/rowbloom")'"
  env -u LD_LIBRARY_PATH "$prefix/bin/rowbloom" plan --keys 1000 \
    --target_fpr 0.01
}

# The installed files have the RUNPATH that a packager sets.
run_paths_of_a_packager() {
  local prefix=$work/prefix.packager file
  cmake -S "$source" -B "$work/shared" -DCMAKE_INSTALL_RPATH=/opt/lib
  compile "$work/shared" # Links again, with room for the path.
  install_to "$work/shared" "$prefix"
  for file in "$prefix/bin/rowbloom" "$(libraries "$prefix")/librowbloom.so"; do
    [ "$(dynamic RUNPATH "$file")" = /opt/lib ] ||
      fail "$file has the RUNPATH '$(dynamic RUNPATH "$file")'"
  done
}

# A packager may put headers and libraries into trees of their own.
absolute_directories() {
  local prefix=$work/absolute
  rm -rf "$prefix"
  mkdir -p "$prefix/out"
  cmake -S "$source" -B "$work/shared" -DCMAKE_INSTALL_PREFIX="$prefix/out" \
    -DCMAKE_INSTALL_LIBDIR="$prefix/lib/multiarch" \
    -DCMAKE_INSTALL_INCLUDEDIR="$prefix/dev/include"
  compile "$work/shared"
  cmake --install "$work/shared"
  by_pkg_config "$prefix" g++ rowbloom consumer.cc -std=c++17
  LD_LIBRARY_PATH=$(libraries "$prefix") \
    consumer "$tests/planning" "$prefix.consumer" \
    -Drowbloom_DIR="$(libraries "$prefix")/cmake/rowbloom"
}

by_add_subdirectory() {
  local build=$work/add_subdirectory
  consumer "$tests/add_subdirectory" "$build" \
    -DCMAKE_CXX_COMPILER=g++ -DROWBLOOM_SOURCE_DIR="$source" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 "${unity[@]}" \
    -DCMAKE_CXX_FLAGS="$no_frills" \
    -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=ON 2>&1 | tee "$build.txt"
  # Without these flags nothing would have been tested.
  grep -q -e -flto "$build/compile_commands.json" || fail "no -flto"
  grep -q -e -std=c++20 "$build/compile_commands.json" || fail "no C++20"
  grep -q -e -fno-exceptions "$build/compile_commands.json" ||
    fail "no -fno-exceptions"
  ! grep -i warning "$build.txt" || fail "there are warnings"
}

mini_kv() {
  cmake -S "$source/examples/mini_kv" -B "$work/mini_kv" \
    -DCMAKE_PREFIX_PATH="$work/prefix.static"
  compile "$work/mini_kv"
  ctest --test-dir "$work/mini_kv" --output-on-failure --no-tests=error
}

# Each public header of the libraries that are always built must have been
# installed.
for library in . hosts/planning hosts/memfilter hosts/c; do
  (cd "$source/$library/include" && find rowbloom -name '*.h')
done | sort | sed 's/.*/#include "&"/' >"$work/all_headers.cc"

if [ -z "$static_build" ]; then
  static_build=$work/static
  way "static: configure" configure "$static_build"
  way "static: build" compile "$static_build"
fi
way "static: install" install_to "$static_build" "$work/prefix.static"
consumers "$work/prefix.static" static
components "$work/prefix.static" static
way "static: a C program without shared libraries" static_c_program \
  "$work/prefix.static"
way "static: mini_kv" mini_kv

# An earlier run sets CMAKE_INSTALL_RPATH and directories below.
way "shared: configure" configure "$work/shared" -DBUILD_SHARED_LIBS=ON \
  "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG" "-UCMAKE_INSTALL_*"
way "shared: build type Release by default" release_by_default
way "shared: build" compile "$work/shared"
way "shared: install" install_to "$work/shared" "$work/prefix.shared"
way "shared: exports only the API" exports_only_the_api
way "shared: all public headers export" headers_export
way "shared: SONAME" sonames
way "shared: RUNPATH" run_paths
way "shared: RUNPATH of a packager" run_paths_of_a_packager
way "shared: absolute directories" absolute_directories
way "shared: tests are refused" tests_are_refused
consumers "$work/prefix.shared" shared
components "$work/prefix.shared" shared

way "RocksDB by make, shared" rocksdb_by_make librocksdb.so
way "RocksDB by make, static" rocksdb_by_make librocksdb.a
way "RocksDB of another release is refused" another_rocksdb_is_refused
way "RocksDB's headers with another library are refused" \
  mixed_rocksdb_is_refused
way "RocksDB as a target of the build, static, no RTTI" rocksdb_as_target

way "add_subdirectory, C++20, link-time optimisation" by_add_subdirectory

printf '%11d s  %s\n' "$SECONDS" "all ways, ${#failed[@]} failed"
[ ${#failed[@]} -eq 0 ]
