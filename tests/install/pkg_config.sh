#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pkg_config.sh PACKAGE SOURCE PROGRAM FLAGS...: builds a one-file program with
# only the flags that pkg-config prints for the package, without --static, and
# runs it; once with each argument of FLAGS. LD_LIBRARY_PATH is for the program
# alone: the linker has to find the libraries that a library needs without it.
set -eu
package=$1 source=$2 program=$3
shift 3

package_flags=$(pkg-config --cflags --libs "$package")
for flags; do
  # shellcheck disable=SC2086 # One word for each flag.
  env -u LD_LIBRARY_PATH "$CXX" $flags -o "$program" "$source" $package_flags
  "$program"
done
if pkg-config --exists "$package >= 0.2"; then
  echo "$package claims a version that it is not" >&2
  exit 1
fi
