#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs RocksDB's own db_bench with its filters and with rowbloom's.

    bench/db_bench/db_bench.py --preload LIBRARY --json results.json

The filter is named in an options file and nothing else differs; LIBRARY
(librowbloom_rocksdb_preload.so) makes rowbloom's known to the program. See
bench/README.md. Exit codes: 0 fine; 1 a wrong answer or a failure; 2 usage.
"""

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

# db_bench's keys hold no row of that size: they are asked whole, as RocksDB's
# own filters are.
ROWBLOOM = "{{id=rowbloom;bloom_type=ROW;key_codec=fixed:4096;filter_spec={}}}"
# Ribbon is asked by the bits of the Bloom filter whose rate it is to have. It
# takes 0.68 of them, so this asks for a Ribbon of so many bits.
RIBBON_BLOOM_BITS = 1.467
POLICIES = {  # By bits per key. "-1": Ribbon for flushes, too.
    "none": lambda bits: "nullptr",
    "rocksdb_bloom": lambda bits: f"bloomfilter:{bits:g}:false",
    "rocksdb_ribbon":
        lambda bits: f"ribbonfilter:{bits * RIBBON_BLOOM_BITS:.4g}:-1",
    "rowbloom_blocked_bloom": lambda bits: ROWBLOOM.format(
        f"blocked_bloom:bits_per_key={bits:g}"),
    "rowbloom_fast": lambda bits: ROWBLOOM.format(
        f"fast:bits_per_key={bits:g}"),
    "rowbloom_compact": lambda bits: ROWBLOOM.format(
        f"compact:bits_per_key={bits:g}"),
}
READS = ["readmissing", "readrandom", "multireadrandom"]
BENCHMARKS = ["fillrandom"] + READS
# Runs that are this much shorter tell what opening and closing cost.
SHORT = 20
OPTIONS = """[Version]
  rocksdb_version={version}
  options_file_version=1.1
[DBOptions]
  create_if_missing=true
  stats_dump_period_sec=0
  stats_persist_period_sec=0
[CFOptions "default"]
  write_buffer_size={write_buffer_bytes}
  disable_auto_compactions=true
  level0_slowdown_writes_trigger=10000
  level0_stop_writes_trigger=10000
  compression=kNoCompression
[TableOptions/BlockBasedTable "default"]
  no_block_cache=true
  filter_policy={filter_policy}
