#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what scripts/packages.txt lists and this machine lacks.
set -eu
cd "$(dirname "$0")"

missing=
# shellcheck disable=SC2013 # Words, not lines.
for package in $(sed 's/#.*//' packages.txt); do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || :)
  [ "$status" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "All packages are installed."
  exit 0
fi

echo "Installing:$missing"
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
$sudo apt-get update -qq -o Acquire::Retries=3
# shellcheck disable=SC2086 # One word for each package.
$sudo env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends \
  -o Acquire::Retries=3 -o DPkg::Lock::Timeout=120 $missing
