# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions of test.sh, check.sh and soak.sh, which source this file.

jobs=$(nproc)
steps_passed=0
steps_failed=0
failed_ends=
summary=

# step TITLE COMMAND...: runs the command between a header and a line of the
# summary, and counts how it ended. A step that fails leaves the end of its
# output to the summary. Call it as a command of its own or at the end of a
# list: elsewhere the shell ignores `set -e`, here and in the command.
step() {
  local title=$1 start=$SECONDS result=ok
  local output log=build/steps/${title// /_}.log
  shift
  mkdir -p build/steps
  printf '\n=== %s (at %d s)\n' "$title" "$start"
  set +e
  exec {output}> >(tee "$log")
  (set -e; "$@") >&"$output" 2>&1 {output}>&-
  [ $? -eq 0 ] || result=FAILED
  exec {output}>&-
  # Until tee has written all; a server that a step left running holds it open.
  timeout 5 tail --pid=$! -s 0.1 -f /dev/null
  set -e
  summary+=$(printf '\n  %5d s  %-6s  %s' $((SECONDS - start)) $result "$title")
  if [ $result = FAILED ]; then
    steps_failed=$((steps_failed + 1))
    failed_ends+=$(printf '\n=== the end of %s:\n' "$log" && tail -n 30 "$log")
  else
    steps_passed=$((steps_passed + 1))
  fi
}

# finish: prints how failed steps ended and the summary. Returns 1 if a step
# failed.
finish() {
  [ -z "$failed_ends" ] || printf '\n%s\n' "${failed_ends#?}"
  printf '\n%s\n  %5d s  in all\n' "${summary#?}" "$SECONDS"
  printf '%d passed, %d failed\n' "$steps_passed" "$steps_failed"
  [ "$steps_failed" -eq 0 ]
}

# build PRESET [TARGET...]: builds these targets, or all if none is named. To
# ccache the sources of a unity build are the same in every build directory.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null
  CCACHE_BASEDIR=$PWD/build/$preset \
    cmake --build --preset "$preset" ${1:+--target "$@"}
}

# run_tests PRESET [CTEST_ARGUMENT...]
run_tests() {
  local preset=$1
  shift
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
