#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a benchmark program on little data and checks its results, but no times.

    smoke_test.py NAME PROGRAM [FILE...]

A new program is an entry in PROGRAMS. Each must refuse unknown flags and JSON
files that it cannot write, remove its databases, and give no wrong answer.
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

PATHS = {}  # Name -> path, for the names in braces in the runs' flags.
WASTED = "wasted_reads_per_1000_gets"


def one(runs, **fields):
    """The only run that has these fields."""
    found = [run for run in runs if fields.items() <= run.items()]
    assert len(found) == 1, (fields, found)
    return found[0]


def check_everywhere(value, name=""):
    """Checks each field by its name, in the results of any program."""
    if isinstance(value, dict):
        for key, inner in value.items():
            check_everywhere(inner, key)
    elif isinstance(value, list):
        for inner in value:
            check_everywhere(inner, name)
    elif name in ("wrong_answers", "false_negatives", "index_and_filter_reads"):
        assert value == 0, (name, value)
    elif value is not None and name.endswith(("fpr", "_rate")):
        assert 0 <= value <= 1, (name, value)


def check_rows(results):
    runs, tree = results["runs"], results["tree"]
    assert len(runs) == 2 * 7 * 3  # Mixes, policies, queries.
    assert sum(level["keys"] for level in tree["levels"]) == tree["cells"]
    none, bloom, compact = (
        one(runs, policy=policy, query="absent_column", mix="uniform")[WASTED]
        for policy in ["none", "rocksdb_bloom", "rowbloom_rowcol_compact"])
    assert none > 50 * bloom and bloom > 2.5 * compact, (none, bloom, compact)


def check_levels(results):
    runs = results["runs"]
    assert len(runs) == 2 * 5 * 3  # Key sets, policies, levels.
    fewer = "times_fewer_reads_than_none"
    for run in runs:
        if run["policy"] in ("blocked_bloom", "compact"):
            assert run[fewer] is None or run[fewer] > 30, run
        if run["policy"] == "rocksdb_bloom_level_2" and run["level"] == 1:
            assert run[fewer] < 1.1, run


def check_keys(results):
    for tree in results["reads"]["trees"]:
        for run in tree["runs"]:
            bits = 0 if run["policy"] == "none" else 10
            assert abs(run["bits_per_key"] - bits) < 0.3, run
        none, bloom, compact = (
            one(tree["runs"], policy=policy, missing_share=1, mix="uniform",
                cache_share=0)[WASTED]
            for policy in ["none", "rocksdb_bloom", "compact_budget"])
        assert abs(none - 1000 * len(tree["levels"])) < 200, none
        assert none > 50 * bloom and bloom > 10 * compact, (bloom, compact)


def check_kvrocks(results):
    runs = results["runs"]
    assert len(runs) == 6 * 4  # Policies, calls.
    none, bloom, rows, compact, rowcol = (
        {run["call"]: run["field_reads_per_call"] for run in runs
         if run["policy"] == policy} for policy in [
             "none", "rocksdb_bloom", "rocksdb_bloom_rows",
             "rowbloom_compact", "rowbloom_rowcol_compact"])
    assert none["absent_field"] > 30 * bloom["absent_field"], (none, bloom)
    assert rows["absent_field"] > bloom["absent_field"], (rows, bloom)
    assert bloom["absent_field"] > 2 * compact["absent_field"]
    assert bloom["whole_key"] == none["whole_key"], (bloom, none)
    assert none["whole_key"] > 2 * rowcol["whole_key"], (none, rowcol)


def check_scans(results):
    runs = results["runs"]
    assert len(runs) == 3 * 2 * 2 * 7  # Runs, caches, states, policies.
    for case in {(run["run_count"], run["cache"], run["state"])
                 for run in runs}:
        stock, *others = (
            one(runs, policy=policy, run_count=case[0], cache=case[1],
                state=case[2]) for policy in [
                    "rocksdb_bloom", "rocksdb_bloom_rows_pinned",
                    "rowbloom_rowcol_compact_pinned"])
        for run in others:
            assert run["filter_reads"] == 0, run
            assert run["bytes"] <= 1.02 * stock["bytes"], (run, stock)
            if case[0] == 4:
                assert 1.5 * run["data_reads"] < stock["data_reads"], run
        for policy in ["rocksdb_bloom_rows_warmed",
                       "rowbloom_rowcol_compact_warmed"]:
            run = one(runs, policy=policy, run_count=case[0], cache=case[1],
                      state=case[2])
            assert run["reads"] <= 1.02 * stock["reads"], (run, stock)


def check_mini_kv(results):
    none, bloom, compact = (
        one(results["runs"], query="absent_row", policy=policy)[
            "data_reads_per_get"] for policy in [
                "none", "blocked_bloom", "compact"])
    assert none > 50 * bloom and bloom > 3 * compact, (none, bloom, compact)


