#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the files of a release; see usage().
set -euo pipefail
umask 022
# Not the caller's compilers, flags and locale.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LC_ALL=C.UTF-8 TZ=UTC

usage() {
  cat <<'END'
usage: release.sh [--rehearse] VERSION DIR

Makes in DIR, which must be empty or missing, from the commit HEAD:

  rowbloom-VERSION.tar.gz    the tree
  *.deb                      the packages of packaging/debian
  rowbloom-VERSION.cdx.json  what they are made of, as CycloneDX
  SHA256SUMS                 of all of them

One commit gives the same bytes wherever its tree and DIR lie, with the same
Debian packages installed, which scripts/install_packages.sh core engines test
packaging installs. Refuses a tree with changes, and a VERSION that is not that
of include/rowbloom/version.h, of packaging/debian/changelog and, with a date,
of CHANGELOG.md. It runs no tests, and leaves signatures and the tag vVERSION to
you. Exit codes: 0 fine, 1 a failure, 2 wrong arguments or a refusal.

--rehearse makes no Debian packages, leaves out changes of the tree, and needs
no date.
END
}

refuse() {
  echo "release.sh: $*" >&2
  exit 2
}

rehearse=false
case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  --rehearse) rehearse=true; shift ;;
esac
[ $# -eq 2 ] || { usage >&2; exit 2; }
version=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
[ -z "$(ls -A "$out")" ] || refuse "$2 is not empty"
cd "$(dirname "$0")/.."

at_head() { git show "HEAD:$1"; }

check_version() {
  local found
  found=$(at_head include/rowbloom/version.h | sed -En \
    's/^#define ROWBLOOM_VERSION_(MAJOR|MINOR|PATCH) //p' | paste -sd.)
  [ "$found" = "$version" ] ||
    refuse "version is $version, include/rowbloom/version.h has $found"
  found=$(at_head packaging/debian/changelog | sed -n '1s/.*(\(.*\)-.*).*/\1/p')
  [ "$found" = "$version" ] ||
    refuse "version is $version, packaging/debian/changelog has $found"
  at_head CHANGELOG.md | grep -xF "## $version" >/dev/null ||
    refuse "CHANGELOG.md has no section $version"
  found=$(at_head CHANGELOG.md |
    sed -n "s/^| $version |.*| \([0-9-]*\) |$/\1/p")
  $rehearse || [ -n "$found" ] ||
    refuse "CHANGELOG.md has no date of $version in its table"
  $rehearse || [ -z "$(git status --porcelain)" ] ||
    refuse "the tree has changes: $(git status --porcelain | head -n 3)"
}

tarball() {
  git -c tar.umask=0022 archive --prefix="rowbloom-$version/" HEAD |
    gzip -9n >"$out/rowbloom-$version.tar.gz"
}

debian_packages() {
  local work tree
  work=$(mktemp -d)
  tree=$work/rowbloom-$version
  # shellcheck disable=SC2064 # The directory as it is now.
  trap "rm -rf '$work'" EXIT
  tar -C "$work" -xzf "$out/rowbloom-$version.tar.gz"
  cp -a "$tree/packaging/debian" "$tree"
  (cd "$tree" && env -i PATH="$PATH" LC_ALL="$LC_ALL" TZ="$TZ" HOME="$work" \
    SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
    DEB_BUILD_OPTIONS="parallel=${JOBS:-$(nproc)}" \
    dpkg-buildpackage -b -us -uc) >"$work/log" 2>&1 ||
    { tail -n 30 "$work/log" >&2; exit 1; }
  cp "$work"/*.deb "$out"
}

check_version
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
tarball
# Not behind ||, where failures within the function would be ignored.
if ! $rehearse; then
  debian_packages
fi
sbom=$(python3 -B packaging/sbom.py . "$version" "$SOURCE_DATE_EPOCH" "$out"/*)
echo "$sbom" >"$out/rowbloom-$version.cdx.json"
cd "$out"
sums=$(sha256sum -- *)
echo "$sums" | tee SHA256SUMS
