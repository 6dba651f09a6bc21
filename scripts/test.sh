#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test.sh: installs what is missing, builds everything but the benchmarks with
# our own checks on, and runs all tests of that build. Stops at the first
# failure. scripts/check.sh has the sanitizers and everything else that is deep.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/steps.sh
. scripts/steps.sh

case "${1:-}" in
  "") ;;
  -h | --help) sed -n '3,/^set/{/^set/d;s/^# //;p}' "$0"; exit 0 ;;
  *) echo "usage: test.sh" >&2; exit 2 ;;
esac

step "packages" scripts/install_packages.sh core engines test
any_step_failed || step "build" build test
any_step_failed || step "tests" run_tests test
finish
