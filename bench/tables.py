#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes bench/results/NAME.md, docs/performance.md and the costs of
docs/bindings.md from the results.

    bench/tables.py                  writes these pages
    bench/tables.py --check          exits with 1 if that would change any
    bench/tables.py --add NAME FILE  first copies FILE to bench/results/
    bench/tables.py --show NAME FILE prints the page that FILE would have

FILE is the --json or --benchmark_out of one program, NAME a key of SECTIONS.
docs/performance.md is the work of performance.py.
"""

import json
import operator
import re
import statistics
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench/results"
LICENSE = "<!-- SPDX-License-Identifier: Apache-2.0 -->"


def number(value):
    """Three significant digits, without an exponent."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    if abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{float(f'{value:.3g}'):g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join(lines)


def aligned(text):
    """The same Markdown with columns for a terminal."""
    lines = []
    for block in text.split("\n\n"):
        if not block.startswith("|"):
            lines.append(textwrap.fill(block, 80))
            continue
        head, _, *rows = [[cell.strip(" `") for cell in line[1:-1].split("|")]
                          for line in block.splitlines()]
        widths = [max(map(len, column)) for column in zip(head, *rows)]
        lines.append("\n".join(
            "  ".join([row[0].ljust(widths[0])] + [
                cell.rjust(width) for cell, width in zip(row[1:], widths[1:])])
            for row in [head, *rows]))
    return "\n\n".join(lines)


def distinct(values):
    return list(dict.fromkeys(values))


def reads_of(run):
    """Blocks that an operation reads."""
    return run["data_reads"] + run["filter_reads"] + run["index_reads"]


def pivot(runs, corner, row, column, value, show=number):
    """A row for each row(run), a column for each column(run)."""
    cells = {(row(run), column(run)): show(value(run)) for run in runs}
    columns = distinct(column(run) for run in runs)
    return table([corner, *columns],
                 [[name, *(cells.get((name, c), "-") for c in columns)]
                  for name in distinct(row(run) for run in runs)])


def policy(run):
    return f"`{run['policy']}`"


def get_kind(run):
    share = {1: "absent", 0.5: "half absent", 0: "present"}.get(
        run["missing_share"], f"{run['missing_share']:.0%} absent")
    mix = "" if run["mix"] == "uniform" else ", Zipf"
    cached = f", {run['cache_share']:.0%} cached" if run["cache_share"] else ""
    return share + mix + cached


def wasted(run):
    return run["wasted_reads_per_1000_gets"]


def reads_keys(result):
    yield ("Wasted reads of 1,000 gets in a RocksDB tree, with 10 bits per key "
           "for all filters together.")
    for tree in result["reads"]["trees"]:
        runs = tree["runs"]
        for cached in (False, True):
            chosen = [run for run in runs if bool(run["cache_share"]) == cached]
            if chosen:
                yield (f"The {tree['tree']} tree, "
                       + ("with a cache of data blocks:" if cached
                          else "no data cached:"))
                yield pivot(chosen, "policy", policy, get_kind, wasted)


def reads_memory(result):
    memory = result["memory"]
    yield ("The bits per key with which a policy wastes as few reads as "
           "`rocksdb_bloom` with 10.")
    shares = {1: "absent", 0.5: "half absent", 0: "present"}
    rows = memory["equal_reads"]
    yield table(["policy", *(shares[s] for s in rows[0]["missing_shares"])],
                [[policy(row), *map(number, row["bits_per_key"])]
                 for row in rows])


def reads_grow(result):
    yield ("Trees that grow by 300 flushes, with a budget of 10 bits per key; "
           "`most` is the largest average at any time after the first tenth.")
    yield table(
        ["inserts", "level bytes", "policy", "bits per key", "most",
         "absent: wasted", "present: wasted"],
        [[run["inserts"],
          "dynamic" if run["dynamic_level_bytes"] else "static", policy(run),
          f"{run['last_bits_per_key']:.2f}", f"{run['most_bits_per_key']:.2f}",
          number(run["wasted_reads_per_1000_absent"]),
          number(run["wasted_reads_per_1000_present"])]
         for run in result["grow"]])


def with_quartiles(run, name, digits=2):
    if name not in run:
        return "-"
    return "{:.{d}f} ({:.{d}f}, {:.{d}f})".format(
        run[name], *run[name + "_quartiles"], d=digits)