"""


class Failure(Exception):
    """What went wrong, for the user."""


def library_version(db_bench):
    result = subprocess.run([db_bench, "--version"], capture_output=True,
                            text=True, check=False)
    match = re.search(r"(\d+\.\d+\.\d+)", result.stdout + result.stderr)
    return match.group(1) if match else "7.8.3"


class Database:
    """A database with the filters of one policy."""

    def __init__(self, args, name, directory):
        self.args, self.name = args, name
        self.path = os.path.join(directory, name)
        self.options = os.path.join(directory, name + ".options")
        self.environment = dict(os.environ, LD_PRELOAD=args.preload)
        with open(self.options, "w", encoding="utf-8") as file:
            file.write(OPTIONS.format(
                version=args.version,
                write_buffer_bytes=args.write_buffer_bytes,
                filter_policy=POLICIES[name](args.bits_per_key)))

    def run(self, benchmark, count, seed):
        """Returns db_bench's output and the processor time it took."""
        command = [
            self.args.db_bench, f"--benchmarks={benchmark}",
            f"--db={self.path}", f"--options_file={self.options}",
            f"--num={self.args.num}", f"--reads={count}", f"--seed={seed}",
            "--cache_size=0", "--statistics", "--multiread_batched",
            f"--batch_size={self.args.batch_size}"]
        if benchmark == "fillrandom":
            shutil.rmtree(self.path, ignore_errors=True)
            command[-1] = "--batch_size=1"
            command.append("--disable_wal")
        else:
            command.append("--use_existing_db")
        with subprocess.Popen(command, env=self.environment, text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as process:
            output = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Failure(f"{' '.join(command)} exited with "
                          f"{process.returncode}:\n{output}")
        return output, usage.ru_utime + usage.ru_stime

    def fill(self, seed):
        _, seconds = self.run("fillrandom", 0, seed)
        return {"cpu_us": 1e6 * seconds / self.args.num}

    def read(self, benchmark, seed):
        """What a read costs: the difference of a long and a short run."""
        counts = {}
        for count in (self.args.reads, self.args.reads // SHORT):
            output, seconds = self.run(benchmark, count, seed)
            found = re.search(r"\((\d+) of (\d+) found\)", output)
            if found is None:
                raise Failure(f"{benchmark} did not say what it found:\n"
                              + output)
            tickers = {name: int(value) for name, value in re.findall(
                r"^rocksdb\.(\S+) COUNT : (\d+)", output, re.MULTILINE)}
            counts[count] = {
                "cpu_us": 1e6 * seconds, "asked": int(found[2]),
                "found": int(found[1]),
                "data_reads": tickers["last.level.read.count"] +
                              tickers["non.last.level.read.count"],
                "negatives": tickers["bloom.filter.useful"],
                "false_positives": tickers["bloom.filter.full.positive"] -
                                   tickers["bloom.filter.full.true.positive"],
            }
        long, short = counts.values()
        asked = long["asked"] - short["asked"]
        absent = long["negatives"] + long["false_positives"]
        return {
            "cpu_us": (long["cpu_us"] - short["cpu_us"]) / asked,
            "data_reads": (long["data_reads"] - short["data_reads"]) / asked,
            "asked": long["asked"], "found": long["found"],
            "absent_lookups": absent,
            "fpr": long["false_positives"] / absent if absent else None,
        }

    def filter_size(self):
        """Filter bytes and filter keys of all files, as their properties
        say."""
        result = subprocess.run(
            [self.args.sst_dump, f"--file={self.path}", "--command=identify",
             "--show_properties"], env=self.environment, capture_output=True,
            text=True, check=False)
        sizes = re.findall(r"filter block size: (\d+)", result.stdout)
        keys = re.findall(r"# entries: (\d+)", result.stdout)
        if result.returncode != 0 or not sizes:
            raise Failure(f"{self.args.sst_dump} --file={self.path}:\n"
                          + result.stdout + result.stderr)
        if self.name != "none" and "0" in sizes:
            raise Failure(f"no filters of policy {self.name} were written: "
                          f"is --preload {self.args.preload} rowbloom's?")
        return sum(map(int, sizes)), sum(map(int, keys)), len(sizes)


def measure(args, directory):
    databases = [Database(args, name, directory) for name in args.policies]
    rounds = {name: {benchmark: [] for benchmark in BENCHMARKS}
              for name in args.policies}
    sizes = {}
    for number in range(args.rounds):
        seed = args.seed + number
        # Each policy is first in its turn.
        turn = number % len(databases)
        order = databases[turn:] + databases[:turn]
        for benchmark in BENCHMARKS:
            for database in order:
                print(f"round {number + 1} of {args.rounds}: {benchmark}, "
                      f"{database.name}", file=sys.stderr)
                rounds[database.name][benchmark].append(
                    database.fill(args.seed) if benchmark == "fillrandom"
                    else database.read(benchmark, seed))
        for database in databases:
            sizes[database.name] = database.filter_size()
    return rounds, sizes


def check_answers(rounds):
    """All policies must have found as much, and nothing that is missing."""
    for benchmark in READS:
        by_policy = {name: [run["found"] for run in runs[benchmark]]
                     for name, runs in rounds.items()}
        if len(set(map(tuple, by_policy.values()))) > 1:
            raise Failure(f"{benchmark} found different keys: {by_policy}")
        if benchmark == "readmissing" and any(
                sum(found) for found in by_policy.values()):
            raise Failure(f"readmissing found keys: {by_policy}")


def summary(args, rounds, sizes):
    """One entry for each policy and benchmark: medians, and ratios to
    RocksDB's Bloom, round by round."""
    runs = []
    for name, benchmarks in rounds.items():
        size, keys, files = sizes[name]
        for benchmark, values in benchmarks.items():
            run = {"policy": name, "benchmark": benchmark,
                   "filter_bytes": size, "files": files,
                   "bits_per_key": 8 * size / keys}
            for field in ("cpu_us", "data_reads"):
                if field in values[0]:
                    run[field] = statistics.median(
                        value[field] for value in values)
            base = rounds.get("rocksdb_bloom")
            run["cpu_to_bloom"] = base and statistics.median(
                value["cpu_us"] / other["cpu_us"]
                for value, other in zip(values, base[benchmark]))
            if benchmark in READS:
                run["found"] = sum(value["found"] for value in values)
                absent = sum(value["absent_lookups"] for value in values)
                run["absent_lookups"] = absent
                run["fpr"] = sum(
                    value["fpr"] * value["absent_lookups"]
                    for value in values) / absent if absent else None
                run["data_reads_to_bloom"] = base and statistics.median(
                    value["data_reads"] / other["data_reads"]
                    for value, other in zip(values, base[benchmark]))
            runs.append(run)
    return {
        "format_version": 1,
        "machine": {"cpu": cpu_model(), "cores": os.cpu_count(),
                    "os": " ".join(platform.uname()[i] for i in (0, 2, 4)),
                    "rocksdb_version": args.version,
                    "commit": commit(),
                    "command": " ".join(["db_bench.py", *sys.argv[1:]])},
        "options": {field: getattr(args, field) for field in (
            "num", "reads", "rounds", "bits_per_key", "write_buffer_bytes",
            "batch_size", "seed", "policies")},
        "runs": runs,
    }


def commit():
    git = subprocess.run(["git", "describe", "--always", "--dirty"],
                         cwd=os.path.dirname(__file__), text=True,
                         capture_output=True, check=False)
    return git.stdout.strip() or "unknown"


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        match = re.search(r"model name\s*: (.*)", file.read())
    return match.group(1) if match else "unknown"


def number(value, digits=2):
    return "" if value is None else f"{value:.{digits}f}"


def print_table(results):
    runs = {(run["policy"], run["benchmark"]): run for run in results["runs"]}
    print("| filters | bits/key | FPR, % | fillrandom, CPU | "
          + " | ".join(f"{name}, CPU; reads; in Bloom's" for name in READS)
          + " |\n|" + "---|" * (4 + len(READS)))
    for name in results["options"]["policies"]:
        missing, fill = runs[name, "readmissing"], runs[name, "fillrandom"]
        rate = missing["fpr"]
        cells = [
            name, number(missing["bits_per_key"]),
            "" if rate is None else f"{100 * rate:.3f}",
            f"{fill['cpu_us']:.2f} us; {number(fill['cpu_to_bloom'])}"]
        for benchmark in READS:
            run = runs[name, benchmark]
            cells.append(f"{run['cpu_us']:.2f} us; {run['data_reads']:.4f}; "
                         f"{number(run['cpu_to_bloom'])}, "
                         f"{number(run['data_reads_to_bloom'])}")
        print("| " + " | ".join(cells) + " |")


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="RocksDB's db_bench with its own filters and with "
        "rowbloom's: false positives, data reads, processor time.")
    parser.add_argument("--preload", required=True,
                        help="librowbloom_rocksdb_preload.so")
    parser.add_argument("--db_bench", default="db_bench")
    parser.add_argument("--sst_dump", default="sst_dump")
    parser.add_argument("--policies", default=",".join(POLICIES),
                        help="of %(default)s")
    parser.add_argument("--num", type=int, default=1000000,
                        help="keys written (default: %(default)s)")
    parser.add_argument("--reads", type=int, default=200000,
                        help="of a benchmark (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5,
                        help="default: %(default)s")
    parser.add_argument("--bits_per_key", type=float, default=10,
                        help="default: %(default)s")
    parser.add_argument("--write_buffer_bytes", type=int, default=16 << 20,
                        help="decides how many files there are "
                        "(default: %(default)s)")
    parser.add_argument("--batch_size", type=int, default=32,
                        help="of multireadrandom (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--directory",
                        help="for the databases (default: a temporary one)")
    parser.add_argument("--json", help="also write the results to this file")
    args = parser.parse_args()
    args.policies = args.policies.split(",")
    unknown = sorted(set(args.policies) - set(POLICIES))
    if unknown:
        parser.error(f"--policies: {', '.join(unknown)} is none of "
                     + ", ".join(POLICIES))
    for field, least in [("num", 100), ("reads", SHORT * args.batch_size),
                         ("rounds", 1)]:
        if getattr(args, field) < least:
            parser.error(f"--{field} must be at least {least}")
    for field in ("db_bench", "sst_dump"):
        if shutil.which(getattr(args, field)) is None:
            parser.error(f"--{field}: there is no {getattr(args, field)}; "
                         "Debian's package rocksdb-tools has it")
    if not os.path.exists(args.preload):
        parser.error(f"--preload: there is no {args.preload}")
    args.preload = os.path.abspath(args.preload)
    args.version = library_version(args.db_bench)
    return args


def main():
    args = parse_arguments()
    try:
        with tempfile.TemporaryDirectory(dir=args.directory) as directory:
            rounds, sizes = measure(args, directory)
        check_answers(rounds)
        results = summary(args, rounds, sizes)
        print_table(results)
        if args.json:
            with open(args.json, "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)
                file.write("\n")
    except (Failure, OSError) as error:
        sys.exit(f"db_bench.py: {error}")


if __name__ == "__main__":
    main()