def check_cache(results):
    for run in results["hit_rates"]:  # The accesses are a sample.
        assert 0.1 < run["hot_hit_rate"] < run["best_fixed_hit_rate"] + 0.01
    for policy, least, most in [("segmented_lru", -1, 0.03),
                                ("plain_lru", 0.05, 1)]:
        hits, swept = (one(results["hit_rates"], policy=policy,
                           cache_percent=5, sweep_chunks=chunks)["hot_hit_rate"]
                       for chunks in [0, 1000])
        assert least < hits - swept < most, (policy, hits, swept)


def check_time(results):
    for run in results["time"]["runs"]:
        assert run["throughput"] > 0 and run["p50_us"] > 0, run
    none, bloom = (one(results["time"]["runs"], filter=name, workload="absent")
                   for name in ["none", "rocksdb_bloom:10"])
    assert none["data_reads"] > 20 * bloom["data_reads"], (none, bloom)


def check_phases(results):
    """Gets of present keys want few bits, and those of absent keys many."""
    def one_of(filter_name, keys, phase):
        return one(results["phases"], filter=filter_name, keys=keys,
                   phase=phase)

    for keys in ["binary", "urls"]:
        bits = [one_of("compact_auto", keys, phase)["bits_per_key"]
                for phase in ["absent", "ycsb_d", "absent_again"]]
        assert bits[0] > 7 > 6 > bits[1] and bits[2] > 6, bits
        reads = [one_of(name, keys, "ycsb_d")["adapted"]["reads"]
                 for name in ["compact_auto", "rocksdb_bloom:10"]]
        assert reads[0] < reads[1], reads
        refreshed = one_of("compact_auto", keys, "refreshed")
        refresh = refreshed["refresh"]
        assert refresh["ssts"] + refresh["kept_ssts"] > 0, refresh
        assert (refreshed["adapted"]["reads"] <
                refreshed["first"]["reads"]), refreshed


def check_places(results):
    """Whole filters are chosen where they fit, and read nothing."""
    for share in [0.01, 0.05]:
        runs = [run for run in results["places"] if run["cache_share"] == share]
        chosen = one(runs, is_chosen=True)
        assert len(runs) == 3 and chosen["fits"], runs
        assert (chosen["place"] == "cached partitions") == (share == 0.01), runs
        metadata_reads = chosen["filter_reads"] + chosen["index_reads"]
        assert (metadata_reads > 0) == (share == 0.01), runs


def check_cpu(results):
    for entries in results["cpu"]["compactions"]:
        assert sum(level["keys"] for level in entries["levels"]) == 40000
        for run in entries["policies"]:
            assert run["cpu_seconds"] > 0, run
    for run in results["cpu"]["puts"]:
        assert run["write_amplification"] > 1, run


def check_filters(results):
    for run in results["benchmarks"]:
        if "expected_fpr" in run:
            assert abs(run["fpr"] / run["expected_fpr"] - 1) < 0.5, run


def check_hfile(results):
    with open(PATHS["questions"], encoding="utf-8") as file:
        rows = [line[-2] for line in file if line.startswith("ROW\t")]
    runs = [run for run in results["benchmarks"] if "questions" in run]
    assert runs and {(run["questions"], run["maybes"]) for run in runs} == {
        (len(rows), rows.count("1"))}, runs


def check_reader(results):
    for bits in [2, 5]:
        late, written, whole, optimum = (
            one(results["precision"]["runs"], policy=policy,
                resident_bits_per_key=bits)[WASTED] for policy in
            ["late_bound", "written_by_budget", "whole_kept", "optimum"])
        assert 0.8 * optimum < late < 1.5 * optimum, (late, optimum)
        assert written < 1.5 * optimum and whole > 1.5 * late, (written, whole)
    for run in results["harm"]["runs"]:
        if run["loading"] == "when_it_pays":
            assert run["ratio"] <= 1.02, run
        elif run["cache_percent"] == 0:
            assert run["ratio"] > 2, run


def check_sst_memory(results):
    peaks = {run["filter"]: run["peak_bytes"] for run in results["ssts"]
             if run["partitioned"] and run["threads"] == 1}
    # Both have some MiB of RocksDB's own; the noise of a small one is large.
    assert peaks["compact"] < 1.5 * peaks["rocksdb_bloom"] + (1 << 20), peaks


def check_cache_memory(results):
    for run in results["caches"]:
        assert run["peak_bytes"] < 1.1 * run["capacity_bytes"] + (8 << 20), run


def check_pages(results):
    run, = results["pages"]
    assert run["hit"]["huge_pages_ns"] > 0, run
    assert run["load_from_array"]["huge_pages_ns"] > 0, run
    assert run["first_load"]["small_pages_ns"] > 0, run


