#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare_rebuilt.sh ROWBLOOM: rewrites the golden files with the tool ROWBLOOM,
# each with its configuration, and asks HBase whether they are valid and answer
# as the originals do. Then HBase writes a larger file in each encoding, which
# keeps its form when it is rebuilt. Prints JSON lines; exit code 1 if a file
# fails.
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
    --chunk_size "$(value bloomBlock)" \
    "$golden/$name.hfile" "$rebuilt/$name.hfile" >/dev/null
  set -- "$@" "$rebuilt/$name.hfile" "$table"
done
"$here/hbase_peer.sh" compare "$@"
for encoding in NONE PREFIX DIFF FAST_DIFF ROW_INDEX_V1; do
  "$here/hbase_peer.sh" write "name=x rows=30000 quals=3 value=60 blk=16384 \
    delEvery=50 comp=SNAPPY enc=$encoding" "$rebuilt/$encoding.old" >/dev/null
  "$rowbloom" rebuild --json "$rebuilt/$encoding.old" \
    "$rebuilt/$encoding.hfile" >"$rebuilt/$encoding.json"
  python3 - "$rebuilt/$encoding.json" "$encoding" <<'END'
import json
import sys

report = json.load(open(sys.argv[1]))
before, after = report["before"], report["after"]
print(json.dumps({name: [before[name], after[name]] for name in
                  ("encoding", "block_size_bytes", "file_size_bytes")}))
same_form = all(file["encoding"] == sys.argv[2] and
                file["block_size_bytes"] == 16384 for file in (before, after))
sizes = before["file_size_bytes"], after["file_size_bytes"]
sys.exit(not same_form or abs(sizes[1] - sizes[0]) > 0.01 * sizes[0])
END
done
"$here/hbase_peer.sh" check "$rebuilt"/*.hfile
