#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_gets.py PLAN BEFORE AFTER...: compares what HBase measured.

PLAN is the JSON of `rowbloom advise`, the others are what cluster.sh measured:
before, and after with ROWCOL filters of the error rate that ends their name.
Fails if an answer differs, or if the data blocks that a get of an absent
column or row reads are not within a tenth of those of the plan.
"""
import json
import os
import sys

TOLERANCE = 0.1
PLANNED = ("absent_column", "absent_row")


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    plans = load(sys.argv[1])["column_families"][0]["plans"]
    before = load(sys.argv[2])
    failures = []
    print(f"{'filters':14}{'get':16}{'blocks a get':>13}{'planned':>9}"
          f"{'requests':>10}{'negatives':>10}{'cells':>9}")
    for path in sys.argv[2:]:
        name = os.path.basename(path)
        rate = float(name.split("_")[1]) if "_" in name else None
        plan = next(p for p in plans
                    if (p["bloom_type"] == "ROWCOL" and p["error_rate"] == rate)
                    or (rate is None and p["bloom_type"] == "now"))
        for kind, gets in load(path).items():
            planned = plan[kind]
            read = gets["blocks_per_get"]
            print(f"{name:14}{kind:16}{read:13.4f}{planned:9.4f}"
                  f"{gets['bloom_requests']:10}{gets['bloom_negatives']:10}"
                  f"{gets['cells']:9}")
            if any(gets[field] != before[kind][field]
                   for field in ("gets", "cells", "crc32")):
                failures.append(f"{name}: {kind}: HBase answers otherwise")
            if kind in PLANNED and abs(read - planned) > TOLERANCE * planned:
                failures.append(f"{name}: {kind}: {read} blocks a get, planned "
                                f"{planned}")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
