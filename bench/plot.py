#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a benchmark's JSON results as SVG: the same bytes for the same results.

    python3 bench/plot.py rows build/demo/reads_rows.json -o rows.svg

Needs Debian's python3-matplotlib. Exit codes: 0 fine, 1 if the results cannot
be read or drawn, 2 usage. A new kind of plot is a function with @kind.
"""

import argparse
import json
import re
import sys

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from tables import medians

matplotlib.rcParams.update({
    "svg.hashsalt": "rowbloom", "svg.fonttype": "none",  # Text stays text.
    "font.sans-serif": ["DejaVu Sans", "Verdana"], "font.size": 9,
    "axes.prop_cycle": (matplotlib.cycler(marker=["o", "s"]) *
                        matplotlib.rcParams["axes.prop_cycle"]),
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#e3e6ea",
    "axes.titlesize": 10, "axes.titleweight": "bold",
    "figure.constrained_layout.use": True, "lines.markersize": 4,
})
WASTED = "wasted_reads_per_1000_gets"
WASTED_LABEL = "wasted data-block reads per 1,000 gets"
MISSING = [1.0, 0.5, 0.0]  # Choices of --missing_share.
FORMS = ["digests", "strings"]
PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
KINDS = PARSER.add_subparsers(dest="kind", required=True)


def kind(program, **options):
    """Makes a function (results, args) -> Figure a kind of plot. An option is
    its default, or a list of choices that begins with it."""
    def register(draw):
        parser = KINDS.add_parser(
            draw.__name__, help=f"{draw.__doc__}, from {program} --json")
        parser.set_defaults(draw=draw, program=program, options=options)
        parser.add_argument("json", help="the results")
        parser.add_argument("-o", "--output", required=True, help="the SVG")
        for name, value in options.items():
            choices = value if isinstance(value, list) else [value]
            parser.add_argument(
                f"--{name}", default=choices[0], type=type(choices[0]),
                choices=choices if choices is value else None)
        return draw
    return register


def select(runs, args, *fields):
    """The runs in which these fields are as the options of the same name."""
    runs = [run for run in runs
            if all(run[field] == getattr(args, field) for field in fields)]
    if not runs:
        raise LookupError("no such run")
    return runs


def make_logarithmic(axes, name):
    """Labels powers of ten, on a short axis more. Zero is not shown."""
    getattr(axes, f"set_{name}scale")("log", nonpositive="mask")
    axis = getattr(axes, name + "axis")
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=[1] if high > 999 * low else
                                      [1, 2, 5]))
    axis.set_major_formatter("{x:,.10g}")
    axis.set_minor_formatter("")


def draw_lines(title, x_label, y_label, points, logarithmic="y"):
    """`points`: (line, x, y) each; `logarithmic`: "x", "y" or "xy"."""
    figure = Figure(figsize=(10, 4.6))
    axes = figure.subplots()
    for name in dict.fromkeys(point[0] for point in points):
        line = sorted({point[1:] for point in points if point[0] == name})
        style = ["k--"] if name.startswith("limit") else []
        axes.plot(*zip(*line), *style, label=name)
    axes.set(title=title, xlabel=x_label, ylabel=y_label)
    for axis in logarithmic:
        make_logarithmic(axes, axis)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1))  # Beside the plot.
    return figure


def draw_panels(title, labels, panels):
    """Panels (heading, axis title, name -> value) beside one list of `labels`,
    name -> label. A panel has bars from zero or, for values of several
    magnitudes, dots on a logarithmic axis. Each number is printed."""
    figure = Figure(figsize=(10, 1.5 + 0.34 * len(labels)))
    figure.suptitle(title, weight="bold")
    columns = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (heading, label, values) in zip(columns, panels):
        rows = [list(labels).index(name) for name in values]
        ends = list(values.values())
        least, most = min(filter(None, ends), default=0), max(ends)
        if most > 20 * least > 0:
            ends = [end or least / 2 for end in ends]  # 0 is on the left.
            axes.plot(ends, rows, "o", markersize=6)
            axes.set_xlim(least / 3, most * 30)  # With room for a number.
            make_logarithmic(axes, "x")
        else:
            axes.barh(rows, ends)
            axes.set_xlim(0, 1.5 * most or 1)
        for end, row, value in zip(ends, rows, values.values()):
            axes.text(end, row, f"   {value:,.4g}", size=8, va="center")
        axes.set(title=heading, xlabel=label)
    columns[0].set_yticks(range(len(labels)), labels.values())
    columns[0].invert_yaxis()
    return figure


@kind("reads_bench rows", mix=["uniform", "zipf"])
def rows(results, args):
    """wasted data-block reads by policy and query"""
    runs = {}  # Query -> policy -> run.
    for run in select(results["runs"], args, "mix"):
        runs.setdefault(run["query"], {})[run["policy"]] = run
    return draw_panels(
        f"Data blocks read for nothing, {results['tree']['cells']:,} cells",
        {name: f"{name}, {run['filter_bytes'] / 1e6:.3g} MB"
         for name, run in runs["absent_row"].items()},
        [(query, "wasted reads per 1,000 gets",
          {name: run[WASTED] for name, run in policies.items()})
         for query, policies in runs.items()])


@kind("reads_bench time", cache="lru", cache_share=0.02, threads=2,
      workloads="absent,half_absent,ycsb_c,ycsb_c_50_absent")
def time(results, args):
    """throughput and 99th percentile where data and filters share a cache"""
    runs = select(results["time"]["runs"], args, "cache", "cache_share",
                  "threads")
    names = args.workloads.split(",")
    filters = list(dict.fromkeys(run["filter"] for run in runs))
    rows = range(len(filters))
    figure = Figure(figsize=(10, 1.2 + 0.4 * len(filters)))
    figure.suptitle("Gets in RocksDB; data, indexes and filters in one cache "
                    f"of {args.cache_share:.0%} of the data; median and "
                    "quartiles of all rounds", weight="bold")
    panels = figure.subplots(2, len(names), sharey=True, squeeze=False)
    for column, name in enumerate(names):
        chosen = {run["filter"]: run for run in runs if run["workload"] == name}
        for axes, field, label in zip(
                panels[:, column], ["throughput_ratio", "p99_us"],
                ["throughput, Bloom = 1", "p99, microseconds"]):
            values = [chosen[f][field] for f in filters]
            low, high = zip(*(chosen[f][field + "_quartiles"] for f in filters))
            whiskers = [[max(v - l, 0) for v, l in zip(values, low)],
                        [max(h - v, 0) for v, h in zip(values, high)]]
            axes.errorbar(values, rows, xerr=whiskers, fmt="o", capsize=2)
            axes.set(xlabel=label, xlim=(0, 1.15 * max(max(values), max(high))))
            if field == "throughput_ratio":
                axes.set_title(name)
                axes.axvline(1, color="#888888", linewidth=1)
    for axes in panels[:, 0]:
        axes.set_yticks(rows, filters)
    panels[0, 0].invert_yaxis()
    figure.set_figheight(2 + 0.5 * len(filters))
    return figure


@kind("filter_bench", keys="")
def filter_rate(results, args):
    """false positive rate by bits per key, and its limit, default: most keys"""
    rates = medians(results, "rate/(.+)/(.+)", "fpr")
    bits = medians(results, "rate/(.+)/(.+)", "bits_per_key")
    args.keys = args.keys or list(rates)[-1][1]
    points = [(re.sub(r"_[0-9.]+%?$", "", key[0]), bits[key], rate)
              for key, rate in rates.items() if key[1] == args.keys]
    return draw_lines(
        f"False positive rate, {args.keys} keys",
        "bits per key, all stored bytes", "share of absent keys", points +
        [("limit of information", x, 2.0**-x) for _, x, _ in points])


def times(results, pattern, counter):
    return [(name, int(keys), 1e9 * seconds) for (name, keys), seconds in
            medians(results, pattern + "/(.+)/(.+)", counter).items()]


@kind("filter_bench", form=FORMS, lookup=["absent", "dependent", "present",
                                          "batch"])
def filter_lookup(results, args):
    """time of a lookup by the size of the filter"""
    return draw_lines("Lookups", "keys of a filter", "ns per lookup",
                      times(results, f"lookup/{args.lookup}/{args.form}",
                            "time_per_lookup"), "xy")


@kind("filter_bench", form=FORMS)
def filter_build(results, args):
    """time of a build by the size of the filter"""
    return draw_lines("Builds", "keys of a filter", "ns per key",
                      times(results, f"build/{args.form}", "time_per_key"),
                      "xy")


@kind("cache_bench", zipf=0.99, sweep_chunks=1000, sweep_percent=50.0)
def cache_hit_rate(results, args):
    """hit rates of hot chunks by the size of the cache"""
    runs = select(results["hit_rates"], args, "zipf")
    swept = select(runs, args, "sweep_chunks", "sweep_percent")
    return draw_lines(
        "Hits of hot chunks, without and with sweeps over cold files",
        f"cache, % of the {results['options']['hot_chunks']:,} hot chunks",
        "hits, % of accesses to hot chunks",
        [("limit: the best fixed content", run["cache_percent"],
          100 * run["best_fixed_hit_rate"]) for run in swept] +
        [(run["policy"] + ", sweeps" * (run in swept), run["cache_percent"],
          100 * run["hot_hit_rate"]) for run in runs
         if run in swept or not run["sweep_chunks"]], "x")


@kind("reader_bench")
def reader_precision(results, _):
    """wasted reads, and those that load filters, by the memory of filters"""
    precision = results["precision"]
    return draw_lines(
        f"Reads of absent rows, {sum(precision['level_keys']):,} keys",
        f"bits per key in memory, of {precision['stored_bits_per_key']:.1f}",
        "wasted reads and loads of filters per 1,000 gets",
        [(run["policy"], run["resident_bits_per_key"],
          run[WASTED] + run.get("filter_reads_per_1000_gets", 0))
         for run in precision["runs"]])


@kind("reader_bench", policy="blocked_bloom:bits_per_key=10")
def reader_harm(results, args):
    """bytes read with filters / without, by the size of the cache"""
    runs = select(results["harm"]["runs"], args, "policy")
    return draw_lines(
        "Bytes read, loads of filters included",
        "cache, % of the bytes of all filters", "times the bytes of no filters",
        [(run["workload"] + ", always load" * (run["loading"] == "always"),
          run["cache_percent"], run["ratio"]) for run in runs
         if run["loading"] == "when_it_pays" or run["workload"] == "half"] +
        [("limit of harm", run["cache_percent"], 1) for run in runs])


@kind("reads_bench memory", missing_share=MISSING)
def memory(results, args):
    """wasted reads by bits per key"""
    by_memory = results["memory"]
    return draw_lines(
        "Data blocks read for nothing, by the memory of filters, "
        f"{sum(level['keys'] for level in by_memory['levels']):,} keys",
        "bits per key, of all live files", WASTED_LABEL,
        # Where gets miss, hits_only reads a block of the oldest run for each.
        [(run["policy"], run["bits_per_key"], run[WASTED])
         for run in select(by_memory["runs"], args, "missing_share")
         if not (args.missing_share and "hits_only" in run["policy"])])


@kind("reads_bench levels", keys=["events", "words"])
def key_levels(results, args):
    """which questions a filter answers: reads by policy and level of the key"""
    runs = {}  # Level -> policy -> run.
    for run in select(results["runs"], args, "keys"):
        runs.setdefault(run["level_name"], {})[run["policy"]] = run
    key_codec = next(data["key_codec"] for data in results["data"]
                  if data["keys"] == args.keys)
    return draw_panels(
        f"Data blocks read for a prefix that is absent, keys of {key_codec}",
        {name: f"{name}, {run['filter_bytes'] / 1e6:.3g} MB"
         for name, run in next(iter(runs.values())).items()},
        [(f"any {level}?", "reads per question",
          {name: run["data_reads_per_get"] for name, run in policies.items()})
         for level, policies in runs.items()])


def main():
    args = PARSER.parse_args()
    try:
        with open(args.json, encoding="utf-8") as file:
            results = json.load(file)
        figure = args.draw(results, args)
        release = results.get("machine", results.get("context", {})).get(
            "rocksdb_version")
        note = [f"{name} {getattr(args, name)}" for name in args.options]
        figure.supxlabel(", ".join(
            [f"RocksDB {release}"] * bool(release) + note), size=8)
        figure.savefig(args.output, format="svg", metadata={
            "Creator": None, "Date": None, "Format": None, "Type": None})
    except OSError as error:
        sys.exit(f"plot.py: {error.filename}: {error.strerror}")
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        sys.exit(f"plot.py: {args.json} is not JSON of {args.program}, or has "
                 f"no run with these options: {error!r}")


if __name__ == "__main__":
    main()
