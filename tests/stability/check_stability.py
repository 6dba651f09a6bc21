#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the promises of docs/stability.md that lists can keep.

    check_stability.py ROOT

api.golden lists the C++ API, one declaration a line (declarations.py): the
headers must declare these and no others. ROWBLOOM_UPDATE_GOLDEN=1 writes it
anew: read the difference. options.golden lists option texts: rocksdb_test and
c_test say that the library reads each of them and knows no other names. These,
abi.golden of the C API and the tool's flags are compared with those of the last
tag before HEAD: within a major version (before 1.0: a minor one) nothing goes
away. Exit code 0 if all holds, 1 with a line for each problem.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

API = "tests/stability/api.golden"
OPTIONS = "tests/stability/options.golden"
ABI = "tests/hosts/c/abi.golden"
HELP = "tests/tools/golden/help.txt"
VERSION = "include/rowbloom/version.h"
RELEASED = re.compile(r"^\| [\d.]+ \|.*\| \d+-\d+-\d+ \|$", re.M)
REMAKE = "ROWBLOOM_UPDATE_GOLDEN=1 tests/stability/check_stability.py ."


def flags(sessions):
    """The flags of the tool's verbs, from its golden sessions of --help."""
    return [f"rowbloom {verb}{flag}"
            for verb, text in re.findall(
                r"^\$ rowbloom (\w* ?)--help$(.*?)(?=^\$|\Z)", sessions,
                re.M | re.S)
            for flag in re.findall(r"^  (?:-\w,)?(--\w+)", text, re.M)]


def version(header):
    return tuple(int(re.search(rf"VERSION_{part} (\d+)", header)[1])
                 for part in ("MAJOR", "MINOR"))


def unlike(golden, declared):
    """How the headers differ from api.golden."""
    for line in golden:
        if line not in declared:
            yield f"removed or changed: {line}"
    for line in declared:
        if line not in golden:
            yield f"new: {line}"
    if golden != declared and set(golden) == set(declared):
        yield "the declarations have another order"


def scope(line):
    """The class that a function or a field belongs to, with ::, or nothing."""
    found = re.search(r"(\S+::)~?[^:\s(]+\(", line) or re.search(
        r"^field .* (\S+::)\w+$", line)
    return found[1] if found else ""


def is_field(line):
    return line.startswith("field ")


def gone(released, now):
    """What breaks programs that fit `released`."""
    at = {line: number for number, line in enumerate(now)}
    classes = {found[1] + "::" for line in released
               if (found := re.search(r"\bclass ([\w:]+)", line))}
    for line in released:
        if line not in at and not line.startswith("deprecated "):
            yield f"removed or changed: {line}"
    for one, next_one in zip(released, released[1:]):
        if (is_field(one) and is_field(next_one) and
                scope(one) == scope(next_one) and
                at.get(one, -1) > at.get(next_one, len(at))):
            yield f"moved ahead of other fields: {next_one}"
    for line in now:
        if line not in released and scope(line) in classes and (
                re.search(r" = (0|delete)$", line)):
            yield f"breaks programs, as its class is not new: {line}"


def not_deprecated(released, now):
    """What goes away without a release that had it [[deprecated]]."""
    for line in released:
        if not (line in now or line.startswith("deprecated ") or
                f"deprecated {line}" in released):
            yield f"removed or changed, and was not deprecated: {line}"


def since(old, new):
    """Problems of the tree `new` with that of the last tag, texts by path."""
    before, now = version(old[VERSION]), version(new[VERSION])
    api, options, abi = ([tree[path].splitlines() for tree in (old, new)]
                         for path in (API, OPTIONS, ABI))
    if before[0] == now[0] and (before[0] > 0 or before == now):
        tool = [flags(tree[HELP]) for tree in (old, new)]
        for lists in (api, options, abi, tool):
            yield from gone(*lists)
        return
    if before[0] > 0:
        yield from not_deprecated(*api)
    if any(line.startswith("ROWBLOOM_ABI ") and line in abi[1]
           for line in abi[0]):
        yield from gone(*abi)


def git(root, *arguments):
    done = subprocess.run(["git", "-C", root, *arguments], check=False,
                          capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def problems(root, declared):
    tree = Path(root)
    new = {path: (tree / path).read_text()
           for path in (API, OPTIONS, ABI, HELP, VERSION)}
    different = list(unlike(new[API].splitlines(), declared))
    yield from different
    if different:
        yield (f"{API} is not what the headers declare. Is docs/stability.md "
               f"kept? Then: {REMAKE}")
    tag = git(root, "describe", "--tags", "--abbrev=0", "--match=v[0-9]*")
    if tag is not None:
        tag = tag.strip()
        old = {path: git(root, "show", f"{tag}:{path}") or "" for path in new}
        yield from (f"since {tag}: {problem}" for problem in since(old, new))
    elif RELEASED.search((tree / "CHANGELOG.md").read_text()):
        yield ("CHANGELOG.md has a release, but git has no tag v*: fetch the "
               "tags")


def main(root):
    from declarations import declarations
    declared = declarations(root)
    if os.environ.get("ROWBLOOM_UPDATE_GOLDEN"):
        (Path(root) / API).write_text("".join(f"{line}\n" for line in declared))
    found = list(problems(root, declared))
    print("\n".join(found) if found else
          f"stability: {len(declared)} declarations")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