def reads_cpu(result):
    for entries in result["cpu"]["compactions"]:
        yield ("Processor time of the compactions that make a tree with "
               f"entries of {entries['entry_bytes']} bytes, in seconds, and as "
               "a multiple of that with `rocksdb_bloom` in the same round: "
               "medians and quartiles.")
        yield table(["policy", "seconds", "multiple"],
                    [[policy(run), with_quartiles(run, "cpu_seconds", 3),
                      with_quartiles(run, "cpu_seconds_ratio", 3)]
                     for run in entries["policies"]])
    yield ("A tree that grows under puts of 116 bytes by one thread, as fast "
           "as it takes them. The bytes that compactions write vary with the "
           "moments at which RocksDB starts them. The machine ran other "
           "programs at the same time, so the quartiles are wide.")
    yield table(["policy", "puts, multiple", "seconds stalled",
                 "write amplification", "processor seconds per GB compacted",
                 "multiple"],
                [[policy(run), with_quartiles(run, "puts_per_second_ratio"),
                  with_quartiles(run, "stall_seconds"),
                  with_quartiles(run, "write_amplification"),
                  with_quartiles(run, "cpu_seconds_per_gb"),
                  with_quartiles(run, "cpu_seconds_per_gb_ratio")]
                 for run in result["cpu"]["puts"]])


def reads_time(result):
    result = result["time"]
    before, after = result["device_before"], result["device_after"]
    yield ("Throughput of RocksDB in which data, index and filter blocks share "
           "one block cache, as a multiple of that with `rocksdb_bloom:10` in "
           "the same round: median and quartiles. A direct read of the device "
           f"takes {number(before['p50_us'])} us before and "
           f"{number(after['p50_us'])} us after the run (medians; 99th "
           f"percentiles {number(before['p99_us'])} and "
           f"{number(after['p99_us'])}).")
    if result.get("key_form") == "urls":
        yield ("Keys are URLs of 50 to 90 bytes, and SSTs are compressed by "
               "LZ4; the cache is a share of the blocks without compression.")
    places = distinct((run["cache"], run["cache_share"], run["threads"])
                      for run in result["runs"])
    for place in places:
        runs = [run for run in result["runs"]
                if (run["cache"], run["cache_share"], run["threads"]) == place]
        yield (f"Cache `{place[0]}` of {place[1]:.0%} of the data, "
               f"{place[2]} threads:")
        yield pivot(runs, "filter", lambda run: f"`{run['filter']}`",
                    lambda run: run["workload"], lambda run: run,
                    lambda run: "{:.2f} ({:.2f}, {:.2f})".format(
                        run["throughput_ratio"],
                        *run["throughput_ratio_quartiles"]))
        yield "99th percentile, microseconds:"
        yield pivot(runs, "filter", lambda run: f"`{run['filter']}`",
                    lambda run: run["workload"], lambda run: run["p99_us"])
        yield ("Blocks read by an operation: data, filter and index; processor "
               "time in microseconds:")
        yield pivot(runs, "filter", lambda run: f"`{run['filter']}`",
                    lambda run: run["workload"], lambda run: run,
                    lambda run: "{:.3f}, {:.3f}, {:.3f}; {:.1f}".format(
                        run["data_reads"], run["filter_reads"],
                        run["index_reads"], run["cpu_us"]))


    choices = []
    for choice in result["model_choices"] or []:
        place = [choice[key]
                 for key in ("workload", "cache", "cache_share", "threads")]
        sweep = {float(run["filter"].split(":")[1]): run["throughput_ratio"]
                 for run in result["runs"]
                 if run["filter"].startswith("compact_budget:")
                 and [run[key] for key in ("workload", "cache", "cache_share",
                                           "threads")] == place}
        bits = choice["bits_per_key"]
        nearest = min(sweep, key=lambda swept: abs(swept - bits))
        best = max(sweep, key=sweep.get)
        choices.append([*place[:2], f"{place[2]:.0%}", place[3], f"{bits:.2f}",
                        f"{nearest:g}: {sweep[nearest]:.2f}",
                        f"{best:g}: {sweep[best]:.2f}"])
    yield ("The bits per key that `get_cost.h` chooses, and the throughput of "
           "`compact_budget` at the nearest bits measured and at the best:")
    yield table(["workload", "cache", "of the data", "threads", "model's bits",
                 "nearest", "best"], choices)


def reads_rows(result):
    def by_query(runs, value, show=number):
        return pivot(runs, "filter", policy,
                     lambda run: run["query"].replace("_", " "), value, show)
    uniform = [run for run in result["runs"] if run["mix"] == "uniform"]
    yield (f"{result['tree']['rows']:,} rows with {result['tree']['cells']:,} "
           "cells, filters of equal bytes.")
    yield "Wasted reads of 1,000 gets:"
    yield by_query(uniform, wasted)
    yield "All data-block reads of a get:"
    yield by_query(uniform, lambda run: run["data_reads_per_get"])
    yield "Gets by Zipf's law:"
    yield by_query([run for run in result["runs"] if run["mix"] == "zipf"],
                   lambda run: run["data_reads_per_get"])
    yield "Megabytes of the filters:"
    yield by_query([{**run, "query": "MB"} for run in uniform],
                   lambda run: run["filter_bytes"] / 1e6)