# Name -> runs: flags, a function of the results or None, plots.
PROGRAMS = {
    "auto_bench": [("--keys 1000", None)],
    "cache_bench": [
        ("--zipf 0.99 --cache_percent 5,20 --sweep_chunks 1000 "
         "--sweep_percent 50", check_cache, "cache_hit_rate")],
    "chosen_rows": [("--rows 2000 --lookups 2000", None)],
    "epoch_bench": [("--benchmark_filter=hot", None)],
    "filter_bench": [
        ("--keys 300,20k --fpr_lookups 100000 --block_cache 50x3500",
         check_filters, "filter_rate", "filter_lookup", "filter_build")],
    "hfile_bench": [
        ("{0} {questions}", check_hfile)],
    "leveldb_bench": [("--keys 40 --lookups 20000", None)],
    "memfilter_bench": [("--keys 1000", None)],
    "memory_bench": [
        ("sst --quick", check_sst_memory),
        ("cache --quick", check_cache_memory),
        ("readers --quick", None)],
    "pages_bench": [
        ("--families compact --mebibytes 1 --lookups 1000 --rounds 1",
         check_pages)],
    "reader_bench": [
        ("--quick", check_reader, "reader_precision", "reader_harm"),
        ("ablation --quick", None)],
    "reader_cost_bench": [
        ("--filter_bytes 10000 --file_counts 1,5 --file_bytes 1000", None)],
    "reads_bench": [
        ("rows --quick", check_rows, "rows"),
        ("levels --rows 4000 --gets 200 --quick", check_levels,
         "key_levels"),
        ("keys --quick --policies none,rocksdb_bloom,compact_budget",
         check_keys, "wasted"),
        ("memory --quick", None, "memory"),
        ("grow --quick --policies rocksdb_bloom,compact_budget", None),
        ("phases --quick --cache_shares 0.05 --filters "
         "compact_auto,rocksdb_bloom:10", check_phases, "phases"),
        ("places --quick --filters rocksdb_bloom:10 --workloads half_absent "
         "--cache_shares 0.01,0.05", check_places),
        ("cpu --quick --policies rocksdb_bloom,compact", check_cpu),
        ("time --quick --cache_shares 0.02 --filters "
         "none,rocksdb_bloom:10,compact_budget:6", check_time, "time"),
        ("time --quick --cache_shares 0.02 --workloads absent --key_form urls "
         "--filters none,rocksdb_bloom:10", check_time),
        ("kvrocks --quick --rows 10000", check_kvrocks),
        ("scans --quick --rows 10000", check_scans),
        ("mini_kv --quick", check_mini_kv)],
    "rows_bench": [("--rows 500", None)],
}


def run_command(exit_code, *command):
    """Checks the exit code and returns the output."""
    print("+", *command, flush=True)
    result = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False, env={**os.environ, "TMPDIR": PATHS["databases"]})
    assert result.returncode == exit_code, (result.returncode, result.stdout)
    return result.stdout


def check_run(command, check, *plots):
    assert "--no_such_flag" in run_command(2, *command, "--no_such_flag")
    help_text = run_command(0, *command, "--help")
    if "--json" in help_text:
        path = PATHS["databases"] + "/none/json"
        assert path in run_command(1, *command, "--json", path)
        run_command(0, *command, "--json", PATHS["json"])
    elif "--benchmark_out" in help_text:
        run_command(0, *command, "--benchmark_min_time=0.001",
                    "--benchmark_out=" + PATHS["json"])
    else:  # A subcommand, whose program has the flag.
        run_command(0, *command)
        return
    with open(PATHS["json"], encoding="utf-8") as file:
        results = json.load(file)
    machine = results.get("machine") or results["context"]
    version = results.get("format_version") or machine["format_version"]
    assert int(version) == 1 and machine["cpu"] and machine["commit"], machine
    check_everywhere(results)
    if check:
        check(results)
    for plot in plots:
        run_command(0, sys.executable, os.path.dirname(__file__) + "/plot.py",
                    plot, PATHS["json"], "-o", PATHS["svg"])
        xml.etree.ElementTree.parse(PATHS["svg"])


def check_compare(program):
    compare = [sys.executable, os.path.dirname(__file__) + "/compare.py"]
    assert "no such program" in run_command(2, *compare, "none", *program)
    flags = ("--keys 300 --block_cache 1x300 --benchmark_min_time=0.001 "
             "--benchmark_filter=absent/strings/(rocksdb_bloom|fast)_10")
    lines = run_command(
        0, *compare, "--rounds", "2", "--reference", "rocksdb_bloom_10",
        "--json", PATHS["json"], *program, *program, "--",
        *flags.split()).splitlines()
    fast = next(line for line in lines if "fast_10" in line).split("|")
    assert float(fast[2]) > 0 and "(" in fast[6], fast
    with open(PATHS["json"], encoding="utf-8") as file:
        assert len(json.load(file)["rounds"]) == 2


def main():
    name, program, *files = sys.argv[1:]
    program = [sys.executable] * program.endswith(".py") + [program]
    with tempfile.TemporaryDirectory() as directory:
        for path in ["questions", "databases", "json", "svg"]:
            PATHS[path] = os.path.join(directory, path)
        os.mkdir(PATHS["databases"])
        for path in files:
            if path.endswith(".gz"):
                with open(PATHS["questions"], "wb") as file:
                    file.write(gzip.open(path).read())
        for flags, *checks in PROGRAMS[name]:
            check_run(program + flags.format(*files, **PATHS).split(), *checks)
        if name == "filter_bench":
            check_compare(program)
        assert not os.listdir(PATHS["databases"])


if __name__ == "__main__":
    main()
