#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_test.sh MINI_KV: the commands, their output and their exit codes.
set -eu
mini_kv=$1
store=$(mktemp -d)/store
trap 'rm -rf "${store%/store}"' EXIT

# expect EXIT_CODE OUTPUT COMMAND...
expect() {
  wanted_code=$1 wanted=$2
  shift 2
  code=0
  output=$("$mini_kv" "$@" 2>/dev/null) || code=$?
  if [ "$code" != "$wanted_code" ] || [ "$output" != "$wanted" ]; then
    echo "mini_kv $*: exit code $code, output: $output" >&2
    exit 1
  fi
}

tab=$(printf '\t')
expect 0 "" "$store" put row name Ada
expect 0 "" "$store" put row year 1815
expect 0 "" "$store" put other year 1906
expect 0 "" "$store" flush
expect 0 "" "$store" delete other year
row="row${tab}name${tab}Ada
row${tab}year${tab}1815"
for command in flush compact stats; do
  expect 0 "row${tab}name${tab}Ada" "$store" get row name
  expect 0 "$row" "$store" get row
  expect 1 "" "$store" get other year
  expect 1 "" "$store" get absent
  expect 0 "$row" "$store" scan
  "$mini_kv" "$store" "$command" >/dev/null
done
"$mini_kv" "$store" stats | grep -q "^L6${tab}1${tab}2${tab}"
"$mini_kv" --help | grep -q '^usage: mini_kv'
expect 3 "" "$0" scan # A file is not a store.
expect 2 ""
expect 2 "" "$store"
expect 2 "" "$store" put row
expect 2 "" "$store" no_such_command