def fewer_than_none(run):
    fewer = run["times_fewer_reads_than_none"]
    return "" if not fewer or fewer < 1.005 else f" ({number(fewer)}x fewer)"


def reads_levels(result):
    yield ("Data-block reads of a question for a prefix that is absent, by the "
           "level of its last segment; 10 bits for each filter key. The Bloom "
           "filters of one level hold that level and whole keys.")
    for data in result["data"]:
        runs = [run for run in result["runs"] if run["keys"] == data["keys"]]
        names = distinct(run["level_name"] for run in runs)
        yield f"{data['count']:,} keys of `{data['key_codec']}`:"
        rows = []
        for name in distinct(run["policy"] for run in runs):
            of_policy = {run["level_name"]: run for run in runs
                         if run["policy"] == name}
            rows.append([f"`{name}`",
                         number(of_policy[names[0]]["filter_bytes"] / 1e6),
                         *(number(of_policy[n]["data_reads_per_get"])
                           + fewer_than_none(of_policy[n])
                           for n in names)])
        yield table(["policy", "filter MB", *names], rows)
        memory = [run for run in runs if run["policy"] == "compact"]
        yield ("Of `compact`, " + ", ".join(
            f"{number(run['filter_bytes_of_level'] / 1e6)} MB are for "
            f"{run['level_name']}" for run in memory) + ".")


def reads_kvrocks(result):
    tree = result["tree"]
    yield (f"{tree['keys']:,} hashes with {tree['fields']:,} fields, filters "
           "of equal bytes; data-block reads of a call, of metadata + of "
           "fields. `rocksdb_bloom` is what Kvrocks has; `..._rows` adds a "
           "prefix extractor for a key's fields, and `rowcol` filters have "
           f"it. A key's fields are in {number(tree['runs_per_key'])} of "
           f"{len(tree['field_levels'])} runs on average.")
    calls = {"absent_key": "absent key", "absent_field": "absent field",
             "present_field": "present field", "whole_key": "all fields"}
    yield pivot(result["runs"], "policy", policy,
                lambda run: calls[run["call"]], lambda run: run,
                lambda run: (f"{run['metadata_reads_per_call']:.3f} + "
                             f"{run['field_reads_per_call']:.3f}"))


def reads_scans(result):
    tree = result["tree"]
    caches = {"all": "all fits", "16MiB": "16 MiB"}
    states = {"scans_only": "scans only", "after_gets": "after gets"}
    yield (f"A scan of one of {tree['keys']:,} hashes with {tree['fields']:,} "
           "fields, with `fill_cache=false`: blocks read, as data + filters + "
           "indexes, and their bytes. Filters and indexes are partitions of "
           "the block cache; `..._pinned` has `partition_pinning=kAll`, and "
           "`..._warmed` a get of an absent field before each scan. "
           "`rocksdb_bloom` is what Kvrocks has; the others have a prefix "
           "extractor. Gets, as many as scans, fill the cache.")
    yield pivot(
        result["runs"], "runs, cache, state",
        lambda run: (f"{run['run_count']}, {caches[run['cache']]}, "
                     f"{states[run['state']]}"),
        policy, lambda run: run,
        lambda run: (f"{run['data_reads']:.3f} + {run['filter_reads']:.3f} + "
                     f"{run['index_reads']:.3f}; {run['bytes']:,.0f}"))


def kvrocks_server(result):
    yield (f"Servers of Apache Kvrocks with {result['keys']:,} hashes, and as "
           "many sets, sorted sets, lists and streams, of four fields on "
           "average, in one, two or four runs. By call: data blocks asked for; "
           "blocks read from files, those of filters and indexes too, where "
           "the server has just started, and after as many gets and calls of "
           "the same keys. `stock` is Kvrocks at its commit 5fccd57c; the "
           "others follow [docs/kvrocks.md](../../docs/kvrocks.md). Of "
           f"{result['compared']:,} replies that were compared "
           f"{result['differences'] or 'none'} differed.")
    def bytes_of(name, runs):
        return next(run["bytes"] / 1000 for run in result["runs"] if (
            run["contender"], run["runs"], run["cache_mib"], run["call"],
            run["state"]) == (name, runs, 0, "SMEMBERS", "cold"))
    names = distinct(run["contender"] for run in result["runs"])
    yield ("KB that `SMEMBERS` reads after a start: " + "; ".join(
        f"{runs} runs, " + ", ".join(f"{bytes_of(name, runs):.0f} `{name}`"
                                     for name in names)
        for runs in distinct(run["runs"] for run in result["runs"])) + ".")
    cells = {(run["contender"], run["runs"], run["cache_mib"], run["call"],
              run["state"]): run for run in result["runs"]}
    for cache in distinct(run["cache_mib"] for run in result["runs"]):
        yield (f"A block cache of {cache} MiB:" if cache else
               "Kvrocks' default block cache, of 4 GiB:")
        yield pivot(
            [run for run in result["runs"]
             if run["cache_mib"] == cache and run["state"] == "cold"],
            "call, runs", lambda run: f"{run['call']}, {run['runs']}",
            lambda run: f"`{run['contender']}`", lambda run: run,
            lambda run: (f"{run['asked']:.3f}; {run['read']:.3f}; " + "{:.3f}"
                         .format(cells[run["contender"], run["runs"], cache,
                                       run["call"], "warm"]["read"])))


