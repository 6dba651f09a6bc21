# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions of test.sh, check.sh and soak.sh, which source this file.

# Builds that compile a file with the same flags share its object.
export CMAKE_CXX_COMPILER_LAUNCHER=ccache
export CCACHE_SLOPPINESS=pch_defines,time_macros

jobs=$(nproc)
step_results=build/steps/results
rm -f "$step_results"
mkdir -p build/steps

# step TITLE COMMAND...: runs the command between a header and a line of the
# summary. Its output also goes to a log. Call it as a command of its own or at
# the end of a list: elsewhere the shell ignores `set -e`, here and in the
# command.
step() {
  local title=$1 start=$SECONDS result=ok
  local output log=build/steps/${title// /_}.log
  shift
  printf '\n=== %s (at %d s)\n' "$title" "$start"
  set +e
  exec {output}> >(tee "$log")
  local TIMEFORMAT='%U %S'
  { time { (set -e; "$@") >&"$output" 2>&1 {output}>&-; }; } 2>"$log.time"
  [ $? -eq 0 ] || result=FAILED
  exec {output}>&-
  # Until tee has written all; a server that a step left running holds it open.
  timeout 5 tail --pid=$! -s 0.1 -f /dev/null
  set -e
  printf '  %5d s  %5d s of processors  %-6s  %s\n' $((SECONDS - start)) \
    "$(awk '{ printf "%d", $1 + $2 }' "$log.time")" $result "$title" \
    >>"$step_results"
}

# steps_side_by_side NAME...: runs the functions of these names as steps, two at
# a time, since many keep one core busy. Prints the output of each when it ends.
steps_side_by_side() {
  local lanes=()
  printf '%s\n' "$@" >build/steps/waiting
  take_steps & lanes+=($!)
  take_steps & lanes+=($!)
  wait "${lanes[@]}"
}

take_steps() {
  local name
  while name=$(locked waiting sed -i -e '1{w /dev/stdout' -e 'd}' \
    build/steps/waiting) && [ -n "$name" ]; do
    echo "$name begins at $SECONDS s"
    step "$name" "$name" >"build/steps/$name.out" 2>&1
    locked output cat "build/steps/$name.out"
  done
}

# locked NAME COMMAND...: runs it when no other step runs one by that name. A
# server that the command leaves running does not keep the lock.
locked() {
  local lock result
  exec {lock}>"build/steps/$1.lock"
  flock "$lock"
  set +e
  (set -e; "${@:2}") {lock}>&-
  result=$?
  set -e
  exec {lock}>&-
  return "$result"
}

any_step_failed() { grep -qs ' FAILED ' "$step_results"; }

# finish: prints how failed steps ended and the summary. Returns 1 if a step
# failed.
finish() {
  local title failed
  failed=$(grep -c ' FAILED ' "$step_results" || true)
  sed -n 's/^.* FAILED *//p' "$step_results" | while read -r title; do
    printf '\n=== the end of %s:\n' "$title"
    tail -n 30 "build/steps/${title// /_}.log"
  done
  echo
  cat "$step_results"
  printf '  %5d s  %5d s of processors  in all\n' "$SECONDS" \
    "$(awk '{ sum += $3 } END { print sum }' "$step_results")"
  printf '%d passed, %d failed\n' \
    $(($(wc -l <"$step_results") - failed)) "$failed"
  [ "$failed" -eq 0 ]
}

# build PRESET [TARGET...]: builds these targets, or all if none is named.
build() { locked "$1" build_alone "$@"; }

# To ccache the sources of a unity build are the same in every build directory.
build_alone() {
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null
  CCACHE_BASEDIR=$PWD/build/$preset \
    cmake --build --preset "$preset" ${1:+--target "$@"}
}

# run_tests PRESET [CTEST_ARGUMENT...]: without a TMPDIR, databases are in
# memory if it has room, since many tests wait for a disk most of the time.
run_tests() {
  local preset=$1 free_kib
  shift
  if [ -z "${TMPDIR:-}" ] &&
    free_kib=$(df --output=avail -k /dev/shm | tail -n 1) &&
    [ "$free_kib" -ge 4000000 ]; then
    local -x TMPDIR=/dev/shm
  fi
  ctest --preset "$preset" -j "$jobs" --no-tests=error "$@"
}

# Each directory of the corpus belongs to the target of that name.
fuzz_targets() {
  local directory
  for directory in tests/fuzz/corpus/*/; do
    echo "$(basename "$directory")_fuzz"
  done
}

# fuzz_one TARGET SECONDS: prints how many inputs passed, or how it failed. The
# corpus runs first; inputs that add to it go to the build directory, and one
# that fails beside it.
fuzz_one() {
  local target=$1 found=build/fuzz/found/$1
  local log=$found.$BASHPID.log
  mkdir -p "$found"
  if ! "build/fuzz/tests/fuzz/$target" -max_total_time="$2" \
    -print_final_stats=1 -artifact_prefix="$found-" \
    "$found" "tests/fuzz/corpus/${target%_fuzz}" >"$log" 2>&1; then
    tail -n 50 "$log"
    return 1
  fi
  echo "$target:" \
    "$(sed -n 's/^stat::number_of_exec.*: *//p' "$log") inputs"
  rm "$log"
}
