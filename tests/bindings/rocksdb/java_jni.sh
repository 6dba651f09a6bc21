#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Uses rowbloom from RocksJava; see usage().
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

usage() {
  cat <<'END'
usage: java_jni.sh ROCKSDB_TREE MODULE WORK_DIR

Compiles RocksJava's native library from RocksDB's source at its tag v7.8.3,
links it to the installed librocksdb instead of a RocksDB of its own, and runs
RocksJavaOptions.java with Maven Central's jar and that library:
  - with MODULE, librowbloom_rocksdb_preload.so: the filters must answer;
  - without it: the program must notice that it has none.
At last it checks that the jar's own native library aborts the JVM with MODULE.
Takes a minute on two cores.
END
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
esac
if [ $# -ne 3 ] || [ ! -d "$1/java/rocksjni" ] || [ ! -f "$2" ]; then
  usage >&2
  exit 2
fi
tree=$(realpath "$1")
module=$(realpath "$2")
mkdir -p "$3"/{include,objects,classes,program}
work=$(realpath "$3")
# shellcheck source=tests/bindings/rocksdb/try.sh
. "$here/try.sh"
jdk=$(dirname "$(dirname "$(realpath "$(command -v javac)")")")
jar=$work/rocksdbjni-7.8.3.jar
[ -f "$jar" ] || mvn -q -B dependency:copy -DoutputDirectory="$work" \
  -Dartifact=org.rocksdb:rocksdbjni:7.8.3

# javac writes the headers of the native methods. Debian's librocksdb has its
# assertions on, so NDEBUG would change the layout of internal classes.
build_native() {
  javac -nowarn -h "$work/include" -d "$work/classes" \
    "$tree"/java/src/main/java/org/rocksdb/{,util/}*.java
  find "$tree/java/rocksjni" -name '*.cc' ! -name '*test*' -print0 |
    xargs -0 -P "$(nproc)" -I{} sh -c 'g++ -std=c++17 -O1 -fPIC \
      -DROCKSDB_PLATFORM_POSIX -DROCKSDB_LIB_IO_POSIX -DOS_LINUX \
      -I "$1" -I "$1/include" -I "$1/java" -I "$2" -I "$2/include" \
      -I "$3/include" -I "$3/include/linux" \
      -c "$4" -o "$2/objects/$(basename "$4" .cc).o"' - \
      "$tree" "$work" "$jdk" {}
  g++ -shared -o "$work/librocksdbjni.so" "$work"/objects/*.o -lrocksdb
}

build_native
javac -cp "$jar" -d "$work/program" "$here/java/RocksJavaOptions.java"
# RocksJava loads a librocksdbjni.so that it finds before that of its jar.
java=(java -cp "$jar:$work/program")
own=("${java[@]}" "-Djava.library.path=$work" RocksJavaOptions)
echo "its native library linked to librocksdb:"
try env LD_PRELOAD="$module" "${own[@]}"
try_without "${own[@]}"
echo "the jar's own native library:"
try_without "${java[@]}" RocksJavaOptions
code=0
try env LD_PRELOAD="$module" "${java[@]}" RocksJavaOptions || code=$?
if [ $code -ne 134 ]; then
  echo "with the module: exit code $code instead of an abort's 134;" \
    "correct docs/bindings.md" >&2
  exit 1
fi
echo "aborts, with the module"
