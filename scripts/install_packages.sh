#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install_packages.sh [--cross]: installs what scripts/packages.txt lists and
# this machine lacks. --cross: packages_cross.txt too, and adds to dpkg the
# architectures that it names.
set -eu
cd "$(dirname "$0")"

case "${1:-}" in
  "") lists=packages.txt ;;
  --cross) lists="packages.txt packages_cross.txt" ;;
  *) echo "usage: install_packages.sh [--cross]" >&2; exit 2 ;;
esac

# installed PACKAGE[:ARCHITECTURE]: of this machine's architecture if none is
# named, whatever others it is installed for.
installed() {
  case "$1" in
    *:*) architecture=${1#*:} ;;
    *) architecture=$(dpkg --print-architecture) ;;
  esac
  dpkg-query -W -f='${db:Status-Status} ${Architecture}\n' "$1" 2>/dev/null |
    grep -qxE "installed (all|$architecture)"
}

missing=
# shellcheck disable=SC2013,SC2086 # Words, not lines; two files.
for package in $(sed 's/#.*//' $lists); do
  installed "$package" || missing="$missing $package"
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
