# SPDX-License-Identifier: Apache-2.0
"""The text of docs/performance.md: of each result what decides, in a few rows.

bench/tables.py writes it. A section is a function with @section, whose first
sentence says what follows for the reader; its numbers are read from the
results, as are those of its tables.
"""

import json
import math
import re

from tables import SECTIONS as TITLES
from tables import (LICENSE, RESULTS, distinct, get_kind, medians, mebibytes,
                    number, pivot, policy, reads_of, table, wasted)

SECTIONS = []  # (title, result's name, function)


def load(name):
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def machine_of(name):
    result = load(name)
    return result.get("machine") or result["context"]


def section(title, *names):
    def register(write):
        SECTIONS.append((title, names, write))
        return write
    return register


def select(runs, **fields):
    """The runs that have these values, or one of a list of them."""
    return [run for run in runs if all(
        run[key] in (value if isinstance(value, list) else [value])
        for key, value in fields.items())]


def only(runs, **fields):
    run, = select(runs, **fields)
    return run


def keys_wasted(name, **fields):
    """Wasted reads of a policy in the leveled tree of reads_bench keys."""
    tree = only(load("reads_keys")["reads"]["trees"], tree="leveled")
    return wasted(only(tree["runs"], policy=name, **{
        "missing_share": 1, "mix": "uniform", "cache_share": 0, **fields}))


@section("Wasted reads in a RocksDB tree", "reads_keys")
def reads_keys(result):
    yield ("A budget for the whole tree saves most, with RocksDB's filters "
           "(`composed_budget`) or rowbloom's (`compact_budget`); so do bits "
           "by hand for this one tree (`..._by_level`). `compact` is "
           "`rowbloom:10`. Wasted reads of 1,000 gets, with 10 bits per key:")
    yield "![Wasted reads](images/wasted_reads.svg)"
    trees = {tree["tree"]: tree["runs"] for tree in result["reads"]["trees"]}
    runs = select(trees["leveled"], mix="uniform", cache_share=0)
    yield pivot([run for run in runs if run["policy"] not in (
        "blocked_bloom", "blocked_bloom_budget", "fast", "fast_budget")],
                "policy", policy,
                get_kind, wasted)


@section("Memory for equal reads", "reads_memory")
def reads_memory(result):
    yield ("For equal reads a budget takes about half the memory of RocksDB's "
           "Bloom and four fifths of Ribbon's; where gets find their keys, a "
           "fifth of Bloom's ([plot](memory_budget.md#measured-in-rocksdb)). "
           "Bits per key that waste as few reads as `rocksdb_bloom` with 10:")
    yield table(["policy", "absent", "present"], [
        [policy(row), *(number(row["bits_per_key"][i]) for i in (0, 2))]
        for row in result["memory"]["equal_reads"]
        if row["policy"] != "compact_hits_only"])


PHASES = ["compact_auto", "rocksdb_bloom:10", "rocksdb_bloom:6",
          "rocksdb_ribbon:10", "rocksdb_ribbon:6"]


def phase_reads(result):
    """{filter: {phase: reads of an operation}}, means of the kinds of keys."""
    reads = {}
    keys = distinct(run["keys"] for run in result["phases"])
    for run in result["phases"]:
        phases = reads.setdefault(run["filter"], {})
        phases[run["phase"]] = (phases.get(run["phase"], 0) +
                                run["adapted"]["reads"] / len(keys))
    return reads


def mean(values):
    values = list(values)
    return sum(values) / len(values)


