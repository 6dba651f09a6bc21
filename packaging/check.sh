#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the recipes beside it as far as this machine can; see usage().
set -euo pipefail

usage() {
  cat <<'END'
usage: check.sh WORK_DIR [release|debian|conan|vcpkg|bazel]...

Checks that the recipes have CMake's version and sources, then builds each of
them below WORK_DIR and runs a program with what it made. Prints a line for each
with its seconds: ok, skipped with the reason, or FAILED with the log's path.
Exit code 1 if one failed or, where CI is set, was skipped.

release makes the tarball and the list of libraries of scripts/release.sh twice,
        from trees of different names: they must be equal
debian  builds the packages, runs lintian; as root, installs them, builds and
        runs programs against them, and purges them again. Packages that are
        installed already are left alone, but where CI is set they are replaced:
        a check that was killed leaves them behind.
conan   runs `conan create` with stand-ins for abseil and xxhash that name the
        system's; Conan itself comes from PyPI if it is missing
vcpkg   runs the port with stand-ins for vcpkg's functions
bazel   builds the core and a program with the system's abseil and xxhash

scripts/install_packages.sh core engines test packaging installs what it needs.
JOBS (the number of cores) compilers run at once; ccache is used if it is there.
END
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
esac
[ $# -ge 1 ] || { usage >&2; exit 2; }
recipes=("${@:2}")
[ ${#recipes[@]} -gt 0 ] || recipes=(release debian conan vcpkg bazel)
for recipe in "${recipes[@]}"; do
  case "$recipe" in
    release | debian | conan | vcpkg | bazel) ;;
    *) usage >&2; exit 2 ;;
  esac
done
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
tree=$work/tree
jobs=${JOBS:-$(nproc)}
core_only=(-DROWBLOOM_WITH_ROCKSDB=OFF -DROWBLOOM_WITH_LEVELDB=OFF
  -DROWBLOOM_WITH_HFILE=OFF -DROWBLOOM_WITH_REDIS=OFF -DROWBLOOM_BUILD_TESTS=OFF
  -DROWBLOOM_BUILD_BENCHMARKS=OFF -DROWBLOOM_BUILD_TOOLS=OFF
  -DROWBLOOM_BUILD_EXAMPLES=OFF)
export CMAKE_BUILD_PARALLEL_LEVEL=$jobs
# The recipes are checked, not the optimiser.
quick="-O0 -DNDEBUG"
# Builds in different directories use one another's objects.
export CCACHE_BASEDIR=$work CCACHE_NOHASHDIR=1
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

# skip REASON: ends a recipe that this machine cannot build.
skip() {
  echo "$1" >"$work/reason"
  exit 77
}

# need COMMAND PACKAGE
need() {
  command -v "$1" >/dev/null || skip "$2 is not installed"
}

# Copies the files that git tracks, and new ones, as a release would have them.
export_tree() {
  rm -rf "$tree"
  mkdir -p "$tree"
  (cd "$source" && git ls-files -z --cached --others --exclude-standard |
    tar --null -cT -) | tar -xC "$tree"
}

project_version() {
  sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$work/configured/CMakeCache.txt"
}

check_versions() {
  local version soname file found
  version=$(project_version)
  soname=$(cut -d. -f1-2 <<<"$version")
  while read -r file found; do
    if [ "$found" != "$version" ]; then
      echo "packaging/$file: version is '$found', the project has $version"
      return 1
    fi
  done <<END
debian/changelog $(sed -n '1s/.*(\(.*\)-.*).*/\1/p' \
    "$tree/packaging/debian/changelog")
conan/conanfile.py $(sed -n 's/^ *version = "\(.*\)"/\1/p' \
    "$tree/packaging/conan/conanfile.py")
vcpkg/vcpkg.json $(sed -n 's/^  "version": "\(.*\)",/\1/p' \
    "$tree/packaging/vcpkg/vcpkg.json")
bazel/MODULE.bazel $(sed -n 's/^    version = "\(.*\)",/\1/p' \
    "$tree/packaging/bazel/MODULE.bazel")
END
  if ! grep -qx "Package: librowbloom$soname" \
    "$tree/packaging/debian/control"; then
    echo "packaging/debian/control: no package librowbloom$soname"
    return 1
  fi
}

check_sources() {
  cp "$tree"/packaging/bazel/* "$tree"
  python3 "$tree/packaging/check/bazel_sources.py" "$tree" "$work/configured"
}

recipes_agree() {
  export_tree
  rm -rf "$work/configured"
  cmake -S "$tree" -B "$work/configured" -G Ninja "${core_only[@]}"
  check_versions
  check_sources
}

# refuses WHY COMMAND...
refuses() {
  local status=0
  "${@:2}" >"$work/refusal" 2>&1 || status=$?
  if [ $status -ne 2 ] || ! grep -q "$1" "$work/refusal"; then
    echo "not refused because of \"$1\", exit code $status: ${*:2}"
    cat "$work/refusal"
    return 1
  fi
}

build_release() {
  local version top=$work/release another
  version=$(project_version)
  another=$top/a_tree_of_another_name
  rm -rf "$top"
  mkdir -p "$top"
  git clone -q --shared "$source" "$another"
  "$source/scripts/release.sh" --rehearse "$version" "$top/one"
  (umask 077 && "$another/scripts/release.sh" --rehearse "$version" "$top/two")
  diff -r "$top/one" "$top/two"
  (cd "$top/one" && sha256sum -c SHA256SUMS)
  refuses "99.0.0, include/rowbloom/version.h has $version" \
    "$another/scripts/release.sh" --rehearse 99.0.0 "$top/three"
  refuses "is not empty" "$source/scripts/release.sh" "$version" "$top/one"
  (
    cd "$another"
    sed -i "s/^\(| $version |.*| \)[^|]* |$/\1soon |/" CHANGELOG.md
    git -c user.name=- -c user.email=- commit -qam "no date"
    refuses "no date of $version" scripts/release.sh "$version" "$top/three"
    sed -i "s/^\(| $version |.*| \)soon |$/\12000-01-01 |/" CHANGELOG.md
    git -c user.name=- -c user.email=- commit -qam "a date"
    echo >>README.md
    refuses "the tree has changes" scripts/release.sh "$version" "$top/three"
  )
}

build_debian() {
  need dh debhelper
  need lintian lintian
  local version top=$work/debian package
  version=$(project_version)
  package=$top/rowbloom-$version
  rm -rf "$top"
  mkdir -p "$top"
  cp -a "$tree" "$package"
  (cd "$package" && rm -f BUILD.bazel MODULE.bazel rowbloom.bzl)
  tar -C "$top" -czf "$top/rowbloom_$version.orig.tar.gz" "rowbloom-$version"
  cp -a "$package/packaging/debian" "$package"
  (
    cd "$package"
    # With it, other paths than in a package would get into error messages.
    unset CCACHE_BASEDIR
    # debhelper hides the home directory, with ccache's configuration.
    if command -v ccache >/dev/null; then
      CCACHE_DIR=$(ccache --get-config cache_dir)
      export CCACHE_DIR
    fi
    DEB_CXXFLAGS_APPEND="-O1 -g0" \
      DEB_BUILD_OPTIONS="parallel=$jobs noautodbgsym" \
      dpkg-buildpackage -us -uc
  )
  # The first upload to Debian itself would close a bug that asks for it.
  lintian --fail-on error,warning --allow-root \
    --suppress-tags initial-upload-closes-no-bugs "$top"/*.changes
  if [ "$(id -u)" -ne 0 ]; then
    skip "packages built, lintian ok; only root can install them"
  fi
  local packages
  packages=$(for deb in "$top"/*.deb; do dpkg-deb -f "$deb" Package; done |
    tr '\n' ' ')
  # shellcheck disable=SC2086 # One word for each package.
  if [ -z "${CI:-}" ] &&
    (dpkg-query -W -f='${db:Status-Status}\n' $packages || true) 2>&1 |
    grep -x installed; then
    skip "packages built, lintian ok; installed ones are left alone"
  fi
  # shellcheck disable=SC2064 # The names as they are now.
  trap "dpkg --purge $packages" EXIT
  dpkg -i "$top"/*.deb
  mkdir -p "$top/programs"
  (cd "$package" && AUTOPKGTEST_TMP=$top/programs sh debian/tests/consumers)
}

build_conan() {
  local conan=conan
  if ! type -P conan >/dev/null; then
    conan=$work/conan/venv/bin/conan
    if [ ! -x "$conan" ]; then
      python3 -m venv "$work/conan/venv" ||
        skip "python3-venv is not installed"
      "$work/conan/venv/bin/pip" install -q "conan>=2,<3" ||
        skip "Conan cannot be had from PyPI"
    fi
  fi
  export CONAN_HOME=$work/conan/home
  local recipe
  "$conan" profile detect --force
  for recipe in abseil xxhash; do
    "$conan" export "$tree/packaging/check/conan/$recipe.py"
  done
  local variables='{"CMAKE_UNITY_BUILD": "ON"'
  variables+=', "CMAKE_CXX_FLAGS_RELEASE": "'$quick'"}'
  # CMake is the system's, too.
  cat >"$work/conan/profile" <<END
include(default)
[settings]
compiler.cppstd=17
build_type=Release
[conf]
tools.cmake.cmaketoolchain:generator=Ninja
tools.cmake.cmaketoolchain:extra_variables=$variables
[platform_tool_requires]
cmake/$(cmake --version | sed -n "1s/.* //p")
END
  "$conan" create "$tree/packaging/conan" --no-remote --build=missing \
    -pr:a "$work/conan/profile"
}

build_vcpkg() {
  local top=$work/vcpkg
  rm -rf "$top"
  mkdir -p "$top"
  python3 - "$tree/packaging/vcpkg/vcpkg.json" <<'END'
import json
import re
import sys

port = json.load(open(sys.argv[1]))
known = {"name", "version", "description", "homepage", "license", "supports",
         "dependencies", "features", "port-version"}
assert port.keys() <= known, port.keys() - known
assert {"name", "version"} <= port.keys()
assert re.fullmatch(r"\d+(\.\d+)*", port["version"])
names = [port["name"]]
for dependency in port["dependencies"]:
    if isinstance(dependency, dict):
        assert dependency.keys() <= {"name", "host"}, dependency
        dependency = dependency["name"]
    names.append(dependency)
for name in names:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name), name
END
  # With the directories and flags of Conan's build, ccache has the objects.
  cp -a "$tree" "$top/source"
  cmake -DCURRENT_PORT_DIR="$top/source/packaging/vcpkg" \
    -DCURRENT_BUILDTREES_DIR="$top/source/build" \
    -DCURRENT_PACKAGES_DIR="$top/packages" \
    "-DCMAKE_OPTIONS=-DCMAKE_CXX_FLAGS=-m64;-DCMAKE_CXX_FLAGS_RELEASE=$quick;\
-DCMAKE_UNITY_BUILD=ON" \
    -P "$tree/packaging/check/vcpkg_stand_ins.cmake"
  local file
  for file in share/rowbloom/copyright share/rowbloom/usage \
    share/rowbloom/rowbloom-config.cmake include/rowbloom/version.h; do
    [ -f "$top/packages/$file" ] || { echo "no $file"; return 1; }
  done
  # vcpkg moves the tree to where it is installed.
  mv "$top/packages" "$top/installed"
  cmake -S "$tree/tests/install/find_package" -B "$top/consumer" -G Ninja \
    -DCMAKE_PREFIX_PATH="$top/installed"
  cmake --build "$top/consumer"
}

# stand_in DIR NAME PACKAGE: a cc_library for a package of the system.
stand_in() {
  mkdir -p "$1"
  cat >>"$1/BUILD" <<END
cc_library(
    name = "$2",
    linkopts = ["$(pkg-config --libs "$3")"],
    visibility = ["//visibility:public"],
)
END
}

build_bazel() {
  need bazel bazel-bootstrap
  local share=/usr/share/bazel
  [ -d "$share/rules/java" ] || skip "bazel-rules-java is not installed"
  [ -d "$share/tools/platforms" ] || skip "bazel-platforms is not installed"
  local top=$work/bazel name
  rm -rf "$top/trees"
  mkdir -p "$top/trees/rules_cc/cc"
  cp -a "$tree" "$top/trees/rowbloom"
  stand_in "$top/trees/abseil-cpp/absl/base" core_headers absl_core_headers
  for name in flat_hash_map flat_hash_set; do
    stand_in "$top/trees/abseil-cpp/absl/container" "$name" "absl_$name"
  done
  for name in status statusor; do
    stand_in "$top/trees/abseil-cpp/absl/status" "$name" "absl_$name"
  done
  for name in strings str_format; do
    stand_in "$top/trees/abseil-cpp/absl/strings" "$name" "absl_$name"
  done
  stand_in "$top/trees/abseil-cpp/absl/types" span absl_span
  stand_in "$top/trees/xxhash" xxhash libxxhash
  cp "$tree/packaging/check/bazel/rules_cc.bzl" \
    "$top/trees/rules_cc/cc/defs.bzl"
  touch "$top/trees/rules_cc/cc/BUILD"
  for name in rowbloom abseil-cpp xxhash rules_cc; do
    touch "$top/trees/$name/WORKSPACE"
  done
  mkdir "$top/trees/consumer"
  cd "$top/trees/consumer"
  cp "$tree/packaging/check/bazel/WORKSPACE" .
  cp "$tree/packaging/check/bazel/consumer.BUILD" BUILD
  cp "$tree/tests/install/consumer.cc" .
  bazel --batch --output_user_root="$top/root" build --jobs="$jobs" \
    --disk_cache="$top/cache" --nosandbox_debug \
    --override_repository=rules_java="$share/rules/java" \
    --override_repository=platforms="$share/tools/platforms" //:consumer
  bazel-bin/consumer
}

failed=0
run() {
  case "$1" in
    agree) recipes_agree ;;
    release) build_release ;;
    debian) build_debian ;;
    conan) build_conan ;;
    vcpkg) build_vcpkg ;;
    bazel) build_bazel ;;
  esac
}

# step NAME: runs it, with its output in a log.
step() {
  local name=$1 log=$work/$1.log status=0 start=$SECONDS
  rm -f "$work/reason"
  # Not in a condition, where `set -e` would be off.
  set +e
  (set -e; run "$name") >"$log" 2>&1 </dev/null
  status=$?
  set -e
  case $status in
    0) status=ok ;;
    77)
      status="skipped: $(cat "$work/reason")"
      [ -z "${CI:-}" ] || failed=1 # CI must build each of them.
      ;;
    *) status="FAILED, see $log"; tail -n 20 "$log"; failed=1 ;;
  esac
  echo "packaging: $name: $status ($((SECONDS - start)) s)"
}

step agree
for recipe in "${recipes[@]}"; do
  step "$recipe"
done
exit $failed
