#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh [check|fix]: clang-format over all C++ files. check, the default,
# changes nothing and fails if a file is not formatted.
set -eu
cd "$(dirname "$0")/.."

case "${1:-check}" in
  check) flags="--dry-run -Werror" ;;
  fix) flags="-i" ;;
  *) echo "usage: format.sh [check|fix]" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086 # Two flags.
find include src hosts rocksdb_plugin bindings tests bench tools examples \
  \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 clang-format $flags
