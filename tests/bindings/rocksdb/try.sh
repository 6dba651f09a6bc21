# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions of the scripts in this directory, which set $here and $work and
# source this file. The programs take a path for a new database and options.

: "${here:?}" "${work:?}"
options=$(tr -d '\n' <"$here/options.txt")

# try COMMAND...: the filters must answer.
try() {
  rm -rf "$work/db"
  "$@" "$work/db" "$options"
}

# try_without COMMAND...: RocksDB opens the database although it does not know
# the policy. The program must notice that nothing was filtered.
try_without() {
  local out code=0
  rm -rf "$work/db"
  out=$("$@" "$work/db" "$options") || code=$?
  if [ $code -ne 1 ] || [ "$out" != "lost 0, filtered 0" ]; then
    echo "without the module: exit code $code, $out" >&2
    return 1
  fi
  echo "$out, without rowbloom"
}
