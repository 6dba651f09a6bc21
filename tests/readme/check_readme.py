#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares README.md and the guides with what they quote.

    check_readme.py ROOT [PROGRAM...]

Each part of an example between two lines of dashes, or all of one without such
lines from its first #include on, must stand in the pages of QUOTED_IN as a code
block of its own, unindented; so must what each PROGRAM, an example for RocksDB,
prints, in docs/rocksdb.md. The pages of PACKAGES_IN must name the packages of
those lists in scripts/packages/. README.md's table of what filters save must be
that of the published results, and the costs in tools/verbs/filter_ranking.cc
those of docs/filter_families.md.
Exit code 0 when all is so, 1 with what is not.
"""

import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import performance  # noqa: E402

# The quoted parts, numbered from 0.
QUOTED_IN = {
    "quick_start.cc": {"README.md": [0]},
    "embed_in_flush.cc": {"docs/embedding.md": [0]},
    "rocksdb_auto.cc": {"README.md": [0], "docs/rocksdb.md": [0, 1]},
    "rocksdb_rows.cc": {"docs/rocksdb.md": [0, 1, 2]},
}
PACKAGES_IN = {"README.md": ["core"], "docs/embedding.md": ["core", "engines"]}
DASHES = "  // " + "-" * 74


def parts(path):
    """The text between the first line of dashes and the second, and so on."""
    text = path.read_text()
    lines = text.splitlines()
    dashes = [i for i, line in enumerate(lines) if line == DASHES]
    if not dashes:
        return [text[text.index("\n#include"):].strip("\n")]
    assert len(dashes) % 2 == 0, path
    return [textwrap.dedent("\n".join(lines[first + 1:last]))
            for first, last in zip(dashes[::2], dashes[1::2])]


def output(program):
    with tempfile.TemporaryDirectory() as directory:
        result = subprocess.run([program, directory + "/db"], check=True,
                                stdout=subprocess.PIPE, text=True)
    return result.stdout


def packages(path):
    lines = path.read_text().splitlines()
    return {line.strip() for line in lines} - {""} - {
        line.strip() for line in lines if line.startswith("#")}


def multiples(name, filter_name):
    """Times of a filter, as multiples of those of RocksDB's Bloom."""
    bench = performance.load(name)
    for pattern, counter in (("lookup/absent/strings", "time_per_lookup"),
                             ("lookup/present/strings", "time_per_lookup"),
                             ("build/strings", "time_per_key")):
        times = performance.medians(bench, pattern + "/(.+)/100000", counter)
        yield f"{times[filter_name,] / times['rocksdb_bloom_10',]:.2f}"


def savings():
    """The table of what filters save, from the results that are published."""
    reads = performance.phase_reads(performance.load("reads_phases"))
    rows = ["| filter | all absent | half absent | all present, Zipf "
            "| mixgraph | mean of all 11 | ask absent | ask present | build |",
            "|---|---|---|---|---|---|---|---|---|"]
    for name, filter_name, timed in (
            ("Bloom, 10 bits", "rocksdb_bloom:10", "rocksdb_bloom_10"),
            ("Bloom, 6 bits", "rocksdb_bloom:6", "rocksdb_bloom_6"),
            ("Ribbon, 10 bits", "rocksdb_ribbon:10", "rocksdb_ribbon_10"),
            ("Ribbon, 6 bits", "rocksdb_ribbon:6", "rocksdb_ribbon_6"),
            ("`rowbloom.Composed:auto`", "composed_auto", "rocksdb_ribbon_10"),
            ("`rowbloom:auto`", "compact_auto", "compact_10")):
        phases = reads[filter_name]
        cells = [phases[phase] for phase in
                 ("absent", "half_absent", "ycsb_c", "mixgraph")]
        cells.append(performance.mean(phases.values()))
        rows.append(f"| {name} | " + " | ".join(
            [*(f"{cell:.3f}" for cell in cells),
             *multiples("filter_bench_debian", timed)]) + " |")
    return "\n".join(rows) + "\n"


def family_costs(page):
    """Times of a lookup and of building, as multiples of blocked_bloom's."""
    times = {row[0]: list(map(float, row[1:])) for row in re.findall(
        r"^\| `(\w+)` \|.* ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", page, re.M)}
    build, absent, present = times["blocked_bloom"]
    return {name: (round((t[1] / absent + t[2] / present) / 2, 1),
                   round(t[0] / build, 1)) for name, t in times.items()}


def main():
    root = Path(sys.argv[1])
    readme = (root / "README.md").read_text()
    problems = []
    for name, pages in QUOTED_IN.items():
        texts = parts(root / "examples" / name)
        for page, numbers in pages.items():
            for number in numbers:
                if f"```cpp\n{texts[number]}\n```" not in (
                        root / page).read_text():
                    problems.append(f"{page} does not quote part {number} of "
                                    f"examples/{name}")
    for program in sys.argv[2:]:
        printed = output(program)
        if f"```text\n{printed}```" not in (
                root / "docs/rocksdb.md").read_text():
            problems.append("docs/rocksdb.md does not quote what "
                            f"{program} prints:\n{printed}")
    for page, lists in PACKAGES_IN.items():
        words = set((root / page).read_text().replace("`", " ").split())
        for name in lists:
            for package in sorted(
                    packages(root / f"scripts/packages/{name}.txt") - words):
                problems.append(f"{page} does not name the package {package}")
    table = savings()
    if table not in readme:
        problems.append("README.md does not have this table:\n" + table)
    beside_avx2 = (
        "`rowbloom:auto` takes {} (absent), {} (present) and {} (build) times "
        "as long".format(*multiples("filter_bench", "compact_10")))
    if beside_avx2 not in " ".join(readme.split()):
        problems.append(f"README.md does not say: {beside_avx2}")
    costs = family_costs((root / "docs/filter_families.md").read_text())
    used = {name: (float(lookup), float(build)) for name, lookup, build in
            re.findall(r'\{"(\w+)", ([\d.]+), ([\d.]+)\}', (
                root / "tools/verbs/filter_ranking.cc").read_text())}
    if used != costs:
        problems.append(f"filter_ranking.cc has {used}, not {costs}, which are "
                        "those of docs/filter_families.md")
    print("\n".join(problems) or "All quotes are of what there is.")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
