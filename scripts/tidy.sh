#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [BUILD_DIR [SUFFIX]]: runs the checks of .clang-tidy over the files of
# src/, hosts/ and rocksdb_plugin/ as the configured build directory
# (build/tidy, by `cmake --preset tidy`) compiles them; with SUFFIX, over those
# whose names end so. clang-tidy spends most of its time in headers, so the
# preset puts a dozen sources into one file.
set -euo pipefail
cd "$(dirname "$0")/.."

build_dir=${1:-build/tidy}
suffix=${2:-.c[cx]*}
# clang-tidy counts warnings in system headers that it does not show.
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' \
  "$build_dir/compile_commands.json" |
  grep -E "^$PWD/($build_dir/)?(src|hosts|rocksdb_plugin)/.*$suffix\$" |
  grep -v '/rowbloom_.*verify_interface_header_sets/' |
  xargs -r -n 1 -P "$(nproc)" clang-tidy -p "$build_dir" --quiet 2>&1 |
  sed '/ warnings\{0,1\} generated\.$/d'
