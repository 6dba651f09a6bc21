#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh PROGRAM: runs redis_shared with a redis-server of its own and a new
# database. Exit code 77 if there is no redis-server.
set -eu
program=$1
command -v redis-server >/dev/null || {
  echo "there is no redis-server (Debian: redis-server)" >&2
  exit 77
}
directory=$(mktemp -d)
redis-server --port 0 --unixsocket "$directory/socket" --save '' \
  --appendonly no --dir "$directory" >"$directory/log" &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -r "$directory"' EXIT
tries=0
until [ -S "$directory/socket" ] || [ $tries -gt 300 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
"$program" "unix://$directory/socket?name=seen&timeout_ms=30000" \
  "$directory/db"