@section("Filters that follow the gets", "reads_phases", "reads_phases_9_3")
def reads_phases(result, of_other_release):
    reads = phase_reads(result)
    other = {name: mean(phases.values())
             for name, phases in phase_reads(of_other_release).items()}
    other_best = min((name for name in other if not name.endswith("_auto")),
                     key=other.get)
    fixed = {name: phases for name, phases in reads.items()
             if not name.endswith("_auto")}
    first = only(result["phases"], keys="binary", filter="compact_auto",
                 phase="half_absent")
    bloom = only(result["phases"], keys="binary", filter="rocksdb_bloom:10",
                 phase="half_absent")
    refreshed = only(result["phases"], keys="binary", filter="compact_auto",
                     phase="refreshed")
    best_of_all = min(fixed, key=lambda name: mean(fixed[name].values()))
    best = {phase: min(fixed, key=lambda name: fixed[name][phase])
            for phase in reads["compact_auto"]}
    losses = [f"{phase} ({auto:.3f}, {fixed[best[phase]][phase]:.3f})"
              for phase, auto in reads["compact_auto"].items()
              if auto > 1.03 * fixed[best[phase]][phase]]
    yield ("`rowbloom:auto` (`compact_auto`) needs no number and has the "
           "fewest reads over all workloads: "
           f"{mean(reads['compact_auto'].values()):.2f} of an operation, "
           f"where the best of {len(fixed)} fixed settings, `{best_of_all}`, "
           f"has {mean(fixed[best_of_all].values()):.2f}. In RocksDB "
           f"{of_other_release['machine']['rocksdb_version']} the two have "
           f"{other['compact_auto']:.2f} and {other[other_best]:.2f} "
           f"(`{other_best}`). `auto` reads over 3% "
           "more than the best setting for the workload in "
           f"{', '.join(losses) or 'none of them'}. SSTs keep the "
           "bits that they were written with: the first round of "
           f"`half_absent` takes {first['first']['reads']:.2f} reads (binary "
           f"keys; Bloom {bloom['first']['reads']:.2f}), and "
           f"{first['adapted']['reads']:.2f} once compactions have "
           "rewritten the data. `RefreshRocksDbFilters` does so at once "
           f"(`refreshed`: {refreshed['first']['reads']:.2f} before, "
           f"{refreshed['adapted']['reads']:.2f} after). Reads of data, "
           "filters and indexes of an operation in one cache of 2% of the "
           "data, means of binary keys and URLs; bits are those that `auto` "
           "chose for binary keys:")
    yield "![Reads of an operation by workload](images/auto_phases.svg)"
    rows = []
    for phase in reads["compact_auto"]:
        bits = only(result["phases"], keys="binary", filter="compact_auto",
                    phase=phase)["bits_per_key"]
        rows.append([phase, f"{bits:.1f}",
                     *(f"{reads[name][phase]:.3f}" for name in PHASES),
                     f"{fixed[best[phase]][phase]:.3f} (`{best[phase]}`)"])
    rows.append(["mean", "", *(f"{mean(reads[name].values()):.3f}"
                               for name in PHASES),
                 f"{mean(fixed[best_of_all].values()):.3f} "
                 f"(`{best_of_all}`)"])
    yield table(["workload", "bits", "auto",
                 *(name.removeprefix("rocksdb_") for name in PHASES[1:]),
                 "best fixed"], rows)


TIMED = ["rocksdb_bloom:6", "rocksdb_bloom:10", "rocksdb_bloom:16",
         "rocksdb_ribbon:4", "rocksdb_ribbon:6", "rocksdb_ribbon:10",
         "composed_auto", "compact_auto", "compact_budget:4"]


@section("Time of gets in one memory", "reads_time", "reads_time_urls",
         "reads_time_large", "reads_time_threads")
