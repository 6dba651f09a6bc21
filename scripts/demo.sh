#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh [FLAG...]: installs what is missing, builds, loads a real data set
# into RocksDB and shows how many data-block reads each filter saves: the result
# in 20 lines first, then all tables. The flags are those of reads_bench rows,
# for example --input FILE. Leaves reads_rows.json and reads_rows.svg in
# build/demo.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh core demo

echo "Building..."
cmake --preset demo >/dev/null
cmake --build --preset demo --target reads_bench

out=build/demo
echo "Loading and reading..."
$out/bench/rocksdb/reads_bench rows --json $out/reads_rows.json "$@"
python3 bench/tables.py --show reads_rows $out/reads_rows.json
# The package python3-matplotlib belongs to this Python.
/usr/bin/python3 bench/plot.py rows $out/reads_rows.json -o $out/reads_rows.svg

printf '\n%s in %d s: %s and %s\n' "Done" "$SECONDS" \
  $out/reads_rows.json $out/reads_rows.svg
