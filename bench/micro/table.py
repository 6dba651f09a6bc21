#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a program of this folder left by --benchmark_out as a table.

    table.py FILE lookup/absent/strings/ROW/COLUMN --to rocksdb_bloom_10

ROW and COLUMN stand for the parts of the benchmarks' names that become the rows
and columns. Cells are medians of the repetitions, times in nanoseconds; with
--to, their ratios to the row of that name.
"""

import argparse
import json
import re
import statistics
import sys

# Google Benchmark adds these to names.
SUFFIX = re.compile(r"/(process_time|real_time|iterations:\d+|repeats:\d+)")
PLACEHOLDERS = {"ROW": r"(?P<row>[^/]+)", "COLUMN": r"(?P<column>[^/]+)"}


def cells(results, pattern, counter):
    """{row: {column: value}}, in the order of registration."""
    parts = [PLACEHOLDERS.get(part, re.escape(part))
             for part in pattern.split("/")]
    samples = {}
    for run in sorted((run for run in results["benchmarks"]
                       if run["run_type"] == "iteration"
                       or run["aggregate_name"] == "median"),
                      key=lambda run: run["family_index"]):
        match = re.fullmatch("/".join(parts), SUFFIX.sub("", run["run_name"]))
        value = run.get(counter)
        if match and value is not None:
            groups = {"column": counter, **match.groupdict()}
            is_time = counter.startswith("time_per_")
            samples.setdefault(groups["row"], {}).setdefault(
                groups["column"], []).append(value * 1e9 if is_time else value)
    return {row: {column: statistics.median(values)
                  for column, values in columns.items()}
            for row, columns in samples.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("pattern")
    parser.add_argument("--counter", default="time_per_lookup",
                        help="default: %(default)s")
    parser.add_argument("--to", help="the row that others are divided by")
    args = parser.parse_args()
    with open(args.file, encoding="utf-8") as file:
        table = cells(json.load(file), args.pattern, args.counter)
    if not table or args.to not in (None, *table):
        sys.exit(f"table.py: {args.file} has no such benchmarks")
    columns = list(dict.fromkeys(c for row in table.values() for c in row))
    print("| |", " | ".join(columns), "|")
    print("|---" * (len(columns) + 1) + "|")
    for name, row in table.items():
        divisors = table[args.to] if args.to else {}
        shown = [f"{row[c] / divisors.get(c, 1):.4g}" if c in row else "-"
                 for c in columns]
        print(f"| {name} |", " | ".join(shown), "|")


if __name__ == "__main__":
    main()
