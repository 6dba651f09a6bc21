#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check_commits.sh [RANGE]: reports each commit of the range whose message does
# not say what is true now, and why; see CONTRIBUTING.md, "Commits". By default
# the commits since this rule: those after the one that added this file. Merges
# are left out. Exit code 1 if there are any.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  -h | --help) sed -n '3,/^set/{/^set/d;s/^# //;p}' "$0"; exit 0 ;;
esac

range=${1:-}
if [ -z "$range" ]; then
  git rev-parse --is-inside-work-tree >/dev/null 2>&1 || exit 0
  added=$(git log --diff-filter=A --format=%H -- scripts/check_commits.sh |
    tail -n 1)
  [ -n "$added" ] || exit 0
  range=$added..HEAD
fi

max_characters=80
says_nothing='^(what|which|whether|fix(es|ed)?|updates?|reflow|wip)\b|\bagain$'
problems=0
report() {
  echo "commit ${commit:0:12}: $1: \"$subject\""
  problems=$((problems + 1))
}
for commit in $(git rev-list --no-merges "$range"); do
  subject=$(git log -1 --format=%s "$commit")
  body=$(git log -1 --format=%b "$commit")
  statement=${subject#*: }
  if [ "$statement" = "$subject" ]; then
    report "the first line names no place, as in \"cache: ...\""
  elif [ "${#subject}" -gt $max_characters ]; then
    report "the first line has more than $max_characters characters"
  elif grep -qiE "$says_nothing" <<<"$statement"; then
    report "the first line does not say what is true now"
  elif [ -z "$body" ]; then
    report "there is no body that says why"
  fi
done
[ "$problems" -eq 0 ]
