#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install_packages.sh LIST...: installs the Debian packages that the files
# scripts/packages/LIST.txt name and this machine lacks. A package of another
# architecture, NAME:ARCHITECTURE, has its architecture added to dpkg.
set -eu
cd "$(dirname "$0")/packages"

usage() {
  echo "usage: install_packages.sh LIST..., of: $(ls | sed 's/\.txt$//' |
    paste -sd' ')" >&2
  exit 2
}

# installed PACKAGE[:ARCHITECTURE]: this machine's architecture is the default.
installed() {
  case "$1" in
    *:*) architecture=${1#*:} ;;
    *) architecture=$(dpkg --print-architecture) ;;
  esac
  dpkg-query -W -f='${db:Status-Status} ${Architecture}\n' "$1" 2>/dev/null |
    grep -qxE "installed (all|$architecture)"
}

[ $# -gt 0 ] || usage
missing=
for list; do
  [ -f "$list.txt" ] || usage
  # shellcheck disable=SC2013 # Words, not lines.
  for package in $(sed 's/#.*//' "$list.txt"); do
    installed "$package" || missing="$missing $package"
  done
done
if [ -z "$missing" ]; then
  echo "All packages are installed."
  exit 0
fi

echo "Installing:$missing"
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
for package in $missing; do
  case "$package" in
    *:*) $sudo dpkg --add-architecture "${package#*:}" ;;
  esac
done
$sudo apt-get update -qq -o Acquire::Retries=3
# shellcheck disable=SC2086 # One word for each package.
$sudo env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends \
  -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 $missing
