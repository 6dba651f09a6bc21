# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions of test.sh and check.sh, which source this file.

jobs=$(nproc)
steps_passed=0
steps_failed=0
summary=

# step TITLE COMMAND...: runs the command between a header and a line of the
# summary, and counts how it ended. Call it as a command of its own or at the
# end of a list: elsewhere the shell ignores `set -e`, here and in the command.
step() {
  local title=$1 start=$SECONDS result=ok
  shift
  printf '\n=== %s (at %d s)\n' "$title" "$start"
  set +e
  (set -e; "$@")
  [ $? -eq 0 ] || result=FAILED
  set -e
  summary+=$(printf '\n  %5d s  %-6s  %s' $((SECONDS - start)) $result "$title")
  if [ $result = FAILED ]; then
    steps_failed=$((steps_failed + 1))
  else
    steps_passed=$((steps_passed + 1))
  fi
}

# finish: prints the summary. Returns 1 if a step failed.
finish() {
  printf '\n%s\n  %5d s  in all\n' "${summary#?}" "$SECONDS"
  printf '%d passed, %d failed\n' "$steps_passed" "$steps_failed"
  [ "$steps_failed" -eq 0 ]
}

# build PRESET [TARGET...]: builds these targets, or all if none is named.
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" ${1:+--target "$@"}
}

# run_tests PRESET [CTEST_ARGUMENT...]
run_tests() {
  local preset=$1
  shift
  ctest --preset "$preset" -j "$jobs" --no-tests=error "$@"
}
