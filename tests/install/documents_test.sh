#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Follows README.md and docs/embedding.md step by step; see usage().
set -euo pipefail

usage() {
  cat <<'END'
usage: documents_test.sh WORK_DIR

Makes below WORK_DIR a Debian with nothing but the packages that README.md's
"Install" names, from this machine's apt sources, and follows the pages in it:
installs the core, then builds and runs the program of README.md by
find_package, pkg-config, add_subdirectory, and FetchContent in a parent with
its own Abseil. The commands, the program and the CMake lines are taken from the
pages.

The Debian needs root and mmdebstrap. Without them the same is done on this
machine, with an installation below WORK_DIR.

Prints a line for each step; ends at the first that fails, with exit code 1.
END
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  "" | -*) usage >&2; exit 2 ;;
esac
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
root=$work/root
export LC_ALL=C

# section PAGE TITLE: prints the lines below that heading, up to the next of
# level 2.
section() {
  grep -qxF "## $2" "$source/$1" || echo "$1 has no section \"$2\"" >&2
  awk -v title="## $2" '
    /^## / { inside = $0 == title; next }
    inside' "$source/$1"
}

# code LANGUAGE NUMBER: prints one of the fenced blocks of that language on
# standard input; NUMBER counts from 1.
code() {
  awk -v fence="\`\`\`$1" -v number="$2" '
    /^```/ { inside = !inside && $0 == fence && ++count == number; next }
    inside { print; found = 1 }
    END { exit !found }'
}

install_commands=$(section README.md Install | code sh 1)
program=$(section README.md "In a store of your own" | code cpp 1)
build_and_link=$(section docs/embedding.md "Build and link")
[ "$(code sh 1 <<<"$build_and_link")" = "$install_commands" ] || {
  echo "README.md and docs/embedding.md install in different ways" >&2
  exit 1
}
pkg_config_command=$(code sh 2 <<<"$build_and_link")
project=$(code cmake 1 <<<"$build_and_link")
find_package='find_package(rowbloom 0.1 REQUIRED)'
apt='sudo apt-get install '
packages=$(sed -n "s/^$apt//p" <<<"$install_commands")
[ -n "$packages" ] && grep -qxF "$find_package" <<<"$project" || {
  echo "README.md has no line '$apt', or docs/embedding.md no" \
    "'$find_package'" >&2
  exit 1
}

# step NAME COMMAND...
step() {
  local name=$1 start=$SECONDS log=$work/${1//[ \/,]/_}.log status
  shift
  set +e
  (set -e; "$@") >"$log" 2>&1
  status=$?
  set -e
  if [ "$status" -eq 0 ]; then
    printf 'ok     %4d s  %s\n' $((SECONDS - start)) "$name"
  else
    printf 'FAILED %4d s  %s\n' $((SECONDS - start)) "$name"
    tail -n 40 "$log"
    exit 1
  fi
}

make_debian() {
  local sources=() file
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list \
    /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sources+=("$file")
  done
  rm -rf "$root"
  # Nobody needs it after a crash, nor reads its manuals.
  mmdebstrap --variant=apt --include="$packages" \
    --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' "" "$root" "${sources[@]}"
}

# in_debian DIRECTORY COMMANDS: runs the commands without this environment's
# variables.
in_debian() {
  chroot "$root" env -i LC_ALL=C HOME=/root CMAKE_BUILD_TYPE=Debug \
    CMAKE_TOOLCHAIN_FILE=/quick.cmake \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    sh -euxc "sudo() { \"\$@\"; }
              cd '$1'
              $2"
}

# This is the fallback: DESTDIR moves the installation below the root.
in_prefix() {
  env -u CMAKE_GENERATOR DESTDIR="$root" CMAKE_BUILD_TYPE=Debug \
    CMAKE_TOOLCHAIN_FILE="$root/quick.cmake" \
    CMAKE_PREFIX_PATH="$root/usr/local" \
    PKG_CONFIG_PATH="$root/usr/local/lib/pkgconfig" \
    sh -euxc "sudo() { \"\$@\"; }
              cd '$root$1'
              $2"
}

# Copies the project's files, as a clone has them, below the root.
copy_source() {
  mkdir -p "$root/rowbloom"
  # The pages are tested, not the optimiser.
  printf 'set(CMAKE_UNITY_BUILD%s)\n' " ON" "_BATCH_SIZE 12" \
    >"$root/quick.cmake"
  git -C "$source" ls-files -z --cached --others --exclude-standard |
    tar -C "$source" --null -T - -c | tar -C "$root/rowbloom" -x
}

# new_project DIRECTORY LINES: writes the page's project there, with LINES
# instead of find_package.
new_project() {
  local directory=$root/$1 line
  mkdir -p "$directory"
  printf '%s\n' "$program" >"$directory/main.cc"
  while IFS= read -r line; do
    [ "$line" != "$find_package" ] || line=$2
    printf '%s\n' "$line"
  done <<<"$project" >"$directory/CMakeLists.txt"
}

# new_parent DIRECTORY LINES: adds a copy of rowbloom in third_party to that.
new_parent() {
  new_project "$@"
  mkdir -p "$root/$1/third_party"
  cp -r "$root/rowbloom" "$root/$1/third_party/rowbloom"
  rm -rf "$root/$1/third_party/rowbloom/build"
}

build_and_run() {
  inside "/$1" "cmake -S . -B build -G Ninja
                cmake --build build
                build/engine >answer
                grep -x no answer"
}

install_core() {
  inside /rowbloom "$(grep -vF "$apt" <<<"$install_commands")"
}

by_find_package() {
  new_project find_package "$find_package"
  build_and_run find_package
}

by_pkg_config() {
  new_project pkg_config ""
  inside /pkg_config "$pkg_config_command
                      ./engine >answer
                      grep -x no answer"
}

by_add_subdirectory() {
  new_parent add_subdirectory "$(code cmake 2 <<<"$build_and_link")"
  build_and_run add_subdirectory
}

by_fetch_content() {
  new_parent fetch_content "include(own_abseil.cmake)
$(code cmake 3 <<<"$build_and_link")"
  cp "$source/tests/install/own_abseil.cmake" "$root/fetch_content"
  build_and_run fetch_content
}

if [ "$(id -u)" -eq 0 ] && command -v mmdebstrap >/dev/null; then
  inside() { in_debian "$@"; }
  step "Debian with nothing but $packages" make_debian
else
  inside() { in_prefix "$@"; }
  rm -rf "$root"
  echo "No root or no mmdebstrap: on this machine, with all its packages."
fi
step "source" copy_source
step "core, installed" install_core
step "find_package" by_find_package
step "pkg-config" by_pkg_config
# The other ways must not find the installation.
step "core, removed" rm -r "$root/usr/local/include/rowbloom" \
  "$root/usr/local/lib/cmake/rowbloom" "$root/usr/local/lib/librowbloom.a"
step "add_subdirectory" by_add_subdirectory
step "FetchContent, own Abseil" by_fetch_content
