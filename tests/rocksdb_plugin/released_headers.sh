#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# released_headers.sh WORK_DIR: the plugin's sources compile for releases of
# RocksDB that are later than Debian's. The crate rust-librocksdb-sys carries
# their sources; cargo puts them below WORK_DIR.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$1

# The last release with each layout of the private classes, as the crate has
# them, and the newest that native mode admits.
crates=(0.25.0+9.5.2 0.40.0+10.7.5 0.49.0+11.12.0)

trees=()
for version in "${crates[@]}"; do
  tree=$work/$version
  if [ ! -d "$tree/rust-librocksdb-sys" ]; then
    mkdir -p "$tree"
    cat >"$tree/Cargo.toml" <<END
[package]
name = "headers"
version = "0.0.0"
[lib]
path = "/dev/null"
[dependencies]
rust-librocksdb-sys = { version = "=$version", default-features = false }
END
    cargo vendor --quiet --manifest-path "$tree/Cargo.toml" "$tree" >/dev/null
  fi
  trees+=("$tree/rust-librocksdb-sys/rocksdb")
done
scripts/check_rocksdb_tree.sh "${trees[@]}"
