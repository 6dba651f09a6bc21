#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the files of a point get in docs/architecture.md to the #includes.

    check_hit.py ROOT

The table "step | files" lists what one opens to follow a lookup from
FilterReader::MayContain() to its answer: the files of a hit, and those that a
miss needs beside them. For both the check reports

- a listed file that is missing, or that nothing leads to: a header that no
  listed file includes, a source of which no header is reached;
- an #include of a listed file that is neither listed nor a header that need
  not be opened: a public one, or one of DECLARATIONS;
- more files than LIMITS.

Exit code 0 when nothing is wrong, 1 with one line for each problem.
"""

import re
import sys
from pathlib import Path

ENTRY = "reader/filter_lookup.cc"
LIMITS = {"hit": 10, "miss": 16}  # A miss includes the hit.
# These declare what the listed files call, or macros, and do nothing. Memory is
# taken from chunk_memory.h and cache_line.h as it would be from the heap.
DECLARATIONS = {
    "block/filter_block_parser.h",
    "cache/chunk_memory.h",
    "filter/blocked_bloom/blocked_bloom_kernel.h",
    "filter/units.h",
    "util/cache_line.h",
    "util/check.h",
    "util/engine_call.h",
    "util/source_read.h",
}
ROW = re.compile(r"\| (hit|miss)\b[^|]*\|(.*)\|")
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def read_lists(path):
    """The files of a hit, and of a miss with these."""
    rows = {row[1]: re.findall(r"`([^`]+)`", row[2])
            for row in map(ROW.match, path.read_text().splitlines()) if row}
    if rows.keys() != LIMITS.keys():
        raise SystemExit(f"{path}: no table of a hit and a miss")
    return {"hit": rows["hit"], "miss": rows["hit"] + rows["miss"]}


class Checker:
    def __init__(self, root):
        self.root = root
        self.src = root / "src"
        self.lists = read_lists(root / "docs/architecture.md")
        self.problems = []

    def report(self, name, text):
        self.problems.append(f"{name}: {text}")

    def includes(self, file):
        """The project's headers that a file includes."""
        path = self.src / file
        if not path.is_file():
            path = self.root / "include" / file
        if not path.is_file():
            return []
        names = [match[1] for match in
                 map(INCLUDE.match, path.read_text().splitlines()) if match]
        return [name for name in names if (self.src / name).is_file()
                or (self.root / "include" / name).is_file()]

    def reached(self, files):
        """What #includes lead to from the entry through `files`."""
        reached, grows = {ENTRY}, True
        while grows:
            before = len(reached)
            for file in sorted(reached):
                reached.update(self.includes(file))
            for file in files:
                headers = self.includes(file)
                headers += [h for name in headers for h in self.includes(name)]
                if file.endswith(".cc") and reached & set(headers):
                    reached.add(file)
            grows = len(reached) > before
        return reached

    def check(self, name):
        files = self.lists[name]
        if len(set(files)) > LIMITS[name]:
            self.report(name, f"{len(files)} files, more than {LIMITS[name]}")
        if len(set(files)) < len(files) or ENTRY not in files:
            self.report(name, f"a file is listed twice, or {ENTRY} never")
        reached = self.reached(files)
        for file in files:
            if not (self.src / file).is_file():
                self.report(name, f"{file} is not in src/")
            elif file not in reached:
                self.report(name, f"nothing leads to {file}")
            for header in self.includes(file):
                if header not in files and header not in DECLARATIONS and \
                        not header.startswith("rowbloom/"):
                    self.report(name, f"{file} includes {header}, which is "
                                "not listed")

    def run(self):
        for name in LIMITS:
            self.check(name)
        return self.problems


def main(argv):
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    problems = Checker(Path(argv[1]).resolve()).run()
    print("\n".join(problems) or "hit: nothing wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
