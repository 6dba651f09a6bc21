#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare_rebuilt.sh ROWBLOOM: rewrites the golden files with the tool ROWBLOOM,
# each with its configuration, and asks HBase whether they are valid and answer
# as the originals do. Prints JSON lines; exit code 1 if a file fails.
set -eu
[ $# -eq 1 ] || { echo "usage: compare_rebuilt.sh ROWBLOOM" >&2; exit 2; }
rowbloom=$1
here=$(dirname "$0")
golden=$here/../data/hbase_2.6
rebuilt=$(mktemp -d)
trap 'rm -r "$rebuilt"' EXIT

set --
for table in "$golden"/*.queries.tsv.gz; do
  name=$(basename "$table" .queries.tsv.gz)
  description=$golden/$name.desc.txt
  value() { sed -n "1s/.* $1=\([^ ]*\).*/\1/p" "$description"; }
  "$rowbloom" rebuild --error_rate "$(value err)" --max_fold "$(value fold)" \
    --chunk_size "$(value bloomBlock)" --block_size "$(value blk)" \
    "$golden/$name.hfile" "$rebuilt/$name.hfile" >/dev/null
  set -- "$@" "$rebuilt/$name.hfile" "$table"
done
"$here/hbase_peer.sh" compare "$@"
"$here/hbase_peer.sh" check "$rebuilt"/*.hfile
