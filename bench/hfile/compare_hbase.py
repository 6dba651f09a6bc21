#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks an HFile's ROW filter with HBase's own reader and with rowbloom's.

    bench/hfile/compare_hbase.py --bench build/release/bench/hfile/hfile_bench

HBase (tests/hosts/hfile/hbase, which needs JDK 17 and Maven) writes a file and
a table of questions, half of them for rows that are there. Both readers are
asked in turns, in processes of their own; ratios are medians of those of a
round. See
bench/README.md. Exit codes: 0 fine; 1 different answers or a failure; 2 usage.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

PEER = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                    "../../tests/hosts/hfile/hbase/hbase_peer.sh")
MEASURES = [  # Field, name, unit, digits.
    ("cpu_ns_per_lookup", "lookup", "ns", 1),
    ("cpu_ns_per_probe", "probe", "ns", 1),
    ("cpu_us_per_open", "open", "us", 0),
]


# Short repetitions, of which most are not interrupted.
BENCH_FLAGS = ["--benchmark_repetitions=101", "--benchmark_min_time=0.01",
               "--benchmark_report_aggregates_only=true"]


class Failure(Exception):
    pass


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True,
                            check=False)
    if result.returncode != 0:
        raise Failure(f"{' '.join(command)}:\n{result.stderr.strip()}")
    return result.stdout


def read_ours(path):
    """The medians of hfile_bench, in the fields of HBase's results."""
    with open(path, encoding="utf-8") as file:
        results = json.load(file)
    medians = {run["run_name"]: run for run in results["benchmarks"]
               if run["aggregate_name"] == "median"}
    lookup = medians["lookup"]
    return {
        "machine": {
            **{key: results["context"][key] for key in (
                "cpu", "cores", "memory_bytes", "os", "compiler", "build_type",
                "rowbloom_version", "commit")},
            "command": "compare_hbase.py"},
        "questions": round(lookup["questions"]),
        "maybes": round(lookup["maybes"]),
        "cpu_ns_per_lookup": 1e9 * lookup["time_per_lookup"],
        "cpu_ns_per_probe": 1e9 * medians["probe"]["time_per_lookup"],
        "cpu_us_per_open": 1e6 * medians["open"]["time_per_open"],
    }


def measure(args, directory):
    """For each round HBase's results and rowbloom's."""
    file = os.path.join(directory, "bench.hfile")
    questions = os.path.join(directory, "questions.tsv")
    ours = os.path.join(directory, "rowbloom.json")
    spec = f"name=bench rows={args.rows} {args.spec}".strip()
    run(args.peer, "write", spec, file)
    with open(questions, "w", encoding="utf-8") as out:
        out.write(run(args.peer, "ask", spec, str(args.questions)))
    rounds = []
    for number in range(args.rounds):
        print(f"round {number + 1} of {args.rounds}", file=sys.stderr)
        hbase = json.loads(run(args.peer, "bench", file, questions))
        run(args.bench, file, questions, *BENCH_FLAGS,
            f"--benchmark_out={ours}")
        rowbloom = read_ours(ours)
        for field in ("questions", "maybes"):
            if hbase[field] != rowbloom[field]:
                raise Failure(f"HBase has {hbase[field]} {field}, rowbloom "
                              f"{rowbloom[field]}")
        rounds.append((hbase, rowbloom))
    return spec, os.path.getsize(file), rounds


def summary(args, spec, file_bytes, rounds):
    hbase, rowbloom = rounds[0]
    return {
        "format_version": 1,
        "machine": rowbloom["machine"],
        "peer": hbase["peer"],
        "java": hbase["java"],
        "file": {"spec": spec, "bytes": file_bytes},
        "questions": hbase["questions"],
        "maybes": hbase["maybes"],
        "rounds": args.rounds,
        "measures": [{
            "measure": name,
            "unit": unit,
            "hbase": statistics.median(pair[0][field] for pair in rounds),
            "rowbloom": statistics.median(pair[1][field] for pair in rounds),
            "times_as_fast": statistics.median(
                pair[0][field] / pair[1][field] for pair in rounds),
        } for field, name, unit, _ in MEASURES],
    }


def print_table(results):
    print(f"| | {results['peer']} | rowbloom | times as fast |")
    print("|---|---|---|---|")
    for measure_, (_, _, _, digits) in zip(results["measures"], MEASURES):
        cells = []
        for who in ("hbase", "rowbloom"):
            value = measure_[who]
            cells.append(f"{value:.{digits}f} {measure_['unit']}")
            if measure_["measure"] == "lookup":
                cells[-1] += f", {1e3 / value:.2f} million a second"
        print(f"| {measure_['measure']} | {cells[0]} | {cells[1]} | "
              f"{measure_['times_as_fast']:.1f} |")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="An HFile's ROW filter, asked with HBase's own reader and "
        "with rowbloom's.")
    parser.add_argument("--bench", required=True,
                        help="the program hfile_bench")
    parser.add_argument("--peer", default=PEER,
                        help="hbase_peer.sh (default: that of tests/)")
    parser.add_argument("--rows", type=int, default=1000000,
                        help="of the file (default: %(default)s)")
    parser.add_argument("--spec", default="",
                        help="more of what the file is like, as in "
                        "tests/hosts/hfile/hbase/golden.specs; not ROWCOL")
    parser.add_argument("--questions", type=int, default=200000,
                        help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5,
                        help="default: %(default)s")
    parser.add_argument("--directory",
                        help="for the file (default: a temporary one)")
    parser.add_argument("--json", help="also write the results to this file")
    args = parser.parse_args()
    for field in ("rows", "questions", "rounds"):
        if getattr(args, field) < 1:
            parser.error(f"--{field} must be at least 1")
    for field in ("bench", "peer"):
        path = getattr(args, field)
        if not os.path.exists(path):
            parser.error(f"--{field}: there is no {path}")
    return args


def main():
    args = parse_arguments()
    try:
        with tempfile.TemporaryDirectory(dir=args.directory) as directory:
            results = summary(args, *measure(args, directory))
        print_table(results)
        if args.json:
            with open(args.json, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)
                file.write("\n")
    except (Failure, OSError) as error:
        sys.exit(f"compare_hbase.py: {error}")


if __name__ == "__main__":
    main()
