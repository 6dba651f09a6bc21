# SPDX-License-Identifier: Apache-2.0
"""The decoder answers as the library does, over golden and random cases.

    check_format.py WRITE_CASES [SEED]

ROWBLOOM_OPERATIONS is the number of questions.
"""

import collections
import os
import subprocess
import sys
import tempfile

import cases

DEFAULT_COUNT = 300_000
# Each kind of filter and of question has answers of both kinds in so many.
MUST_HAVE_BOTH = (
    [f"{bloom_type} {family}"
     for bloom_type in ("ROW", "ROWCOL", "ROWPREFIX_FIXED_LENGTH")
     for family in ("blocked_bloom", "fast", "compact")] +
    ["blocked_bloom", "fast", "compact", "standard", "counting", "scalable",
     "dynamic", "split", "balanced", "matrix", "redisson"] +
    ["all row", "all cell", "all prefix", "all digest"])


def main():
    write_cases, seed = sys.argv[1], (sys.argv[2:] or ["1"])[0]
    count = os.environ.get("ROWBLOOM_OPERATIONS", str(DEFAULT_COUNT))
    print(f"to repeat: check_format.py {write_cases} {seed}")
    counts = collections.Counter()
    differences = []
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([write_cases, directory, seed, count], check=True)
        read = cases.read(directory)
        for case in read:
            differences += case.differences(counts)
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind:40}", ", ".join(f"{number} {answer}" for (
            name, answer), number in sorted(counts.items()) if name == kind))
    questions = sum(number for (kind, _), number in counts.items()
                    if kind.startswith("all ") and kind != "all variants")
    wrong = [difference for difference in differences
             if difference.endswith("a wrong no")]
    print(f"{len(read)} cases, {questions} questions, "
          f"{len(differences)} differences, {len(wrong)} times a wrong no")
    print("\n".join((wrong + differences)[:20]))
    missing = [kind for kind in MUST_HAVE_BOTH for answer in ("no", "maybe")
               if counts[kind, answer] == 0 and int(count) >= DEFAULT_COUNT]
    print(*(f"no questions about {kind}" for kind in missing), sep="\n")
    sys.exit(bool(differences or missing))


if __name__ == "__main__":
    main()
