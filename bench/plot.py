#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a benchmark's JSON results as SVG: the same bytes for the same results.

    bench/plot.py rows build/demo/reads_rows.json -o rows.svg
    bench/plot.py images   draws docs/images from bench/results

Figures are readable at a phone's width. Needs Debian's python3-matplotlib. Exit
codes: 0 fine, 1 if the results cannot be read or drawn, 2 usage. A new kind of
plot is a function with @kind.
"""

import argparse
import json
import re
import sys
import textwrap

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from performance import mean, phase_reads
from tables import RESULTS, ROOT, medians

matplotlib.rcParams.update({
    "svg.hashsalt": "rowbloom", "svg.fonttype": "none",  # Text stays text.
    "font.sans-serif": ["DejaVu Sans", "Verdana"], "font.size": 9,
    "axes.prop_cycle": (matplotlib.cycler(marker=list("os^Dv<P>Xd")) +
                        matplotlib.rcParams["axes.prop_cycle"]),
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#e3e6ea",
    "axes.titlesize": 10, "axes.titleweight": "bold",
    "figure.constrained_layout.use": True, "lines.markersize": 4,
})
WIDTH = 5  # Inches: 480 pixels.
WASTED = "wasted_reads_per_1000_gets"
WASTED_LABEL = "wasted data-block reads per 1,000 gets"
MISSING = [1.0, 0.5, 0.0]  # Choices of --missing_share.
FORMS = ["digests", "strings"]
PARSER = argparse.ArgumentParser(description=__doc__.splitlines()[0])
# docs/images: name -> the result, then the arguments of its plot.
IMAGES = {
    "wasted_reads": ("reads_keys", "wasted"),
    "auto_mean": ("reads_phases", "phases_mean"),
    "auto_phases": ("reads_phases", "phases"),
    "get_time": ("reads_time", "time", "--workloads",
                 "absent,half_absent,ycsb_c",
                 "--filters", "rocksdb_bloom:6,rocksdb_ribbon:6,"
                 "rocksdb_ribbon:10,composed_auto,compact_auto"),
    "budget_memory": ("reads_memory", "memory"),
    "filter_rate": ("filter_bench", "filter_rate"),
    "key_levels": ("reads_levels", "key_levels"),
    "reader_precision": ("reader_precision", "reader_precision"),
}
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


def new_figure(title, height):
    figure = Figure(figsize=(WIDTH, height))
    figure.suptitle(textwrap.fill(title, 54), weight="bold", size=10)
    leave_room(figure, 0.2)
    return figure


def leave_room(figure, inches):
    """At the bottom, for the legend and the note."""
    share = inches / figure.get_figheight()
    figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))


def add_legend(figure, axes):
    """Below the plot, in two columns."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=2, frameon=False,
                  bbox_to_anchor=(0.5, 0.15 / figure.get_figheight()))
    leave_room(figure, 0.3 + 0.19 * ((len(labels) + 1) // 2))


def draw_lines(title, x_label, y_label, points, logarithmic="y"):
    """`points`: (line, x, y) each; `logarithmic`: "x", "y" or "xy"."""
    names = list(dict.fromkeys(point[0] for point in points))
    figure = new_figure(title, 3.8 + 0.1 * len(names))
    axes = figure.subplots()
    for name in names:
        line = sorted({point[1:] for point in points if point[0] == name})
        style = ["k--"] if name.startswith("limit") else []
        # Single points are hollow: two at one place can both be seen.
        hollow = {"linestyle": "", "markerfacecolor": "none", "markersize": 7}
        axes.plot(*zip(*line), *style, label=name,
                  **hollow if len(line) == 1 and not style else {})
    axes.set(xlabel=x_label, ylabel=y_label)
    for axis in logarithmic:
        make_logarithmic(axes, axis)
    add_legend(figure, axes)
    return figure


def draw_dots(title, label, rows, series):
    """A row for each of `rows`; `series`: name -> values, quartiles or None and
    the style of its dots. The dots of a row lie below one another."""
    has_whiskers = any(quartiles for _, quartiles, _ in series.values())
    step = (0.8 if has_whiskers else 0.6) / len(series)
    height = 0.12 * len(series) if has_whiskers else 0.4
    figure = new_figure(title, 1.8 + height * len(rows))
    axes = figure.subplots()
    for i, (name, (values, quartiles, style)) in enumerate(series.items()):
        places = [row + step * (i - (len(series) - 1) / 2)
                  for row in range(len(rows))]
        whiskers = quartiles and [
            [max(v - low, 0) for v, (low, _) in zip(values, quartiles)],
            [max(high - v, 0) for v, (_, high) in zip(values, quartiles)]]
        axes.errorbar(values, places, xerr=whiskers, linestyle="",
                      capsize=2, label=name, clip_on=False, **style)
    axes.set_yticks(range(len(rows)), rows)
    axes.set(xlabel=label, xlim=(0, None), ylim=(len(rows) - 0.5, -0.5))
    add_legend(figure, axes)
    return figure


def draw_panels(title, labels, panels):
    """Panels (heading, axis title, name -> value), one below the other, with
    `labels`, name -> label. A panel has bars from zero or, for values of
    several magnitudes, dots on a logarithmic axis. Each number is printed."""
    figure = new_figure(title, 0.5 + (0.8 + 0.21 * len(labels)) * len(panels))
    for axes, (heading, label, values) in zip(
            figure.subplots(len(panels), squeeze=False)[:, 0], panels):
        rows = [list(labels).index(name) for name in values]
        ends = list(values.values())
        least, most = min(filter(None, ends), default=0), max(ends)
        if most > 40 * least > 0:
            ends = [end or least / 2 for end in ends]  # 0 is on the left.
            axes.plot(ends, rows, "o", markersize=6)
            axes.set_xlim(least / 3, most * 12)  # With room for a number.
            make_logarithmic(axes, "x")
        else:
            axes.barh(rows, ends)
            axes.set_xlim(0, 1.2 * most or 1)
        for end, row, value in zip(ends, rows, values.values()):
            axes.annotate(f"{value:,.3g}" if value < 1000 else f"{value:,.0f}",
                          (end, row), (6, 0), textcoords="offset points",
                          size=8, va="center")
        axes.set(title=heading, xlabel=label, ylim=(len(labels) - 0.4, -0.6))
        axes.set_yticks(range(len(labels)), labels.values())
    return figure


@kind("reads_bench keys")
def wasted(results, _):
    """wasted data-block reads of absent keys, the few filters that matter"""
    runs = {run["policy"]: run[WASTED]
            for tree in results["reads"]["trees"] if tree["tree"] == "leveled"
            for run in tree["runs"] if run["mix"] == "uniform"
            and run["missing_share"] == 1 and not run["cache_share"]}
    names = {name: label for name, label in {
        "rocksdb_bloom": "RocksDB Bloom", "rocksdb_ribbon": "RocksDB Ribbon",
        "compact": "rowbloom:10", "compact_budget": "rowbloom, budget",
    }.items() if name in runs}
    figure = draw_panels(
        "Wasted reads of 1,000 gets of absent keys",
        names, [("", "10 bits per key; without a filter "
                 f"{runs['none']:,.0f} blocks",
                 {name: runs[name] for name in names})])
    color_ours(figure, names)
    return figure


def color_ours(figure, names):
    for bar, name in zip(figure.axes[0].patches, names):
        bar.set_color("#9aa5b1" if name.startswith("rocksdb") else "#1f77b4")


@kind("reads_bench phases")
def phases_mean(results, _):
    """reads of an operation on average, `auto` beside RocksDB's filters"""
    reads = phase_reads(results)
    names = {name: label for name, label in {
        "rocksdb_bloom:10": "Bloom, 10 bits",
        "rocksdb_bloom:6": "Bloom, 6 bits",
        "rocksdb_ribbon:10": "Ribbon, 10 bits",
        "rocksdb_ribbon:6": "Ribbon, 6 bits", "compact_auto": "rowbloom:auto",
    }.items() if name in reads}
    figure = draw_panels(
        "Blocks that an operation reads in RocksDB", names,
        [("", f"mean of {len(reads['compact_auto'])} workloads, a cache of 2% "
          "of the data",
          {name: mean(reads[name].values()) for name in names})])
    color_ours(figure, names)
    return figure


@kind("reads_bench phases")
def phases(results, _):
    """reads of an operation by workload, `auto` beside fixed filters"""
    reads = phase_reads(results)
    rows = list(reads["compact_auto"])
    fixed = {name: by_phase for name, by_phase in reads.items()
             if not name.endswith("_auto")}
    best = min(fixed, key=lambda name: mean(fixed[name].values()))
    dots = {"marker": "s", "color": "#666666", "markersize": 5}
    hollow = {"markerfacecolor": "white"}
    series = {
        "RocksDB Bloom, 10 bits": ("rocksdb_bloom:10", dots),
        "RocksDB Bloom, 6 bits": ("rocksdb_bloom:6", {**dots, **hollow}),
        "RocksDB Ribbon, 10 bits": (
            "rocksdb_ribbon:10", {**dots, "marker": "^", "color": "#d62728"}),
        "RocksDB Ribbon, 6 bits": (
            "rocksdb_ribbon:6",
            {**dots, **hollow, "marker": "^", "color": "#d62728"}),
        f"best fixed, {best}": (
            best, {"marker": "|", "color": "black", "markersize": 8}),
        "rowbloom:auto": (
            "compact_auto", {"marker": "o", "color": "#1f77b4",
                             "markersize": 6}),
    }
    return draw_dots(
        "Block reads of an operation; data, filters and indexes share one "
        "cache of 2% of the data", "reads of an operation", rows + ["mean"],
        {label: ([*map(reads[name].get, rows), mean(reads[name].values())],
                 None, style) for label, (name, style) in series.items()
         if name in reads})


@kind("reads_bench rows", mix=["uniform", "zipf"])
def rows(results, args):
    """wasted data-block reads by policy and query"""
    runs = {}  # Query -> policy -> run.
    for run in select(results["runs"], args, "mix"):
        runs.setdefault(run["query"], {})[run["policy"]] = run
    return draw_panels(
        f"Wasted reads, {results['tree']['cells']:,} cells",
        {name: f"{name}, {run['filter_bytes'] / 1e6:.3g} MB"
         for name, run in runs["absent_row"].items()},
        [(query, "wasted reads per 1,000 gets",
          {name: run[WASTED] for name, run in policies.items()})
         for query, policies in runs.items()])


@kind("reads_bench time", cache="lru", cache_share=0.02, threads=2,
      workloads="", filters="")
def time(results, args):
    """throughput where data and filters share a cache; default: of all"""
    runs = {(run["filter"], run["workload"]): run for run in select(
        results["time"]["runs"], args, "cache", "cache_share", "threads")}
    filters, rows = (
        chosen.split(",") if chosen else list(dict.fromkeys(every))
        for chosen, every in zip([args.filters, args.workloads], zip(*runs)))
    figure = draw_dots(
        "Operations a second; data, filters and indexes share one cache of "
        f"{args.cache_share:.0%} of the data",
        "throughput, RocksDB Bloom:10 = 1; median and quartiles",
        rows, {name: ([runs[name, row]["throughput_ratio"] for row in rows],
                      [runs[name, row]["throughput_ratio_quartiles"]
                       for row in rows], {})
               for name in filters})
    figure.axes[0].axvline(1, color="#888888", linewidth=1)
    return figure


@kind("filter_bench", keys="")
def filter_rate(results, args):
    """false positive rate by bits per key, and its limit, default: most keys"""
    rates = medians(results, "rate/(.+)/(.+)", "fpr")
    bits = medians(results, "rate/(.+)/(.+)", "bits_per_key")
    args.keys = args.keys or list(rates)[-1][1]
    points = [(re.sub(r"_[0-9.]+%?$", "", key[0]), bits[key], rate)
              for key, rate in rates.items()
              if key[1] == args.keys and "@" not in key[0]]
    return draw_lines(
        f"False positive rate, {int(args.keys):,} keys",
        "bits per key, all stored bytes", "share of absent keys", points +
        [("limit of information", x, 2.0**-x) for _, x, _ in points])


def times(results, pattern, counter):
    return [(name, int(keys), 1e9 * seconds) for (name, keys), seconds in
            medians(results, pattern + "/(.+)/(.+)", counter).items()
            if "@" not in name]


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
        "wasted reads and loads per 1,000 gets",
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
        "Wasted reads, by the memory of filters, "
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


def draw(arguments):
    args = PARSER.parse_args(arguments)
    try:
        with open(args.json, encoding="utf-8") as file:
            results = json.load(file)
        figure = args.draw(results, args)
        release = results.get("machine", results.get("context", {})).get(
            "rocksdb_version")
        note = [f"{name} {getattr(args, name)}" for name in args.options
                if name not in ("filters", "workloads")]
        figure.text(0.99, 0.05 / figure.get_figheight(), ", ".join(
            [f"RocksDB {release}"] * bool(release) + note), size=7,
                    ha="right", color="#666666")
        figure.savefig(args.output, format="svg", metadata={
            "Creator": None, "Date": None, "Format": None, "Type": None})
    except OSError as error:
        sys.exit(f"plot.py: {error.filename}: {error.strerror}")
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        sys.exit(f"plot.py: {args.json} is not JSON of {args.program}, or has "
                 f"no run with these options: {error!r}")


def main():
    if sys.argv[1:] != ["images"]:
        draw(sys.argv[1:])
        return
    for name, (result, *arguments) in IMAGES.items():
        draw([arguments[0], str(RESULTS / f"{result}.json"), "-o",
              str(ROOT / f"docs/images/{name}.svg"), *arguments[1:]])


if __name__ == "__main__":
    main()
