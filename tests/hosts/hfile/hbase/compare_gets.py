#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_gets.py PLAN BEFORE AFTER...: compares what HBase measured.

PLAN is the JSON of `rowbloom advise`, the others are what cluster.sh measured:
before, and after with filters of TYPE=RATE, which is their name.
Fails if an answer differs, or if the data blocks that a get of an absent
column or row reads are not within a tenth of those of the plan, or within three
standard deviations of as many.
"""
import json
import math
import os
import sys

TOLERANCE = 0.1
DEVIATIONS = 3
PLANNED = ("absent_column", "absent_row")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    plans = load(sys.argv[1])["column_families"][0]["plans"]
    before = load(sys.argv[2])
    failures = []
    print(f"{'filters':14}{'get':15}{'blocks':>8}{'planned':>8}"
          f"{'requests':>9}{'negatives':>10}{'hits':>8}{'misses':>8}"
          f"{'cached':>10}{'cells':>8}")
    for path in sys.argv[2:]:
        name = os.path.basename(path)
        bloom_type, _, rate = name.partition("=")
        if not rate:
            bloom_type = "now"
        plan = next(p for p in plans if p["bloom_type"] == bloom_type
                    and p["error_rate"] == (float(rate) if rate else None))
        for kind, gets in load(path).items():
            planned = plan[kind]
            read = gets["blocks_per_get"]
            print(f"{name[-12:]:14}{kind:15}{read:8.4f}{planned:8.4f}"
                  f"{gets['bloom_requests']:9}{gets['bloom_negatives']:10}"
                  f"{gets['cache_hits']:8}{gets['cache_misses']:8}"
                  f"{gets['cache_bytes']:10}{gets['cells']:8}")
            if any(gets[field] != before[kind][field]
                   for field in ("gets", "cells", "crc32")):
                failures.append(f"{name}: {kind}: HBase answers otherwise")
            tolerance = max(TOLERANCE * planned,
                            DEVIATIONS * math.sqrt(planned / gets["gets"]))
            if kind in PLANNED and abs(read - planned) > tolerance:
                failures.append(f"{name}: {kind}: {read} blocks a get, planned "
                                f"{planned}")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
