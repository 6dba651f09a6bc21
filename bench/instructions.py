#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of one lookup (or key, ...) in the Google Benchmark
programs of bench/ that call CountInstructions().

    bench/instructions.py build/release/bench/filter/filter_bench \\
        --keys 100k --benchmark_filter=lookup

It runs the program under valgrind's callgrind, which counts the same on each
machine with the same libraries, and has no AVX-512. Needs Debian's valgrind,
also when the program is built. Exit codes: 0 fine, 1 the program failed or
counted nothing, 2 usage.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tables import aligned, instructions


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, usage="%(prog)s [--json FILE] PROGRAM [FLAGS]",
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE", help="writes the counts")
    parser.add_argument("program")
    parser.add_argument("flags", nargs=argparse.REMAINDER,
                        help="those of the program")
    args = parser.parse_args()
    if shutil.which(args.program) is None:
        parser.error(f"no program {args.program}")
    if shutil.which("valgrind") is None:
        parser.error("no valgrind: install Debian's package")
    return args


def counts(directory):
    """The profiles that CountInstructions() had written."""
    found = []
    for path in directory.glob("profile.*"):
        text = path.read_text(encoding="utf-8")
        name = re.search(r"^desc: Trigger: Client Request: (.+) (\d+)$", text,
                         re.MULTILINE)
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.MULTILINE)
        if name and total:
            found.append((int(path.suffix[1:]), {
                "name": name[1],
                "instructions": int(total[1]) / int(name[2])}))
    return [count for _, count in sorted(found, key=lambda item: item[0])]


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        result = subprocess.run(
            ["valgrind", "--tool=callgrind", "--instr-atstart=no",
             f"--callgrind-out-file={directory}/profile", args.program,
             *args.flags, "--benchmark_min_time=1e-9",
             f"--benchmark_out={directory}/times.json"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False)
        counted = counts(directory)
        if result.returncode != 0 or not counted:
            print(result.stdout, file=sys.stderr)
            print("instructions.py: the program failed, was built without "
                  "valgrind's headers, or has no such benchmark",
                  file=sys.stderr)
            return 1
        context = json.loads((directory / "times.json").read_text(
            encoding="utf-8"))["context"]
    context["command"] = " ".join(
        ["bench/instructions.py", Path(args.program).name, *args.flags])
    output = {"context": context, "instructions": counted}
    if args.json:
        Path(args.json).write_text(json.dumps(output, indent=1) + "\n",
                                   encoding="utf-8")
    print(aligned("\n\n".join(instructions(output))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
