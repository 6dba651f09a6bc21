#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Uses rowbloom from Kafka Streams; see usage().
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
  cat <<'END'
usage: kafka_streams.sh ROCKSDB_TREE ABSEIL_TREE WORK_DIR

Compiles rowbloom with the headers of RocksDB's source at its tag v9.7.3, and an
Abseil of 2022 or later, for the library in Maven Central's jar of RocksJava,
and runs Kafka Streams 4.1.0 with that jar: with its own filters, with
rowbloom's, and with an extractor for the keys of windows. What it reads must be
the same, gets must have fewer wasted reads, and fetches must read fewer SSTs.
Takes three minutes on two cores.
END
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
esac
if [ $# -ne 3 ] || [ ! -d "$1/include/rocksdb" ] || [ ! -d "$2/absl" ]; then
  usage >&2
  exit 2
fi
rocksdb=$(realpath "$1")
abseil=$(realpath "$2")
mkdir -p "$3"
work=$(realpath "$3")
library=librocksdbjni-linux64.so

if [ ! -d "$work/jars" ]; then
  cp "$here/kafka_streams/pom.xml" "$work"
  mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies \
    -DoutputDirectory="$work/jars"
fi
unzip -qo "$work/jars/rocksdbjni-9.7.3.jar" "$library" -d "$work"
cmake -S "$here/kafka_streams" -B "$work/build" -DCMAKE_BUILD_TYPE=Release \
  -DROCKSDB_TREE="$rocksdb" -DABSEIL_TREE="$abseil" \
  -DJNI_LIBRARY="$work/$library"
cmake --build "$work/build" -j "$(nproc)" --target rowbloom_jni
javac -cp "$work/jars/*" -d "$work" "$here"/kafka_streams/*.java

# stores NAME PROPERTY...: prints the numbers of the program's line.
stores() {
  rm -rf "$work/stores"
  LD_LIBRARY_PATH=$work java -cp "$work:$work/jars/*" \
    -Djava.library.path="$work:$work/build" "${@:2}" KafkaStores \
    "$work/stores" 2>"$work/$1.log" | tee "$work/$1.txt" >&2 || return 1
  sed 's/[^0-9-]\{2,\}/ /g' "$work/$1.txt"
}

read -r checksum wasted _ <<<"$(stores own)"
read -r checksum2 wasted2 _ <<<"$(stores rowbloom -Dpolicy=rowbloom:10)"
read -r checksum3 _ fetches <<<"$(stores rows -Dprefix=8 \
  '-Dpolicy={id=rowbloom;key_codec=fixed:8;filter_spec=compact}')"
[ "$checksum" = "$checksum2" ] && [ "$checksum" = "$checksum3" ]
[ $((4 * wasted2)) -lt "$wasted" ]
[ "$fetches" -gt 20000 ]
if stores misspelt -Dpolicy=rowbloom:bits; then exit 1; fi
grep "IllegalArgumentException: .*rowbloom:bits" "$work/misspelt.log"
echo "Kafka Streams: works"