def reads_mini_kv(result):
    yield "Reads of data blocks of a get in the example store mini_kv."
    yield pivot(result["runs"], "policy", policy, lambda run: run["query"],
                lambda run: run["data_reads_per_get"])


def reader_precision(result):
    runs = result["precision"]["runs"]
    yield ("Wasted reads of 1,000 gets of absent rows by the memory of the "
           "cache, in bits for each key of the tree:")
    bits = "bits per key"
    yield pivot(runs, bits, lambda run: number(run["resident_bits_per_key"]),
                policy, wasted)
    yield "Bytes read for each get, loads of filters included:"
    yield pivot([run for run in runs if "bytes_read_per_get" in run], bits,
                lambda run: number(run["resident_bits_per_key"]), policy,
                lambda run: run["bytes_read_per_get"])


def reader_harm(result):
    runs = result["harm"]["runs"]
    yield ("Bytes read, loads of filters included, divided by the bytes read "
           "without filters, by the capacity of the cache.")
    for name in distinct(run["policy"] for run in runs):
        yield f"`{name}`:"
        yield pivot([run for run in runs if run["policy"] == name],
                    "gets, loading",
                    lambda run: f"{run['workload']}, {run['loading']}",
                    lambda run: f"{number(run['cache_percent'])}%",
                    lambda run: run["ratio"])


def reader_ablation(result):
    yield "Each rule for loads, with the workloads that need it."
    yield table(["rule", "off", "workload", "with", "without"],
                [[f"`{run['rule']}`", run["off"], run["workload"],
                  number(run["with"]), number(run["without"])]
                 for run in result["ablation"]["runs"] if run["is_worse"]])


def reader_memo(result):
    yield "Wasted reads of 1,000 gets with a memo of false positives."
    yield table(["rows", "entries", "bytes", "wasted", "times fewer"],
                [[f"Zipf {run['zipf']}" if run["zipf"] else "uniform",
                  run["entries"], run["memo_bytes"],
                  number(wasted(run)), number(run["times_fewer"])]
                 for run in result["memo"]["runs"]])


def mebibytes(value):
    return f"{value / 2**20:.1f}"


def memory_sst(result):
    yield ("The most resident memory, in MiB, that a process took while it "
           "wrote SSTs of 16-byte keys and 5-byte values, 10 bits per key, "
           "beyond what it had before. With 4 threads each writes an SST.")
    for partitioned in (False, True):
        runs = [run for run in result["ssts"]
                if run["partitioned"] == partitioned]
        yield ("Partitioned filters:" if partitioned else
               "One filter for each SST:")
        yield pivot(runs, "keys x threads",
                    lambda run: f"{run['keys']:,} x {run['threads']}",
                    lambda run: f"`{run['filter']}`",
                    lambda run: run["peak_bytes"], mebibytes)


def memory_cache(result):
    yield ("Resident memory, in MiB, of a process whose threads ask readers of "
           "twice the capacity at random: the most, and two seconds after "
           "`SetCapacity` to an eighth, with lookups going on. Every load "
           "reads into memory of the cache, too, so that threads that load "
           "all the time add to it.")
    yield pivot(result["caches"], "capacity, threads",
                lambda run: (f"{mebibytes(run['capacity_bytes'])}, "
                             f"{run['threads']}"),
                lambda run: run["loading"].replace("_", " "),
                lambda run: run,
                lambda run: (f"{mebibytes(run['peak_bytes'])}, then "
                             + mebibytes(run["resident_at_an_eighth_bytes"])))


def pages(result):
    yield ("Nanoseconds of processor time that a hit and the first load of a "
           "chunk take in small pages and in huge ones, and how many times as "
           "fast huge ones are; medians of rounds in turns. A `load from "
           "array` is one of a random byte in as much memory.")
    yield pivot([(run, kind) for run in result["pages"]
                 for kind in ("hit", "load_from_array", "first_load")],
                "filter, MiB",
                lambda cell: (f"`{cell[0]['family']}`, "
                              + number(cell[0]["mebibytes"])),
                lambda cell: cell[1].replace("_", " "),
                lambda cell: cell[0][cell[1]],
                lambda run: "{}, {}: {:.2f}".format(
                    number(run["small_pages_ns"]),
                    number(run["huge_pages_ns"]), run["times_as_fast"]))


