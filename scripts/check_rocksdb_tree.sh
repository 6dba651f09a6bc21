#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the plugin's sources against other RocksDB releases; see usage().
set -euo pipefail
# shellcheck source=scripts/rocksdb_paths.sh
. "$(dirname "$0")/rocksdb_paths.sh"

usage() {
  cat <<'END'
usage: check_rocksdb_tree.sh PATH...

Says for each RocksDB whether the plugin can be built for it, and builds
nothing. PATH is a source tree or a directory of installed headers, as
/usr/include is.

  C++       what RocksDB's headers need
  layout    which layout of the private classes filter_bits_abi.h declares
  native    the sources that need the private classes compile, without RTTI and
            with warnings as errors
  composed  the others do, without filter_bits_abi.h
  classes   each slot of the private classes is as in the tree's own header;
            "-" for installed headers, which lack it

CXX (g++) compiles, clang++ lists the slots. Exit code 0 if all is well, 1 if a
release is refused or something does not compile, 2 for wrong arguments.
END
}

plugin=$(cd "$(dirname "$0")/../rocksdb_plugin" && pwd)
native_sources=()
public_sources=()
absent=policy/native_policy_absent.cc  # In composed mode alone.
problems=()

# The sources that need private classes are listed in CMakeLists.txt.
sort_sources() {
  local native source
  native=$(sed -n '/^set(native_sources$/,/)/p' "$plugin/CMakeLists.txt" |
    tr -d ')')
  for source in "$plugin"/{,*/}*.cc; do
    if grep -qw "$(basename "$source")" <<<"$native"; then
      native_sources+=("$source")
    elif [ "$source" != "$plugin/$absent" ]; then
      public_sources+=("$source")
    fi
  done
}

# The functions below read the variables of the current release: path, include,
# release, standard.

problem() {
  problems+=("$path: RocksDB $release: $1: $(grep -m 1 'error:' \
    "$scratch/errors" || tail -n 1 "$scratch/errors")")
}

compile() {
  "${CXX:-g++}" "-std=$standard" -Wall -Wextra -Wshadow -Werror \
    -Wfatal-errors \
    -I "$plugin/../include" -I "$plugin/../hosts/planning/include" \
    -I "$plugin/include" -I "$plugin" -I "$include" \
    "$@"
}

# compile_cell MODE FLAG SOURCE...: sets `cell`. Each source is compiled alone,
# or another one's #include would hide that it lacks its own.
compile_cell() {
  cell=yes
  printf '%s\0' "${@:3}" |
    xargs -0 -n 1 -P "$(nproc)" bash -c 'compile -fsyntax-only "$@"' _ "$2" \
      2>"$scratch/errors" && return
  cell=NO
  problem "$1"
}

# slots HEADER: the virtual tables of the private classes that it declares.
slots() {
  cat >"$scratch/slots.cc" <<END
#include "$1"
namespace ROCKSDB_NAMESPACE {
static_assert(sizeof(FilterBitsBuilder) == sizeof(void*), "");
static_assert(sizeof(FilterBitsReader) == sizeof(void*), "");
struct Builder : FilterBitsBuilder { Builder(); };
struct Reader : FilterBitsReader { Reader(); };
Builder::Builder() = default;  // Needs its base's table.
Reader::Reader() = default;
}
END
  clang++ "-std=$standard" -w -S -o /dev/null -Xclang -fdump-vtable-layouts \
    -include cstdint -I "$plugin/../include" -I "$plugin" -I "$include" \
    -I "$path" "$scratch/slots.cc" 2>"$scratch/errors"
}

compare_cell() {
  local theirs=table/block_based/filter_policy_internal.h
  cell=-
  [ -f "$path/$theirs" ] || return 0
  cell=NO
  if ! slots filter_bits_abi.h >"$scratch/ours" ||
    ! slots "$theirs" >"$scratch/theirs"; then
    problem classes
  elif ! diff "$scratch/ours" "$scratch/theirs" >"$scratch/errors"; then
    problem "classes differ"
  else
    cell=yes
  fi
}

row() { printf '%-9s %-6s %-7s %-8s %-9s %-8s %s\n' "$@"; }

check() {
  local path=$1 release cell
  local layout=- native=refused classes=-
  export include standard
  include=$(headers "$path")
  release=$(release_of "$include")
  standard=$(standard_of "$include")

  if compile -E -dM "$plugin/filter_bits_abi.h" -o "$scratch/macros" \
    2>"$scratch/errors"; then
    layout=$(sed -n 's/^#define ROWBLOOM_ROCKSDB_LAYOUT_\(.\).*/\1/p' \
      "$scratch/macros")
    compile_cell "native mode" -fno-rtti "${native_sources[@]}"
    native=$cell
    compare_cell
    classes=$cell
  else
    problem "native mode is refused"
  fi
  # With its include guard defined the private header declares nothing.
  compile_cell "composed mode" -DROWBLOOM_ROCKSDB_PLUGIN_FILTER_BITS_ABI_H_ \
    "${public_sources[@]}" "$plugin/$absent"
  row "$release" "$standard" "$layout" "$native" "$cell" "$classes" "$path"
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  "" | -*) usage >&2; exit 2 ;;
esac
for path; do headers "$path" >/dev/null || exit 2; done

export plugin
export -f compile
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sort_sources
row RocksDB C++ layout native composed classes path
for path; do check "$path"; done
if [ ${#problems[@]} -gt 0 ]; then
  printf '\n'
  printf '%s\n' "${problems[@]}"
  exit 1
fi
