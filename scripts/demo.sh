#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh [FLAG...]: installs what is missing, builds, loads a real data set
# into RocksDB and shows how many data-block reads each filter saves. The flags
# are those of reads_bench rows, for example --input FILE. Leaves point_get.json
# and point_get.svg in build/demo.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh core demo

echo "Building..."
cmake --preset demo >/dev/null
cmake --build --preset demo --target reads_bench

out=build/demo
echo "Loading and reading..."
$out/bench/reads/reads_bench rows --json $out/point_get.json "$@"
python3 bench/plot.py point_get $out/point_get.json -o $out/point_get.svg

printf '\n%s in %d s: %s and %s\n' "Done" "$SECONDS" \
  $out/point_get.json $out/point_get.svg
