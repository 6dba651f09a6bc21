#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [BUILD_DIR]: the checks of .clang-tidy over src/ and rocksdb_plugin/,
# as the configured build directory (build/release) compiles them.
set -euo pipefail
cd "$(dirname "$0")/.."

build_dir=${1:-build/release}
# The counts include what system headers would say if they were asked.
find src rocksdb_plugin -name '*.cc' -print0 |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy -p "$build_dir" --quiet 2>&1 |
  sed '/ warnings\{0,1\} generated\.$/d'
