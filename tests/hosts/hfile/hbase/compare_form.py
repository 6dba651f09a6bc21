#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_form.py REPORT: compares the old and new files of `rebuild --json`.

Fails if a file has another encoding or block size than before, or if it
differs by more than 1% in what is not chunks of filters (1 KiB in small files,
for what describes the filters).
"""
import json
import sys

TOLERANCE = 0.01
MIN_TOLERANCE_BYTES = 1024
FORM = ("encoding", "block_size_bytes", "compression")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        files = json.load(file)["files"]
    if not files:
        return 1
    for file in files:
        sizes = [file[side]["file_size_bytes"] - file[side]["filter_size_bytes"]
                 for side in ("before", "after")]
        form = [[file[side][name] for name in FORM]
                for side in ("before", "after")]
        if (form[0] != form[1]
                or abs(sizes[1] - sizes[0])
                > max(TOLERANCE * sizes[0], MIN_TOLERANCE_BYTES)):
            print(f"{file['path']}: {form[0]}, {sizes[0]} bytes became "
                  f"{form[1]}, {sizes[1]} bytes", file=sys.stderr)
            return 1
    total = {side: sum(file[side]["file_size_bytes"] for file in files)
             for side in ("before", "after")}
    filters = {side: sum(file[side]["filter_size_bytes"] for file in files)
               for side in ("before", "after")}
    print(f"{len(files)} files of {form[0][0]} and {form[0][1]}: "
          f"{total['before']} bytes, filters {filters['before']}; rebuilt "
          f"{total['after']}, filters {filters['after']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
