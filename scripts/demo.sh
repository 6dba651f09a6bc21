#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# demo.sh [FLAG...]: installs what is missing, builds, loads a real data set
# into RocksDB and shows how many data-block reads each filter saves. Flags are
# those of point_get_bench, e.g. --input FILE. Leaves point_get.json and
# point_get.svg in build/release.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_packages.sh
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache  # As test.sh does.
fi

# All targets are configured, so that test.sh can go on from here; one is built.
echo "Building..."
cmake --preset release >/dev/null
cmake --build --preset release --target point_get_bench

out=build/release
echo "Loading and reading..."
$out/bench/point_get/point_get_bench --json $out/point_get.json "$@"
python3 bench/plot.py point_get $out/point_get.json -o $out/point_get.svg

printf '\n%s in %d s: %s and %s\n' "Done" "$SECONDS" \
  $out/point_get.json $out/point_get.svg
