#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs randomised tests for hours; see usage().
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

# Name, operations of a turn (about a minute), program, tests.
tests=(
  "filters 400000000 filter_test FilterSoak.*"
  "readers 150000000 reader_test FaultsSoak.*"
  "memfilters 100000000 memfilter_test *.NoKeyIsLostOverRandom*"
  "differential 1500000 rocksdb_plugin/rocksdb_db_test
    DbDifferential.AnswersAsAMapDoes"
  "rows 1000000 rocksdb_plugin/rocksdb_db_test
    DbDifferential.RocksDbRowsAnswersAsAMapDoesInAnySetUp"
  "partitions 1500000 rocksdb_plugin/rocksdb_db_test
    DbDifferential.ScansFindPrefixesAtPartitionBoundaries"
)

usage() {
  cat <<'END'
usage: soak.sh HOURS

Runs the fuzz targets and the tests with random input in turns of about a
minute, one turn on each core, each with a new seed, until HOURS have passed
(8, or 0.5). Builds the presets test and fuzz first; scripts/test.sh installs
the packages.

  fuzz          each fuzz target, from its corpus and what it found before
  filters       filters of every family and kernel over random keys
  readers       readers of files that fail and flip bits at random
  memfilters    memory filters against exact sets
  differential  RocksDB with random options against a map
  rows          RocksDbRows against a map
  partitions    scans across the boundaries of partitions against a map

Prints counts once an hour and at the end: hours of processor time, inputs of
fuzz targets, lookups or operations of tests. Reports a turn that fails at once,
with the command that repeats it; its output stays in build/soak/failed, and the
input that failed in build/fuzz/found.

Exit code 0 if all is well, 1 if a turn failed, 2 for wrong arguments.
END
}

# fails TURN COMMAND...: keeps the log of a turn and says how to repeat it.
fails() {
  mkdir -p "$directory/failed"
  mv "$log" "$directory/failed/$1.log"
  echo "failed 1" >>"$directory/counts"
  echo "FAILED: $directory/failed/$1.log; to repeat: ${*:2}"
}

fuzz_turn() {
  local log=$directory/$1.$2
  if fuzz_one "$1" 60 >"$log"; then
    sed -n 's/.*: \(.*\) inputs$/inputs \1/p' "$log" >>"$directory/counts"
    rm "$log"
  else
    fails "$1.$2" "build/fuzz/tests/fuzz/$1 build/fuzz/found/$1-*"
  fi
}

# test_turn SEED NAME OPERATIONS PROGRAM TESTS
test_turn() {
  local log=$directory/$2.$1
  local command=(env "ROWBLOOM_OPERATIONS=$3" "build/test/tests/$4"
    "--gtest_filter=$5" "--gtest_random_seed=$1")
  if "${command[@]}" >"$log" 2>&1; then
    echo "$2 $3" >>"$directory/counts"
    rm "$log"
  else
    fails "$2.$1" "${command[@]@Q}"
  fi
}

# worker NUMBER: takes turns until the time is over. Each worker begins
# elsewhere, so that a short soak has turns of every kind.
worker() {
  local targets turn fields
  local TIMEFORMAT='processor_seconds %U
processor_seconds %S'
  mapfile -t targets < <(fuzz_targets)
  local kinds=$((${#targets[@]} + ${#tests[@]}))
  for ((turn = $1 * kinds / jobs; SECONDS < end; turn++)); do
    local kind=$((turn % kinds)) seed=$((RANDOM << 15 | RANDOM))
    {
      time if ((kind < ${#targets[@]})); then
        fuzz_turn "${targets[kind]}" "$seed"
      else
        read -rd '' -a fields <<<"${tests[kind - ${#targets[@]}]}" || true
        test_turn "$seed" "${fields[@]}"
      fi
    } 2>>"$directory/counts"
  done
}

report() {
  awk -v seconds="$SECONDS" -v names="inputs ${tests[*]%% *}" '
    { sum[$1] += $2 }
    END {
      printf "%.1f h, %.2f h of processor time", seconds / 3600,
        sum["processor_seconds"] / 3600
      count = split(names, name)
      for (i = 1; i <= count; i++) printf ", %s %.0f", name[i], sum[name[i]]
      printf ", %d turns failed\n", sum["failed"]
    }' "$directory/counts"
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
esac
if [ $# -ne 1 ] || ! [[ $1 =~ ^[0-9]+(\.[0-9]+)?$ ]]; then
  usage >&2
  exit 2
fi
end=$(awk -v hours="$1" 'BEGIN { printf "%d", hours * 3600 }')

# shellcheck disable=SC2046 # One word for each target.
build fuzz $(fuzz_targets) >&2
build test filter_test reader_test memfilter_test rocksdb_db_test >&2

directory=build/soak
mkdir -p "$directory"
: >"$directory/counts"
SECONDS=0
workers=()
for ((i = 0; i < jobs; i++)); do
  worker "$i" &
  workers+=($!)
done
while ((SECONDS < end)); do
  sleep $((end - SECONDS < 3600 ? end - SECONDS : 3600))
  ((SECONDS >= end)) || report
done
wait "${workers[@]}"
report
! grep -q failed "$directory/counts"
