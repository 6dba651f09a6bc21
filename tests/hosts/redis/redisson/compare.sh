#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# compare.sh PEER [VERSION...]: shares filters on a redis-server between
# Redisson of these versions (3.15.1 and 4.7.0) and rowbloom, whose side is the
# program PEER (tests/hosts/redis/redisson_peer of a build), in both directions
# and mixed, and times batches of both. Exit code 1 if a bit or an answer
# differs or an element is lost. Needs redis-server, redis-cli, JDK 17 and
# Maven, which
# fetches Redisson.
set -euo pipefail

[ $# -ge 1 ] || { echo "usage: compare.sh PEER [VERSION...]" >&2; exit 2; }
peer=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- 3.15.1 4.7.0
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../../../build/redisson_peer

# The release's default codec comes first.
codecs() {
  case "$1" in
    3.1[3-8].*) echo MarshallingCodec StringCodec ;;
    *) echo Kryo5Codec StringCodec ByteArrayCodec ;;
  esac
}

directory=$(mktemp -d)
server=
stop() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$directory"
}
trap stop EXIT

# The first port that is free.
for port in $(seq 16379 16479); do
  redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no \
    --dir "$directory" >"$directory/log" &
  server=$!
  for _ in $(seq 100); do
    grep -q "Ready to accept" "$directory/log" && break 2
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
done
kill -0 "$server"

for version; do
  target=$build/$version
  if [ ! -f "$target/class_path" ] || [ -n "$(find "$here/pom.xml" \
    "$here/java" -newer "$target/class_path" -print -quit)" ]; then
    mvn -q -B -f "$here/pom.xml" -Dredisson.version="$version" compile >&2
    touch "$target/class_path"
  fi
  java=(java -XX:+UseSerialGC --add-opens=java.base/java.lang=ALL-UNNAMED
    -cp "$target/classes:$(cat "$target/class_path")"
    rowbloom.RedissonPeer "$port")
  echo "Redisson $version"
  # shellcheck disable=SC2046 # One word for each codec.
  set -- $(codecs "$version")
  redis-cli -p "$port" flushall >/dev/null
  "$peer" "$port" before "$@"
  "${java[@]}" check "$@"
  "$peer" "$port" after "$@"
  for _ in 1 2; do
    "${java[@]}" bench
    "$peer" "$port" bench
  done
done