def reads_time(small, urls, large, threads):
    workloads = ["absent", "half_absent", "ycsb_c"]
    def of_threads(name):
        ratios = [run["throughput_ratio"] for run in select(
            threads["time"]["runs"], filter=name)]
        return f"{min(ratios):.2f} to {max(ratios):.2f}"

    def runs_of(result):
        return {(run["filter"], run["workload"]): run
                for run in result["time"]["runs"]}

    def of_large(name, workload):
        return only(large["time"]["runs"], filter=name,
                    workload=workload)["throughput_ratio"]

    def times(result, workloads):
        runs = runs_of(result)
        return table(["filter", *workloads], [
            [f"`{name}`", *("{:.3f}; {:.2f} ({:.2f}, {:.2f})".format(
                reads_of(run), run["throughput_ratio"],
                *run["throughput_ratio_quartiles"])
                for run in (runs[name, workload] for workload in workloads))]
            for name in TIMED])
    yield ("Where filters and data share a cache of 2% of the data, the number "
           "of bits matters more than the kind of filter, and `auto` finds it: "
           + ", ".join("{:.1f} bits in `{}`".format(
               runs_of(small)["compact_auto", workload]["bits_per_key"],
               workload)
                       for workload in workloads)
           + ". `rocksdb_ribbon:6` has the size of "
           "`NewRibbonFilterPolicy(8.3)`. Blocks of data, filters and indexes "
           "that a get reads; and gets a second by those of "
           "`rocksdb_bloom:10`, medians and quartiles of 2 threads:")
    yield "![Throughput by filter](images/get_time.svg)"
    yield times(small, workloads)
    yield ("URLs of 50 to 90 bytes in SSTs that LZ4 compresses, in a cache of "
           "2% of the blocks without compression:")
    yield times(urls, ["absent", "half_absent", "zipf_30_absent"])
    yield ("With 1 to 16 threads and both of RocksDB's caches "
           f"`compact_budget:4` does {of_threads('compact_budget:4')} times as "
           "much as Bloom with 10 bits, where half the gets are absent, and "
           f"`rocksdb_ribbon:10` {of_threads('rocksdb_ribbon:10')} times. A "
           "cache of 10% of the data has room for all filters, and only absent "
           "gets gain: " + ", ".join(
               f"{of_large(name, 'absent'):.2f} times with `{name}`"
               for name in ("compact_auto", "composed_auto",
                            "compact_budget:10", "composed_budget:10",
                            "rocksdb_ribbon:10", "rocksdb_bloom:16",
                            "compact_budget:4")) + ".")


@section("Trees that grow", "reads_grow")
def reads_grow(result):
    most = max(run["most_bits_per_key"] for run in select(
        result["grow"], policy=["composed_budget", "compact_budget"]))
    yield ("A budget holds in any live tree: filters took at most "
           f"{most:.1f} bits per key for 10 that were asked. The most bits at "
           "any time, and wasted reads of 1,000 absent gets, in trees with "
           "static level bytes:")
    yield pivot(select(result["grow"], dynamic_level_bytes=False, inserts=[
        "random", "append", "two_ranges"], policy=[
            "rocksdb_bloom", "composed_budget", "compact",
            "compact_budget"]), "policy",
                policy, lambda run: run["inserts"], lambda run: run,
                lambda run: "{:.1f}; {}".format(
                    run["most_bits_per_key"],
                    number(run["wasted_reads_per_1000_absent"])))


@section("Processor time of writing", "reads_cpu")
def reads_cpu(result):
    cost = {(run["policy"], entries["entry_bytes"]): run["cpu_seconds_ratio"]
            for entries in result["cpu"]["compactions"]
            for run in entries["policies"]}
    yield ("`compact` costs compactions {:.0%} to {:.0%} of processor time, "
           "and Ribbon up to {:.0%}. Multiples of `rocksdb_bloom` by bytes of "
           "an entry, medians; from 116 bytes on the quartiles, in all tables, "
           "are wide:".format(
               min(v for (p, _), v in cost.items() if p == "compact") - 1,
               max(v for (p, _), v in cost.items() if p == "compact") - 1,
               max(v for (p, _), v in cost.items()
                   if p == "rocksdb_ribbon") - 1))
    rows = {}
    for entries in result["cpu"]["compactions"]:
        for run in entries["policies"]:
            rows.setdefault(policy(run), []).append(
                f"{run['cpu_seconds_ratio']:.2f}")
    for run in result["cpu"]["puts"]:
        rows[policy(run)].append(f"{run['puts_per_second_ratio']:.2f}")
    yield table(["policy", *(f"{entries['entry_bytes']} bytes"
                             for entries in result["cpu"]["compactions"]),
                 "puts a second"], [
                     [name, *row]
                     for name, row in rows.items()
                     if name not in ("`none`", "`rocksdb_bloom`")])