def memory_readers(result):
    yield ("Bytes of an open reader beside a cache of 64 MiB: resident, and "
           "counted by the cache. `denied` is the share of the readers that "
           "deny an absent row; the others have no room for their chunk.")
    yield table(["readers", "rows", "resident", "counted", "denied"],
                [[f"{run['readers']:,}", f"{run['rows']:,}",
                  number(run["resident_bytes_a_reader"]),
                  number(run["counted_bytes_a_reader"]),
                  number(run["denied_share_of_an_absent_row"])]
                 for run in result["open_readers"]])


def hfile(result):
    yield (f"A ROW filter of a million rows: {result['peer']} and rowbloom, "
           "in turns.")
    yield table(["", "HBase", "rowbloom", "times as fast"],
                [[run["measure"], f"{number(run['hbase'])} {run['unit']}",
                  f"{number(run['rowbloom'])} {run['unit']}",
                  number(run["times_as_fast"])]
                 for run in result["measures"]])


def chosen_rows(result):
    yield (f"False positive rate for random other rows, and bits a row, of a "
           f"filter of {result['row_count']:,} rows. The digest of row i is "
           "random; or i divided by the golden ratio, modulo 2^64; or one of "
           "64 neighbours; or one of two, which 64 rows have in turn.")
    yield pivot(result["runs"], "filter, secret",
                lambda run: (f"`{run['filter_spec']}`, "
                             + ("yes" if run["has_secret"] else "no")),
                lambda run: run["rows"],
                lambda run: f"{run['fpr']:.2%}, {run['bits_per_row']:.1f} bits",
                str)


def cache(result):
    yield ("Share of the accesses of hot chunks that hit, while sweeps over "
           "cold files pass through the cache.")
    runs = result["hit_rates"]
    yield pivot(runs, "Zipf, cache, policy",
                lambda run: (f"{run['zipf']}, {run['cache_percent']:g}%, "
                             f"`{run['policy']}`"),
                lambda run: (f"{run['sweep_chunks']} chunks, "
                             f"{run['sweep_percent']:g}%"
                             if run["sweep_chunks"] else "no sweeps"),
                lambda run: run["hot_hit_rate"], lambda v: f"{v:.1%}")


def medians(result, pattern, counter):
    """{groups of `pattern` in a benchmark's name: median of the counter}"""
    samples = {}
    for run in sorted(result["benchmarks"], key=lambda run: (
            run["family_index"], run["per_family_instance_index"])):
        name = re.sub(r"/(process_time|real_time|iterations:\d+|repeats:\d+)",
                      "", run["run_name"])
        match = re.fullmatch(pattern, name)
        single = run["run_type"] == "iteration"
        if match and counter in run and (
                single or run["aggregate_name"] == "median"):
            samples.setdefault(match.groups(), []).append(run[counter])
    return {key: statistics.median(values) for key, values in samples.items()}


def with_quartiles_of(result, pattern, counter):
    """Like medians(), but [median, lower quartile, upper quartile]; of a
    benchmark that was not repeated [median]."""
    quartiles = [medians({"benchmarks": [
        {**run, counter: run[counter + "_quartiles"][i]}
        for run in result["benchmarks"] if counter + "_quartiles" in run]},
                         pattern, counter) for i in (0, 1)]
    return {key: [median, *(of[key] for of in quartiles if key in of)]
            for key, median in medians(result, pattern, counter).items()}


def filter_bench(result):
    base = "rocksdb_bloom_10"
    for title, pattern, counter in (
            ("lookup of absent strings", "lookup/absent/strings/(.+)/(.+)",
             "time_per_lookup"),
            ("lookup of present strings", "lookup/present/strings/(.+)/(.+)",
             "time_per_lookup"),
            ("lookup of absent digests", "lookup/absent/digests/(.+)/(.+)",
             "time_per_lookup"),
            ("lookup of present digests", "lookup/present/digests/(.+)/(.+)",
             "time_per_lookup"),
            ("dependent lookup of absent digests",
             "lookup/dependent/digests/(.+)/(.+)", "time_per_lookup"),
            ("batch of 32 absent strings", "lookup/batch/strings/(.+)/(.+)",
             "time_per_lookup"),
            ("build from strings", "build/strings/(.+)/(.+)", "time_per_key"),
            ("build from digests", "build/digests/(.+)/(.+)", "time_per_key"),
            ("absent digests in many filters together",
             "block_cache/absent/(.+)/(.+)", "time_per_lookup")):
        cells = with_quartiles_of(result, pattern, counter)
        if not cells:
            continue
        yield (f"Time as a multiple of the median of `{base}`, {title}, by "
               "keys: median and quartiles.")
        yield pivot(list(cells), "filter", lambda key: f"`{key[0]}`",
                    lambda key: key[1],
                    lambda key: [time / cells[base, key[1]][0]
                                 for time in cells[key]],
                    lambda cell: ("{:.2f} ({:.2f}, {:.2f})" if len(cell) > 1
                                  else "{:.2f}").format(*cell))
    for title, counter in (("Bits per key", "bits_per_key"),
                           ("False positive rate", "fpr")):
        cells = medians(result, "rate/(.+)/(.+)", counter)
        if cells:
            yield f"{title}, by keys:"
            yield pivot(list(cells), "filter", lambda key: f"`{key[0]}`",
                        lambda key: key[1], lambda key: cells[key])


