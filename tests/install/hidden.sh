#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hidden.sh SOURCE LIBRARY: builds a shared object of the source and the static
# library, as pkg-config says, and reports what it exports of rowbloom.
set -eu
# shellcheck disable=SC2046 # One word for each flag.
"$CXX" -std=c++17 -shared -fPIC -fvisibility=hidden \
  -fvisibility-inlines-hidden -o "$2" "$1" \
  $(pkg-config --cflags --libs rowbloom)
symbols=$(nm -D --defined-only "$2")
! echo "$symbols" | grep -E ' _Z[A-Z]*(NK?)?8rowbloom' >&2