@section("Rows and columns in RocksDB", "reads_rows")
def reads_rows(result):
    yield ("A filter of rows and cells saves the reads of absent columns that "
           "one of rows lets through. RocksDB's filters do the same with a "
           "prefix extractor for the row, as here. Data blocks that a get "
           "reads, filters of equal bytes:")
    yield pivot([run for run in select(result["runs"], mix="uniform")
                 if run["policy"] != "rowbloom_rowcol_fast"], "policy", policy,
                lambda run: run["query"], lambda run: run["data_reads_per_get"])


FILTERS = ["rocksdb_bloom_10", "rocksdb_ribbon_10", "blocked_bloom_10",
           "fast_10", "compact_0.957%", "compact_10", "split_block_10",
           "boost_multiblock_10", "burr_8", "binary_fuse_8"]


def filter_times(result, pattern, counter, *keys):
    """{filter: cells}, as multiples of the time of RocksDB's Bloom."""
    cells = medians(result, pattern + "/(.+)/(.+)", counter)
    return {name: [f"{cells[name, key] / cells[FILTERS[0], key]:.2f}"
                   if (name, key) in cells else "-" for key in keys]
            for name in FILTERS}


def multiples(result, pattern, names):
    """The least and the most of Bloom's time, strings, up to a million keys."""
    cells = medians(result, pattern + "/strings/(.+)/(.+)",
                    "time_per_key" if pattern == "build" else "time_per_lookup")
    found = [time / cells[FILTERS[0], keys]
             for (name, keys), time in cells.items()
             if re.fullmatch(names, name) and int(keys) <= 1000000]
    return f"{min(found):.1f} to {max(found):.1f}"


@section("Filters beside RocksDB's", "filter_bench")
def filters(result):
    bits = medians(result, "rate/(.+)/(.+)", "bits_per_key")
    rates = medians(result, "rate/(.+)/(.+)", "fpr")
    key = "1000000"
    compact = "compact_[0-9.]+%?"
    ribbon = "rocksdb_ribbon_10"
    yield ("`compact` has a ninth of Bloom's false positives in the same "
           "bytes, or its rate in two thirds of them. Beside a RocksDB that "
           "is built for AVX2 it costs, up to a million keys, {} times as much "
           "to build ({} without AVX-512), {} times to ask for absent strings "
           "and {} times for present ones; Ribbon, which is as small, {} times "
           "to build, {} to ask for absent and {} for present ones. It wins "
           "where a lookup waits for the one before. The last four, by other "
           "authors, get all digests at once. Bits and rates are of a million "
           "keys, times multiples of `rocksdb_bloom_10`, of absent strings and "
           "100,000 keys where the column says nothing else; of digests "
           "rowbloom hashes nothing, RocksDB 8 bytes:".format(*(
               multiples(result, pattern, names) for names, pattern in (
                   (compact, "build"), ("compact_10@avx2", "build"),
                   (compact, "lookup/absent"), (compact, "lookup/present"),
                   (ribbon, "build"), (ribbon, "lookup/absent"),
                   (ribbon, "lookup/present")))))
    columns = [("lookup 100,000", "lookup/absent/strings", "100000"),
               ("lookup 10 million", "lookup/absent/strings", "10000000"),
               ("build 100,000", "build/strings", "100000"),
               ("present", "lookup/present/strings", "100000"),
               ("dependent digest", "lookup/dependent/digests", "100000"),
               ("batch of 32", "lookup/batch/strings", "100000")]
    cells = [filter_times(result, pattern, "time_per_key" if pattern.startswith(
        "build") else "time_per_lookup", keys) for _, pattern, keys in columns]
    yield table(["filter", "bits", "false positives",
                 *(title for title, _, _ in columns)],
                [[f"`{name}`", number(bits[name, key]),
                  f"{rates[name, key]:.3%}", *(cell[name][0] for cell in cells)]
                 for name in FILTERS])