STANDARD = {"name", "run_name", "run_type", "repetitions", "repetition_index",
            "threads", "iterations", "real_time", "cpu_time", "time_unit",
            "family_index", "per_family_instance_index", "aggregate_name",
            "aggregate_unit"}


def micro(result):
    """The counters of every benchmark of a program; times in nanoseconds."""
    counters = distinct(key for run in result["benchmarks"] for key in run
                        if key not in STANDARD
                        and not key.endswith("_quartiles"))
    values = {counter: medians(result, "(.+)", counter) for counter in counters}
    names = distinct(name for column in values.values() for name in column)
    if not any("/" in name for (name,) in names):
        yield table(["benchmark", *(c.replace("_", " ") for c in counters)],
                    [[f"`{name[0]}`",
                      *(number(values[c].get(name)) for c in counters)]
                     for name in names])
        return
    for counter in counters:
        scale = 1e9 if counter.startswith("time_per_") else 1
        unit = "Nanoseconds of each " if scale > 1 else ""
        yield unit + counter.replace("time_per_", "").replace("_", " ") + ":"
        parts = [name.rpartition("/") for (name,) in values[counter]]
        for threads in (False, True):
            chosen = [part for part in parts
                      if part[2].startswith("threads:") == threads]
            if chosen:
                yield pivot(chosen, "benchmark", lambda part: f"`{part[0]}`",
                            lambda part: part[2],
                            lambda part: scale * values[counter][
                                "".join(part),])


def instructions(result):
    """Counts by the kind of a benchmark, its filter, and its size."""
    yield ("Instructions of each lookup, key, get or entry, counted by "
           "callgrind, which has AVX2 and no AVX-512.")
    cells = {}
    for run in result["instructions"]:
        *kind, name, size = run["name"].split("/")
        if not kind:  # It has no size.
            kind, name, size = [name], size, "each"
        cells["/".join(kind), name, size] = run["instructions"]
    for kind in distinct(kind for kind, _, _ in cells):
        yield pivot([cell for cell in cells if cell[0] == kind], f"{kind}, by",
                    lambda cell: f"`{cell[1]}`", operator.itemgetter(2),
                    cells.get, "{:.0f}".format)


def point_get(result):
    counters = ("batch_to_loop", "lower_quartile", "upper_quartile",
                "time_per_lookup_of_loop")
    values = [medians(result, r"point_get/(.+)/(\d+)x(\d+)", counter)
              for counter in counters]
    for size in distinct(size for _, _, size in values[0]):
        yield (f"Filters of {int(size):,} bytes, by their number. The time of "
               "a batch as a multiple of a loop's, with the quartiles of the "
               "rounds, and nanoseconds of each lookup of the loop:")
        yield pivot([key for key in values[0] if key[2] == size], "filter",
                    lambda key: f"`{key[0]}`", operator.itemgetter(1),
                    lambda key: [value[key] for value in values],
                    lambda cell: "{:.2f} ({:.2f}-{:.2f}), {}".format(
                        *cell[:3], number(1e9 * cell[3])))


