#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# remake.sh GUAVA_JAR DIRECTORY: compiles GuavaGolden.java and has Guava write
# its golden files to DIRECTORY; then has Guava read the files there, including
# those that rowbloom wrote, and compares its answers with the .txt beside each
# file. Debian's libguava-java has /usr/share/java/guava.jar. Needs a JDK.
set -euo pipefail

if [ $# -ne 2 ]; then
  echo "usage: remake.sh GUAVA_JAR DIRECTORY" >&2
  exit 2
fi
jar=$1
directory=$2
here=$(cd "$(dirname "$0")" && pwd)
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT

javac -encoding UTF-8 -cp "$jar" -d "$classes" "$here/GuavaGolden.java"
mkdir -p "$directory"
java -cp "$jar:$classes" GuavaGolden write "$directory"
java -cp "$jar:$classes" GuavaGolden check "$directory"/*.bin
echo "Guava wrote and reads $(ls "$directory"/*.bin | wc -l) filters."