@section("Instructions", "instructions_filter", "instructions_reader",
         "instructions_auto")
def instructions(filter_result, reader_result, auto_result):
    def counts(result):
        return {run["name"]: run["instructions"]
                for run in result["instructions"]}
    reader, autos = counts(reader_result), counts(auto_result)
    of_filter = counts(filter_result)

    def more(kind):
        return max(count / autos[name.replace("_auto", "_fixed")] - 1
                   for name, count in autos.items()
                   if re.fullmatch(f"{kind}/.+_auto/.+", name))

    def of_reader(way):
        return f"{reader[f'{way}/compact:bits_per_key=10/262144']:.0f}"
    yield ("Counts by callgrind, which do not depend on what else a machine "
           "does. `auto` adds {:.2%} to a RocksDB get at most, and {:.2%} to a "
           "flush that makes no new plan, with `Statistics` in both; a plan "
           "takes {:.0f} million, or {:.0f} million if some keys are popular. "
           "Through a reader of rowbloom's own a lookup in `compact` "
           "takes {}; {} where the filter is not in memory and reading it does "
           "not pay, {} where the row lies outside the file. `plugin_...` is "
           "built and asked by RocksDB. Instructions of each string of 24 "
           "bytes, in filters of 100,000 with AVX2, and of a row that an "
           "engine adds to a filter block:".format(
               more("get_.+"), more("flush"), autos["plan/uniform"] / 1e6,
               autos["plan/zipf_0.9"] / 1e6, of_reader("reader"),
               of_reader("not_in_memory"), of_reader("outside")))
    columns = {"absent": "lookup/absent/strings", "build": "build/strings",
               "present": "lookup/present/strings", "block": "block"}
    names = distinct(name.split("/")[-2] for name in of_filter)
    yield table(["filter", *columns],
                [[f"`{name}`", *(
                    f"{of_filter[key]:.0f}" if key in of_filter else "-"
                    for key in (f"{kind}/{name}/100000"
                                for kind in columns.values()))]
                 for name in names])


@section("Precision by memory", "reader_precision")
def reader_precision(result):
    runs = result["precision"]["runs"]
    optimum = {run["resident_bits_per_key"]: wasted(run)
               for run in select(runs, policy="optimum")}
    yield ("A reader that loads as many units as the cache has room for "
           "(`late_bound`) wastes at most {:.0%} more reads than the optimum; "
           "whole filters (`whole_kept`) need room for all: see the "
           "[plot](embedding.md#what-is-in-memory).".format(
               max(wasted(run) / optimum[run["resident_bits_per_key"]]
                   for run in select(runs, policy="late_bound")) - 1))


@section("Loads that do not pay", "reader_harm")
def reader_harm(result):
    runs = result["harm"]["runs"]
    pays = select(runs, loading="when_it_pays")
    always = select(runs, loading="always")
    sweep = {"policy": "compact:bits_per_key=14", "cache_percent": 10,
             "workload": "sweep_256"}
    yield ("A reader that loads what pays never reads more than "
           f"{max(run['ratio'] for run in pays):.2f} times the bytes of no "
           "filters; one that loads on every miss, up to "
           f"{max(run['ratio'] for run in always):.0f} times. But it must "
           "learn first: of sweeps that ask each chunk 256 times, in a cache "
           "of a tenth of the filters, it reads "
           f"{number(only(pays, **sweep)['ratio'])} times the bytes, the other "
           f"{number(only(always, **sweep)['ratio'])}.")


@section("Memory while SSTs are written", "memory_sst")
def memory_sst(result):
    peaks = {(run["filter"], run["partitioned"]): mebibytes(run["peak_bytes"])
             for run in select(result["ssts"], keys=10000000, threads=1)}
    yield ("A writer takes as much memory as with RocksDB's Bloom, a third of "
           "Ribbon's; partitioned filters take a fifth. The most resident MiB "
           "of an SST of 10 million keys, whole and partitioned: " + ", ".join(
               f"`{name}` {peaks[name, False]} and {peaks[name, True]}"
               for name in ("rocksdb_bloom", "rocksdb_ribbon", "compact"))
           + ".")