def reads_phases(result):
    runs = result["phases"]
    shares = distinct(f"{run['cache_share']:.0%}" for run in runs)
    compacted = [run for run in runs if "refresh" not in run]
    rewritten = operator.itemgetter("rewritten_share")
    yield ("Blocks of data, filters and indexes that an operation reads while "
           "the workload changes and the database lives, in a cache of "
           + ", ".join(shares) + " of the data. The last half of a phase's "
           "rounds; in brackets the first round, with the filters of the phase "
           "before. Keys are overwritten before each 2,048 operations but "
           "those of the first round, and a phase rewrites "
           "the data {:.1f} to {:.1f} times. The last rows are those of "
           "`..._auto` beside the fewest of any filter whose bits are "
           "fixed.".format(min(map(rewritten, compacted)),
                           max(map(rewritten, compacted))))
    for keys, share in distinct((run["keys"], run["cache_share"])
                                for run in runs):
        chosen = [run for run in runs
                  if (run["keys"], run["cache_share"]) == (keys, share)]
        yield f"Keys: {keys}. Cache: {share:.0%} of the data."
        yield pivot(chosen, "filter", lambda run: f"`{run['filter']}`",
                    lambda run: run["phase"], lambda run: run,
                    lambda run: "{:.3f} ({:.3f}); {:.1f} bits".format(
                        run["adapted"]["reads"], run["first"]["reads"],
                        run["bits_per_key"]))
        best = {}
        for run in chosen:
            if not run["filter"].endswith("_auto"):
                phase = run["phase"]
                best[phase] = min(best.get(phase, 1e9), run["adapted"]["reads"])
        yield pivot([run for run in chosen if run["filter"].endswith("_auto")],
                    "filter", lambda run: f"`{run['filter']}`",
                    lambda run: run["phase"],
                    lambda run: run["adapted"]["reads"] / best[run["phase"]],
                    "{:.2f}".format)
    refreshed = [run for run in runs if run.get("refresh", {}).get("ssts")]
    if not refreshed:
        return
    yield ("In `refreshed` half the gets are absent again; after the first "
           "overwriting `RefreshRocksDbFilters` rewrites the SSTs that are not "
           "as planned, and no key is overwritten any more. It reads and "
           "writes so many MB, and takes so many seconds beside gets. Reads of "
           "a get:")
    yield table(["filter", "keys", "SSTs rewritten", "MB read", "MB written",
                 "seconds", "written, of the data, overwriting included",
                 "before", "meanwhile", "after"],
                [[f"`{run['filter']}`", run["keys"], run["refresh"]["ssts"],
                  "{:.1f}".format(run["refresh"]["read_bytes"] / 1e6),
                  "{:.1f}".format(run["refresh"]["written_bytes"] / 1e6),
                  "{:.1f}".format(run["refresh"]["seconds_with_gets"]),
                  "{:.2f}".format(run["rewritten_share"]),
                  "{:.3f}".format(run["first"]["reads"]),
                  "{:.3f}".format(run["refresh"]["meanwhile"]["reads"]),
                  "{:.3f}".format(run["adapted"]["reads"])]
                 for run in refreshed])


def bindings(result, has_quartiles=True):
    titles = {"add": "Add", "add_many": "1,000 Adds by one call",
              "lookup": "lookup", "each_of_8": "a row in 8 files by one call",
              "batch": "32 rows in 8 files by one call"}
    yield ("Nanoseconds of each row that is added and of each answer, from "
           "filters in memory, medians of {rounds} rounds. {tools}.".format(
               rounds=result["rounds"],
               tools=", ".join(result["versions"].values())))
    fields = ("ns", "lower_quartile", "upper_quartile")
    yield pivot(result["costs"], "from", lambda run: run["language"],
                lambda run: titles[run["measure"]],
                lambda run: [number(run[field]) for field in fields],
                lambda cell: "{} ({}-{})".format(*cell) if has_quartiles
                else cell[0])


def bindings_page(path):
    """docs/bindings.md with the costs between its two comments."""
    result = json.loads((RESULTS / "bindings.json").read_text(encoding="utf-8"))
    costs = "\n\n".join(["", *bindings(result, has_quartiles=False), ""])
    return re.sub("(?<=<!-- costs -->).*(?=<!-- end of costs -->)",
                  lambda _: costs, path.read_text(encoding="utf-8"),
                  flags=re.S)


SECTIONS = {
    "bindings": ("Costs of a call from each language", bindings),
    "reads_keys": ("Wasted reads in a RocksDB tree", reads_keys),
    "reads_memory": ("Memory for equal reads", reads_memory),
    "reads_grow": ("Trees that grow", reads_grow),
    "reads_phases": ("Filters that follow the gets", reads_phases),
    "reads_phases_other": ("Filters that follow other gets", reads_phases),
    "reads_phases_9_3": ("Filters that follow the gets, in RocksDB 9.3",
                         reads_phases),
    "reads_cpu": ("Processor time of writing", reads_cpu),
    "reads_time": ("Time of gets in one memory", reads_time),
    "reads_time_urls": ("Time of gets of URLs in compressed SSTs", reads_time),
    "reads_time_large": ("Time of gets in a larger memory", reads_time),
    "reads_time_threads": ("Time of gets by threads and cache", reads_time),
    "reads_rows": ("Rows and columns in RocksDB", reads_rows),
    "reads_levels": ("Keys of many levels in RocksDB", reads_levels),
    "reads_kvrocks": ("Hashes and sets of Kvrocks", reads_kvrocks),
    "reads_scans": ("Scans that fill no cache", reads_scans),
    "kvrocks_server": ("Calls of Kvrocks servers", kvrocks_server),
    "reads_mini_kv": ("An engine of one's own", reads_mini_kv),
    "filter_bench": ("Filters beside RocksDB's", filter_bench),
    "filter_bench_debian": ("Filters beside those of Debian's RocksDB",
                            filter_bench),
    "reader_precision": ("Precision by memory", reader_precision),
    "reader_harm": ("Loads that do not pay", reader_harm),
    "reader_ablation": ("Rules for loads", reader_ablation),
    "reader_memo": ("Memo of false positives", reader_memo),
    "cache": ("Hit rate of the cache", cache),
    "memory_sst": ("Memory while SSTs are written", memory_sst),
    "memory_cache": ("Resident memory of a cache", memory_cache),
    "pages": ("Huge pages", pages),
    "memory_readers": ("Memory of open readers", memory_readers),
    "reader_cost_bench": ("Cost of a lookup through a reader", micro),
    "instructions_filter": ("Instructions of filters", instructions),
    "instructions_reader": ("Instructions of a lookup through a reader",
                            instructions),
    "instructions_auto": ("Instructions of `auto`", instructions),
    "point_get": ("A point get in a loop and by a batch", point_get),
    "epoch_bench": ("Epochs", micro),
    "rows_bench": ("RocksDbRows", micro),
    "memfilter_bench": ("Filters of memory", micro),
    "chosen_rows": ("Chosen rows", chosen_rows),
    "hfile": ("HFiles beside HBase", hfile),
    "leveldb_bench": ("LevelDB", micro),
}


