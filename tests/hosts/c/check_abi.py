#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares c.h and its library with what was released.

    check_abi.py ROOT NM LIBRARY

tests/hosts/c/abi.golden has each declaration of the header in one line:
functions, structs, constants. Within a major version lines are added, and none
is changed or removed: ROWBLOOM_UPDATE_GOLDEN=1 writes the file anew. Also,
LIBRARY (an archive or a shared library) must define the declared functions and
no others in C, tests/hosts/c/c_test.cc must call each of them, with a null
pointer too if it takes one, and the crate rowbloom-sys must declare it. Exit
code 0 if all agree, 1 with one line for each problem.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

# They name each function.
USES = ("tests/hosts/c/c_test.cc", "bindings/rust/rowbloom-sys/src/lib.rs")
FUNCTION = re.compile(r"^ROWBLOOM_API .*?\b(rowbloom_\w+)\(")


def declarations(header):
    """The declarations of a header, each in one line, and its constants."""
    text = re.sub(r"//.*", "", header)
    found = re.findall(r"^#define (ROWBLOOM_\w+ \w+)$", text, re.M)
    text = re.sub(r"^#ifdef __cplusplus$.*?^#endif$", "", text,
                  flags=re.M | re.S)
    text = re.sub(r"^#.*", "", text, flags=re.M)
    for part in re.findall(r"(?:[^;{]|\{[^}]*\})+;", text):
        line = re.sub(r"\s+", " ", part.rstrip(";")).strip()
        line = re.sub(r"([({]) | ([)}])", r"\1\2", line)
        constants = re.fullmatch(r"enum \{(.*)\}", line)
        found += constants[1].split(", ") if constants else [line]
    return found


def functions(lines):
    return {match[1] for match in map(FUNCTION.match, lines) if match}


def defined(nm_output):
    """The symbols that nm prints, except those of C++ and of the compiler."""
    names = {line.split()[-1] for line in nm_output.splitlines()
             if len(line.split()) == 3}
    return {name for name in names
            if not name.startswith(("_Z", "__", "DW.ref."))}


def problems(header, golden, symbols, uses):
    lines = declarations(header)
    released = golden.splitlines()
    for line in released:
        if line not in lines:
            yield f"changed or removed, which needs a new ROWBLOOM_ABI: {line}"
    for line in lines:
        if line not in released:
            yield f"not in abi.golden: {line}"
    for name in sorted(functions(lines) ^ symbols):
        yield f"{name} is not both declared and defined"
    takes_pointer = functions(
        line for line in lines if re.search(r"\(.*\*", line))
    for path, text in uses.items():
        for name in sorted(functions(lines)):
            if not re.search(rf"\b{name}\(", text):
                yield f"{path} does not have {name}"
            elif (path.endswith(".cc") and name in takes_pointer and
                  not re.search(rf"\b{name}\((\([^()]*\)|[^()])*\bnullptr",
                                text)):
                yield f"{path} does not pass a null pointer to {name}"


def main(root, nm, library):
    room = Path(root) / "tests/hosts/c"
    header = (Path(root) / "hosts/c/include/rowbloom/c.h").read_text()
    if os.environ.get("ROWBLOOM_UPDATE_GOLDEN"):
        (room / "abi.golden").write_text(
            "".join(line + "\n" for line in declarations(header)))
    dynamic = ["-D"] if ".so" in Path(library).name else []
    symbols = defined(subprocess.run(
        [nm, *dynamic, "-g", "--defined-only", library], check=True,
        capture_output=True, text=True).stdout)
    found = list(problems(header, (room / "abi.golden").read_text(), symbols,
                          {path: (Path(root) / path).read_text()
                           for path in USES}))
    print("\n".join(found) if found else f"abi: {len(symbols)} functions")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