@section("Resident memory of a cache", "memory_cache", "pages")
def memory_cache(result, pages):
    runs = result["caches"]
    beyond = {key: max(run[key] - 1.1 * run["capacity_bytes"] / divisor
                       for run in runs) / 2**20
              for key, divisor in (("peak_bytes", 1),
                                   ("resident_at_an_eighth_bytes", 8))}
    gains = {kind: [run[kind]["times_as_fast"] for run in
                    select(pages["pages"], mebibytes=125)]
             for kind in ("hit", "load_from_array", "first_load")}
    yield ("Plan for 1.1 times the capacity and {} MiB, or {} MiB two "
           "seconds after `SetCapacity` to an eighth. Of 125 MiB in huge pages "
           "first loads are at least {:.1f} times as fast, and hits {:.2f} "
           "times, where loads from an array of that size gain {:.2f}.".format(
               *(math.ceil(mib) for mib in beyond.values()),
               *(min(gains[kind])
                 for kind in ("first_load", "hit", "load_from_array"))))


@section("Memory of open readers", "memory_readers")
def memory_readers(result):
    most = max(result["open_readers"],
               key=lambda run: run["resident_bytes_a_reader"])
    starved = min(result["open_readers"],
                  key=lambda run: run["denied_share_of_an_absent_row"])
    yield ("An open reader takes at most {} bytes beside the cached chunks, of "
           "which the cache counts {}. A million readers of {:,} rows in a "
           "cache of 64 MiB leave room for the chunks of {:.1%}; the others "
           "answer \"maybe\".".format(
               number(most["resident_bytes_a_reader"]),
               number(most["counted_bytes_a_reader"]), starved["rows"],
               starved["denied_share_of_an_absent_row"]))


@section("RocksDbRows", "rows_bench")
def rows_bench(result):
    run = {run["run_name"]: run for run in result["benchmarks"]}
    yield ("`RocksDbRows` costs up to {:.0%} more than RocksDB's own calls "
           "with the same bounds. Counting one lookup in 64 costs up to {:.0%} "
           "more; counting all, up to {:.0%}.".format(
               max(r["rows_to_rocksdb"] for r in run.values()) - 1,
               max(r["sampled_to_rows"] for r in run.values()) - 1,
               max(r["counted_to_rows"] for r in run.values()) - 1))


@section("Filters of memory", "memfilter_bench")
def memfilter(result):
    cells = medians(result, "(.+)/(.+)", "time_per_key")
    together = medians(result, "concurrent/add_together/(.+)/threads:(.)",
                       "time_per_key")
    gain = {keys: together[keys, "1"] / together[keys, "2"]
            for keys, _ in together}
    yield ("Take the `StandardFilter` where its limits allow it: it is faster "
           "than libbloom at everything; counting and scalable filters cost "
           "up to seven times as much. Nanoseconds of a key, of 8 million:")
    rows = [("libbloom", "key"), ("standard", "key"), ("standard", "digest"),
            ("concurrent", "digest"), ("counting", "digest"),
            ("scalable", "digest")]
    yield table(["filter, given", "add", "absent", "present"],
                [[f"`{name}`, {form}",
                  *(number(1e9 * cells[f"{name}/{what}_{form}", "8000000"])
                    for what in ("add", "absent", "present"))]
                 for name, form in rows])
    yield ("Two threads add to a `ConcurrentFilter` "
           f"{min(gain.values()):.1f} to {max(gain.values()):.1f} times as "
           "fast as one.")


@section("HFiles beside HBase", "hfile")
def hfile(result):
    yield ("rowbloom reads HBase's filters faster than HBase. A ROW filter of "
           f"a million rows, {result['peer']} and rowbloom in turns: "
           + ", ".join("{} {} and {} {} ({} times as fast)".format(
               run["measure"], number(run["hbase"]), number(run["rowbloom"]),
               run["unit"], number(run["times_as_fast"]))
               for run in result["measures"]) + ".")


