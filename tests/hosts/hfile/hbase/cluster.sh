#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cluster.sh [--hdfs | --serve] ROWBLOOM: starts HBase in a temporary directory,
# rebuilds the store files of a closed region with the tool ROWBLOOM, and
# compares what HBase answers and reads before and after. Exit code 1 if an
# answer changes, if the files do not keep their form, or if the blocks that a
# get reads are not those of `rowbloom advise`.
#   --hdfs    three region servers on HDFS of three data nodes, and tables of
#             each bloom type, of which each has another encoding
#   --serve   the same servers; a table gets new filters in three ways while
#             clients ask and write; exit code 1 if a get fails or a cell is
#             lost
set -euo pipefail
usage() {
  echo "usage: cluster.sh [--hdfs | --serve] ROWBLOOM" >&2
  exit 2
}
form=local
case "${1:-}" in --hdfs | --serve) form=${1#--}; shift ;; esac
[ $# -eq 1 ] || usage
rowbloom=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../../../build/hbase_cluster
case $form in
  local) rows=100000 gets=30000 ;;
  *) rows=60000 gets=5000 ;;
esac
files=3 rows=${ROWS:-$rows} gets=${GETS:-$gets}
# The caches of the servers hold about half of a table with FAST_DIFF.
servers=3 cache_bytes=${CACHE_BYTES:-2000000} block_size=16384

if [ ! -f "$build/class_path" ] || [ -n "$(find "$here/cluster" \
  -newer "$build/class_path" -print -quit)" ]; then
  mvn -q -B -f "$here/cluster/pom.xml" compile >&2
  # HDFS looks for the pages of its nodes, of which the library has none.
  mkdir -p "$build"/classes/webapps/{hdfs,datanode,static}
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

on_hdfs=()
[ "$form" = local ] || on_hdfs=("$servers" "$cache_bytes")
coproc HBASE {
  exec java -Xmx1g -XX:+UseSerialGC -cp \
    "$build/classes:$(cat "$build/class_path")" rowbloom.Cluster "$work" \
    "${on_hdfs[@]}" 2>"$work/log"
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

do_all() { for command; do hbase "$command" >/dev/null; done; }

# rebuild OPTION...: the files that `get` copied out. They keep their form.
rebuild() {
  rm -rf "$work/new"
  "$rowbloom" rebuild -j 2 --json "$@" --into "$work/new" "$work/old" \
    >"$work/rebuilt"
  "$rowbloom" verify --cells "$work/new" >/dev/null
  python3 "$here/compare_form.py" "$work/rebuilt"
}

# replace TABLE OPTION...: rebuilds the files of a table and puts them in place.
replace() {
  local table=$1
  shift
  rm -rf "$work/old"
  do_all "disable $table" "get $table $work/old"
  rebuild "$@"
  do_all "put $table $work/new" "replace $table"
}

# compare TABLE TYPE ENCODING REGIONS BLOOM_TYPE OPTION...: makes a table,
# replaces its files by those with BLOOM_TYPE at two rates, and measures.
compare() {
  local table=$1 type=$2 encoding=$3 regions=$4 new_type=$5
  shift 5
  echo "$table: $type, $encoding, block size $block_size, regions: $regions"
  do_all "create $table $type $encoding $block_size $regions $files $rows" \
    "get $table $work/plan_of"
  "$rowbloom" advise --error_rate 0.01,0.001 --column_share 0.8 "$@" \
    "$work/plan_of"
  "$rowbloom" advise --error_rate 0.01,0.001 --json "$@" "$work/plan_of" \
    >"$work/plan"
  rm -rf "$work/plan_of"

  hbase measure "$table" "$gets" >"$work/before"
  replace "$table" --bloom_type "$new_type" --error_rate 0.01 "$@"
  do_all "alter $table $new_type" "enable $table"
  hbase measure "$table" "$gets" >"$work/$new_type=0.01"
  replace "$table" --error_rate 0.001
  do_all "enable $table"
  hbase measure "$table" "$gets" >"$work/$new_type=0.001"
  python3 "$here/compare_gets.py" "$work/plan" "$work/before" \
    "$work/$new_type=0.01" "$work/$new_type=0.001"
}

# timed COMMAND...: does it, and prints how long it took and what HDFS moved.
timed() {
  local begin reply end what
  hbase moved >/dev/null
  begin=${EPOCHREALTIME/[.,]/}
  reply=$("$@")
  end=${EPOCHREALTIME/[.,]/}
  what="${*//"$work"\//} ${reply#done}"
  printf '  %-46s %6d ms, %s\n' "${what#hbase }" $(((end - begin) / 1000)) \
    "$(hbase moved)"
}

# served WAY: runs the function WAY while clients use a new table of that name.
served() {
  echo "$1"
  do_all "create $1 ROW FAST_DIFF $block_size 3 $files $rows" "start_clients $1"
  "$1"
  hbase stop_clients | tee "$work/clients"
  grep -q '"failed_gets": 0, "lost_cells": 0' "$work/clients"
}

by_compaction() {
  timed hbase alter by_compaction ROWCOL
  timed hbase major_compact by_compaction
}

by_regions() {
  rm -rf "$work/old"
  timed hbase alter by_regions ROWCOL
  timed hbase get by_regions "$work/old"
  timed rebuild --bloom_type ROWCOL
  timed hbase put by_regions "$work/new"
  timed hbase replace_regions by_regions
}

by_bulk_load() {
  rm -rf "$work/old"
  timed hbase snapshot by_bulk_load now
  timed hbase get_snapshot by_bulk_load now "$work/old"
  timed rebuild --bloom_type ROWCOL
  timed hbase put by_bulk_load "$work/new"
  timed hbase create_like by_bulk_load loaded ROWCOL
  timed hbase bulk_load loaded
  timed hbase copy_since by_bulk_load loaded
}

[ "$(answer)" = ready ]
case "$form" in
  local) compare orders ROW FAST_DIFF 1 ROWCOL ;;
  hdfs)
    compare t1 ROW FAST_DIFF 3 ROWCOL
    compare t2 ROWCOL DIFF 3 ROWCOL
    compare t3 ROWPREFIX_FIXED_LENGTH PREFIX 3 ROWPREFIX_FIXED_LENGTH \
      --prefix_length 12
    compare t4 ROW ROW_INDEX_V1 3 ROWCOL
    ;;
  serve)
    served by_compaction
    served by_regions
    served by_bulk_load
    ;;
esac
