#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hbase_peer.sh COMMAND...: runs HBase's own store file writer and reader, and
# builds it first if necessary. Without a command, lists the commands.
set -eu
here=$(dirname "$0")
build=$here/../../../../build/hbase_peer

if [ ! -f "$build/class_path" ] || [ -n "$(find "$here/pom.xml" "$here/java" \
  -newer "$build/class_path" -print -quit)" ]; then
  mvn -q -B -f "$here/pom.xml" compile >&2
  touch "$build/class_path"
fi
exec java -XX:+UseSerialGC -cp "$build/classes:$(cat "$build/class_path")" \
  rowbloom.Main "$@"