# Results without times, which any machine gives.
COUNTS = ["reads_keys", "reads_memory", "reads_phases", "reads_phases_other",
          "reads_phases_9_3", "reads_grow", "kvrocks_server"]


def head():
    machine, = {"{cpu}, {cores} cores, {compiler}".format(**machine_of(name))
                for name in TITLES if name not in COUNTS}
    yield "# Performance"
    yield ("Choose a filter by this table, then read its section. Reads are "
           "counts, the same on every machine. Times are of one busy machine "
           f"({machine}): compare them within one table. "
           "[bench/README.md](../bench/README.md) explains names and programs. "
           "`bench/tables.py` writes this page from "
           "[bench/results](../bench/results), which has more.")
    phases = phase_reads(load("reads_phases"))
    means = {name: mean(reads.values()) for name, reads in phases.items()}
    rival = min((name for name in means if name.startswith("rocksdb_")),
                key=means.get)
    budget, ribbon, bloom, composed = (number(keys_wasted(name)) for name in (
        "compact_budget", "rocksdb_ribbon", "rocksdb_bloom", "composed_budget"))
    gain = max(run["throughput_ratio"] for run in select(
        load("reads_time_large")["time"]["runs"],
        workload=["present", "ycsb_c"])) - 1
    build, = filter_times(load("filter_bench"), "build/strings",
                          "time_per_key", "100000")["blocked_bloom_10"]
    times = medians(load("leveldb_bench"), "lookup/(.+)/(.+)",
                    "time_per_lookup")
    slower = min(time / times["leveldb_bloom", size]
                 for (name, size), time in times.items()
                 if name != "leveldb_bloom")
    yield table(["you have", "take", "reason"], [
        ["RocksDB, and one cache for data and filters", "`rowbloom:auto`",
         f"{means['compact_auto']:.2f} reads of an operation, mean of "
         f"{len(phases['compact_auto'])} workloads; the best of RocksDB's "
         f"Bloom and Ribbon with 6 and 10 bits, `{rival}`, has "
         f"{means[rival]:.2f} ([phases](#filters-that-follow-the-gets))"],
        ["RocksDB, and all filters in memory",
         "`compact` with a budget and its [listener](#trees-that-grow)",
         f"{budget} wasted reads of 1,000 absent gets; Ribbon of the same "
         f"memory {ribbon}, Bloom {bloom} "
         "([reads](#wasted-reads-in-a-rocksdb-tree))"],
        ["files that stock RocksDB must read", "composed mode",
         f"{composed} such reads"],
        ["gets that find their key, and a cache of a tenth of the data",
         "RocksDB's Bloom", f"no filter here is more than {gain:.0%} faster "
         "([time](#time-of-gets-in-one-memory))"],
        ["a processor that is busy with flushes", "`blocked_bloom`",
         f"a build takes {build} times the time of Bloom, at its rate "
         "([filters](#filters-beside-rocksdbs))"],
        ["LevelDB, and its data in memory", "LevelDB's own Bloom",
         f"a lookup takes rowbloom {slower:.0f} times as long or more "
         "([LevelDB](leveldb.md#when-it-pays))"]])


def source(names):
    """The program that wrote these results, and the word behind it."""
    words = re.match(r"[\w./]+( [a-z]\w*)?", machine_of(names[0])["command"])[0]
    links = ", ".join(f"[all tables](../bench/results/{name}.md)"
                      for name in names)
    return f"`{words}` ({links})."


def page():
    title, *parts = head()
    parts.insert(0, f"{LICENSE}\n{title}")
    for title, names, write in SECTIONS:
        *blocks, last = write(*map(load, names))
        gap = "\n\n" if last.startswith("|") else "\n"
        parts += [f"## {title}", *blocks,
                  last + gap + source(names)]
    return "\n\n".join(parts) + "\n"
