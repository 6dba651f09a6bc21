#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cluster.sh ROWBLOOM: starts HBase in a temporary directory, rebuilds the store
# files of a closed region with the tool ROWBLOOM, and compares what HBase
# answers and reads before and after. Exit code 1 if an answer changes, or if
# the blocks that a get reads are not those of `rowbloom advise`.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: cluster.sh ROWBLOOM" >&2; exit 2; }
rowbloom=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../../../build/hbase_cluster
files=3 rows=${ROWS:-100000} gets=${GETS:-30000}

if [ ! -f "$build/class_path" ] || [ -n "$(find "$here/cluster" \
  -newer "$build/class_path" -print -quit)" ]; then
  mvn -q -B -f "$here/cluster/pom.xml" compile >&2
  touch "$build/class_path"
fi

work=$(mktemp -d)
# The end of its input stops HBase; it is killed only if it does not stop.
stop() {
  trap - EXIT
  if [ -n "${HBASE_PID:-}" ]; then
    exec {to_hbase}>&-
    timeout 60 tail --pid="$HBASE_PID" -f /dev/null || kill -9 "$HBASE_PID"
  fi
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

coproc HBASE {
  exec java -Xmx1g -XX:+UseSerialGC -cp \
    "$build/classes:$(cat "$build/class_path")" rowbloom.Cluster "$work" \
    2>"$work/log"
}
exec {to_hbase}>&"${HBASE[1]}" {from_hbase}<&"${HBASE[0]}"
eval "exec ${HBASE[1]}>&-"

answer() {
  read -r line <&"$from_hbase" || { cat "$work/log" >&2; exit 1; }
  printf '%s\n' "$line"
}
hbase() {
  printf '%s\n' "$*" >&"$to_hbase"
  answer
}

# replace OPTION...: with the region closed, rebuilds its store files, moves the
# old ones to HBase's archive and the new ones in. These get new names: the
# block cache has blocks of the old ones by name, and HBase would use them.
replace() {
  local new=$work/rebuilt archive file
  archive=$work/hbase/archive/${family#"$work/hbase/"}
  hbase close >/dev/null
  rm -rf "$new"
  "$rowbloom" rebuild "$@" --into "$new" "$family" >&2
  "$rowbloom" verify --cells "$new" >&2
  mkdir -p "$archive"
  mv "$family"/* "$archive"
  for file in "$new"/*; do
    mv "$file" "$family/$(tr -d - </proc/sys/kernel/random/uuid)"
  done
}

[ "$(answer)" = ready ]
hbase load "$files" "$rows" >/dev/null
family=$(echo "$work"/hbase/data/default/orders/*/cf)
"$rowbloom" inspect --brief "$work/hbase/data/default/orders"
"$rowbloom" advise --error_rate 0.01,0.001 --column_share 0.8 "$family"
"$rowbloom" advise --error_rate 0.01,0.001 --json "$family" >"$work/plan"

hbase measure "$gets" >"$work/before"
replace --bloom_type ROWCOL
hbase alter ROWCOL >/dev/null
hbase open >/dev/null
hbase measure "$gets" >"$work/rowcol_0.01"
replace --error_rate 0.001
hbase open >/dev/null
hbase measure "$gets" >"$work/rowcol_0.001"

python3 "$here/compare_gets.py" "$work/plan" "$work/before" \
  "$work/rowcol_0.01" "$work/rowcol_0.001"
