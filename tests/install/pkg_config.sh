#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pkg_config.sh PACKAGE SOURCE PROGRAM: builds and runs a one-file program
# with nothing but what pkg-config says of the package, without --static.
set -eu
package=$1 source=$2 program=$3

# shellcheck disable=SC2046 # One word for each flag.
"$CXX" -std=c++17 -o "$program" "$source" \
  $(pkg-config --cflags --libs "$package")
"$program"
if pkg-config --exists "$package >= 0.2"; then
  echo "$package claims a version that it is not" >&2
  exit 1
fi