def machine_line(result):
    machine = result.get("machine") or result["context"]
    place = f"{machine['cpu']}, {machine['cores']} cores"
    if "compiler" in machine:
        place += f", {machine['compiler']}, {machine['build_type']}"
    if "rocksdb_version" in machine:
        native = "a native build of " if machine.get("native_rocksdb") else ""
        place += f", {native}RocksDB {machine['rocksdb_version']}"
    return (f"`{machine['command']}` (commit {machine['commit']}; {place})")


def medians_of_runs(runs):
    """Of repetitions the medians alone, which get the quartiles of counters."""
    kept = {run["run_name"]: run for run in runs
            if run.get("aggregate_name", "median") == "median"}
    for i, quartile in enumerate(("lower_quartile", "upper_quartile")):
        for run in runs:
            if run.get("aggregate_name") != quartile:
                continue
            for key in run.keys() - STANDARD:
                kept[run["run_name"]].setdefault(
                    key + "_quartiles", [None, None])[i] = run[key]
    return list(kept.values())


def add(name, path):
    """Copies a result without the names of the host and its paths. Of Google
    Benchmark's repetitions it keeps the medians."""
    if name not in SECTIONS:
        raise SystemExit(f"tables.py: no section {name}: {list(SECTIONS)}")
    result = json.loads(Path(path).read_text(encoding="utf-8"))
    if "context" in result:
        context = result["context"]
        library = Path(context.pop("rocksdb_library", ""))
        for key in ("date", "executable", "host_name", "load_avg", "caches"):
            context.pop(key, None)
        if library.name:
            context["native_rocksdb"] = not library.is_relative_to("/lib")
        if "benchmarks" in result:
            result["benchmarks"] = medians_of_runs(result["benchmarks"])
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(
        json.dumps(result, separators=(",", ":")) + "\n", encoding="utf-8")


def page_of(name, path):
    """All tables of one result."""
    title, section = SECTIONS[name]
    result = json.loads(Path(path).read_text(encoding="utf-8"))
    return "\n\n".join([f"# {title}", machine_line(result),
                        *section(result)]) + "\n"


def pages():
    """{path: text} of everything that is made from bench/results."""
    import performance  # It imports this module.
    names = {path.stem for path in RESULTS.glob("*.json")}
    if names != SECTIONS.keys():
        raise SystemExit("tables.py: results without a section, or sections "
                         f"without results: {names ^ SECTIONS.keys()}")
    texts = {RESULTS / f"{name}.md": f"{LICENSE}\n" + page_of(
        name, RESULTS / f"{name}.json") for name in SECTIONS}
    texts[ROOT / "docs/performance.md"] = performance.page()
    bindings_md = ROOT / "docs/bindings.md"
    texts[bindings_md] = bindings_page(bindings_md)
    return texts


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--add":
        add(*sys.argv[2:])
    elif len(sys.argv) == 4 and sys.argv[1] == "--show":
        print(aligned(page_of(*sys.argv[2:])))
        return 0
    elif sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    texts = pages()
    if sys.argv[1:] != ["--check"]:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        return 0
    exit_code = 0
    for path in sorted({*texts, *RESULTS.glob("*.md")}):
        if not path.is_file() or path.read_text(
                encoding="utf-8") != texts.get(path):
            print(f"{path.relative_to(ROOT)} is not what bench/tables.py "
                  "writes from bench/results: run bench/tables.py")
            exit_code = 1
    return exit_code


if __name__ == "__main__":
    import tables  # The copy that performance.py imports.
    sys.exit(tables.main())
