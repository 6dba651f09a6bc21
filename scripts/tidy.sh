#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [BUILD_DIR [SUFFIX]]: the checks of .clang-tidy over the files of src/
# and rocksdb_plugin/ (that end so), as the configured build directory
# (build/release) compiles them.
set -euo pipefail
cd "$(dirname "$0")/.."

build_dir=${1:-build/release}
suffix=${2:-.cc}
# The counts include what system headers would say if they were asked.
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' \
  "$build_dir/compile_commands.json" |
  grep "^$PWD/\(src\|rocksdb_plugin\)/.*$suffix\$" |
  xargs -r -n 1 -P "$(nproc)" clang-tidy -p "$build_dir" --quiet 2>&1 |
  sed '/ warnings\{0,1\} generated\.$/d'
