#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the files of a point get in docs/architecture.md to the #includes.

    check_hit.py ROOT

The table "step | files" lists what one opens to follow a lookup from
FilterReader::MayContain(), or from RocksDB, to its answer: the files of a hit,
and those that a miss needs beside them. For each the check reports

- a listed file that is missing, or that nothing leads to: a header that no
  listed file includes, a source of which no header is reached;
- an #include of a listed file that is neither listed nor a header that need
  not be opened: a public one, or one of DECLARATIONS;
- more files than its limit in LOOKUPS.

Exit code 0 when nothing is wrong, 1 with one line for each problem.
"""

import re
import sys
from pathlib import Path

# Where a lookup begins, and the most files. A miss includes the hit.
LOOKUPS = {
    "hit": ("reader/filter_lookup.cc", 10),
    "miss": ("reader/filter_lookup.cc", 16),
    "RocksDB hit": ("policy/row_filter_reader.cc", 7),
    "RocksDB miss": ("policy/row_filter_reader.cc", 16),
}
# These declare what the listed files call, constants or macros, and do
# nothing, or they serve builders. Memory is taken from chunk_memory.h and
# cache_line.h as it would be from the heap; coding.h and digest.h do what their
# names say.
DECLARATIONS = {
    "block/filter_block_parser.h",
    "budget/budget_option.h",
    "cache/chunk_memory.h",
    "cache/load_rules.h",
    "filter/blocked_bloom/blocked_bloom.h",
    "filter/blocked_bloom/blocked_bloom_kernel.h",
    "filter/collecting_builder.h",
    "filter/compact/compact.h",
    "filter/compact/compact_kernel.h",
    "filter/compact/compact_solver.h",
    "filter/digest_order.h",
    "filter/family.h",
    "filter/fast/fast.h",
    "filter/units.h",
    "filter_bits_abi.h",
    "platform/platform.h",
    "policy/filter_info.h",
    "policy/native_policy.h",
    "policy/row_filter_builder.h",
    "policy/row_filter_reader.h",
    "rdb.h",
    "release.h",
    "status.h",
    "text_option.h",
    "util/absl_view.h",
    "util/cache_line.h",
    "util/check.h",
    "util/coding.h",
    "util/digest.h",
    "util/engine_call.h",
    "util/source_read.h",
}
# Where files and #includes are.
ROOTS = ("src", "rocksdb_plugin", "include", "rocksdb_plugin/include")
ROW = re.compile(r"\| ((?:RocksDB )?(?:hit|miss))\b[^|]*\|(.*)\|")
INCLUDE = re.compile(r'\s*#\s*include\s*"([^"]+)"')


def read_lists(path):
    """The files of each lookup; those of a hit are of the miss, too."""
    rows = {row[1]: re.findall(r"`([^`]+)`", row[2])
            for row in map(ROW.match, path.read_text().splitlines()) if row}
    if rows.keys() != LOOKUPS.keys():
        raise SystemExit(f"{path}: no table of hits and misses")
    return {name: rows[name.replace("miss", "hit")] +
            (files if name.endswith("miss") else [])
            for name, files in rows.items()}


class Checker:
    def __init__(self, root):
        self.roots = [root / name for name in ROOTS]
        self.lists = read_lists(root / "docs/architecture.md")
        self.problems = []

    def report(self, name, text):
        self.problems.append(f"{name}: {text}")

    def path(self, file):
        """Where a file of the project is, or None."""
        return next((root / file for root in self.roots
                     if (root / file).is_file()), None)

    def includes(self, file):
        """The project's headers that a file includes."""
        path = self.path(file)
        if path is None:
            return []
        names = [match[1] for match in
                 map(INCLUDE.match, path.read_text().splitlines()) if match]
        return [name for name in names if self.path(name)]

    def reached(self, entry, files):
        """What #includes lead to from the entry through `files`."""
        reached, grows = {entry}, True
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
        entry, limit = LOOKUPS[name]
        if len(set(files)) > limit:
            self.report(name, f"{len(files)} files, more than {limit}")
        if len(set(files)) < len(files) or entry not in files:
            self.report(name, f"a file is listed twice, or {entry} never")
        reached = self.reached(entry, files)
        for file in files:
            if self.path(file) is None:
                self.report(name, f"{file} does not exist")
            elif file not in reached:
                self.report(name, f"nothing leads to {file}")
            for header in self.includes(file):
                if header not in files and header not in DECLARATIONS and \
                        not header.startswith("rowbloom/"):
                    self.report(name, f"{file} includes {header}, which is "
                                "not listed")

    def run(self):
        for name in LOOKUPS:
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
