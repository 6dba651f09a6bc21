#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two builds of one of the Google Benchmark programs of bench/.

The builds run in turns, so that noise of the machine meets both. Ratios are
medians over the rounds, with the quartiles behind them.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit codes: 0 fine, 1 a program failed, 2 usage.",
        usage="%(prog)s [options] OLD NEW -- FLAGS OF BOTH PROGRAMS")
    parser.add_argument("old", help="program of the build to compare with")
    parser.add_argument("new", help="program of the other build")
    parser.add_argument("--rounds", type=int, default=11,
                        help="runs of each program (default: 11)")
    parser.add_argument("--reference", metavar="NAME", help=
                        "also shows both as multiples of the benchmark that "
                        "has NAME instead of one part of the name, in the same "
                        "run: rocksdb_bloom_10")
    parser.add_argument("--json", metavar="FILE",
                        help="writes the times of all rounds")
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args = parser.parse_args(sys.argv[1:end])
    args.flags = sys.argv[end + 1:]
    if args.rounds < 1:
        parser.error("--rounds: at least 1")
    for key in ("old", "new"):
        program = Path(getattr(args, key))
        if not program.is_file():
            parser.error(f"{program}: no such program")
        setattr(args, key, str(program.resolve()))
    return args


def run(program, flags):
    """The time of each benchmark of one run, by name."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        done = subprocess.run(
            [program, *flags, f"--benchmark_out={out.name}",
             "--benchmark_enable_random_interleaving=true",
             "--benchmark_report_aggregates_only=false"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            check=False)
        if done.returncode != 0:
            sys.exit(f"{program}: exit code {done.returncode}\n{done.stderr}")
        benchmarks = json.load(out)["benchmarks"]
    times = {}
    for benchmark in benchmarks:
        if benchmark.get("run_type") == "aggregate":
            continue
        # time_per_lookup or the like, in seconds.
        counters = [v for k, v in benchmark.items() if k.startswith("time_per")]
        if counters:
            times.setdefault(benchmark["run_name"], []).append(counters[0])
    if not times:
        sys.exit(f"{program}: no benchmark counts time_per_...")
    return {name: statistics.median(all_) for name, all_ in times.items()}


def reference_of(name, reference, names):
    """The benchmark that has `reference` instead of one part of the name."""
    parts = name.split("/")
    for i in range(len(parts)):
        other = "/".join([*parts[:i], reference, *parts[i + 1:]])
        if other in names:
            return other
    return None


def shown(values):
    if len(values) == 1:
        return f"{values[0]:.2f}"
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:.2f} ({low:.2f}-{high:.2f})"


def main():
    args = arguments()
    rounds = []
    for i in range(args.rounds):
        print(f"\rround {i + 1} of {args.rounds}", end="", file=sys.stderr)
        programs = [("old", args.old), ("new", args.new)]
        # Each round begins with the other build.
        order = programs if i % 2 == 0 else programs[::-1]
        rounds.append({key: run(path, args.flags) for key, path in order})
    print(file=sys.stderr)
    if args.json:
        Path(args.json).write_text(json.dumps(
            {"old": args.old, "new": args.new, "flags": args.flags,
             "rounds": rounds}), encoding="utf-8")

    names = [n for n in rounds[0]["new"] if n in rounds[0]["old"]]
    if not names:
        sys.exit("The builds have no benchmark in common.")
    for name in rounds[0]["new"].keys() ^ rounds[0]["old"].keys():
        print(f"Only one build has {name}.", file=sys.stderr)
    references = {}
    if args.reference:
        references = {n: reference_of(n, args.reference, names) for n in names}
        if not any(references.values()):
            sys.exit(f"--reference: no benchmark of {args.reference} has run")
    head = ["benchmark", "old, ns", "new, ns", "new / old"]
    if args.reference:
        head += [f"{key} / {args.reference}" for key in ("old", "new")]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for name in names:
        row = [name]
        for key in ("old", "new"):
            median = statistics.median(r[key][name] for r in rounds)
            row.append(f"{1e9 * median:.2f}")
        row.append(shown([r["new"][name] / r["old"][name] for r in rounds]))
        if args.reference:
            for key in ("old", "new"):
                base = references[name]
                row.append(shown([r[key][name] / r[key][base] for r in rounds])
                           if base else "-")
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
