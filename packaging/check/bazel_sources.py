#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what BUILD.bazel compiles with what CMake compiles.

    bazel_sources.py TREE BUILD_DIR

TREE is the source tree with the files of packaging/bazel at its top;
BUILD_DIR is a build directory of the core alone, configured by CMake. Each
source must have the same flags of language and instruction set in both. Exit
code 0 if they agree, 1 with one line for each difference.
"""

import json
import platform
import re
import shlex
import sys
from pathlib import Path

# Other flags, such as those of optimisation, are the builder's own.
COMPARED = re.compile(r"-m|-f(no-)?(exceptions|rtti)$")
CPU = {"amd64": "x86_64", "arm64": "aarch64"}.get(
    platform.machine().lower(), platform.machine())


def bazel_rules(tree):
    """The cc_library calls of BUILD.bazel, by name: a .bzl file is Python."""
    rules = {}

    def glob(include, exclude=()):
        def files(patterns):
            # Python's ** at the end of a pattern yields directories only.
            return {str(path.relative_to(tree)) for pattern in patterns
                    for path in tree.glob(re.sub(r"\*\*$", "**/*", pattern))}
        return sorted(files(include) - files(exclude))

    def select(choices):
        return choices.get(f"@platforms//cpu:{CPU}",
                           choices["//conditions:default"])

    label = type("Label", (), {"__init__": lambda *_: None,
                               "workspace_root": ""})
    flags = {"Label": label}
    exec((tree / "rowbloom.bzl").read_text(), flags)
    exec((tree / "BUILD.bazel").read_text(), {
        **flags, "glob": glob, "select": select,
        "load": lambda *_: None, "package": lambda **_: None,
        "filegroup": lambda **_: None,
        "cc_library": lambda name, **rule: rules.update({name: rule}),
    })
    return rules


def bazel_sources(tree):
    """{source: flags} of the libraries and what they depend on."""
    rules = bazel_rules(tree)
    sources, todo = {}, ["c", "planning"]
    while todo:
        rule = rules[todo.pop()]
        todo += [dep[1:] for dep in rule["deps"] if dep.startswith(":")]
        for source in rule.get("srcs", []):
            if source.endswith(".cc"):
                sources[source] = compared(rule["copts"])
    return sources


def cmake_sources(tree, build_dir):
    commands = json.loads((build_dir / "compile_commands.json").read_text())
    # CMake generates files that end in .cxx to check the headers.
    return {str(Path(command["file"]).relative_to(tree)):
            compared(shlex.split(command["command"]))
            for command in commands if command["file"].endswith(".cc")}


def compared(flags):
    """The flags in effect: a later one turns off an earlier one."""
    last = {flag.replace("-fno-", "-f"): flag for flag in flags
            if COMPARED.match(flag)}
    return sorted(flag for flag in last.values()
                  if flag not in ("-fexceptions", "-frtti"))


def main():
    tree, build_dir = (Path(path).resolve() for path in sys.argv[1:3])
    by_bazel = bazel_sources(tree)
    by_cmake = cmake_sources(tree, build_dir)
    differences = 0
    for source in sorted(by_bazel.keys() | by_cmake.keys()):
        bazel, cmake = by_bazel.get(source), by_cmake.get(source)
        if bazel != cmake:
            differences += 1
            print(f"{source}: BUILD.bazel has {bazel}, CMake has {cmake}")
    if not by_bazel:
        sys.exit("BUILD.bazel compiles nothing")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
