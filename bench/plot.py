#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a benchmark's JSON results as SVG. Needs Python and nothing else.

    python3 bench/plot.py point_get build/demo/point_get.json \\
        -o docs/images/point_get.svg

A new kind of plot is a subclass of Plot in PLOTS.
"""

import argparse
import json
import math
import re
import sys
from xml.sax.saxutils import escape

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
INK = "#24292f"
FAINT = "#6e7781"
GRID = "#e3e6ea"


class Svg:
    """Collects the elements of one drawing on a white background."""

    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{height}" viewBox="0 0 {width} {height}" role="img" '
            f'font-family="{FONT}">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        ]

    def rect(self, x, y, width, height, fill):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{height:.1f}" fill="{fill}"/>')

    def line(self, x1, y1, x2, y2, color, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{color}"{dashes}/>')

    def polyline(self, points, color, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{places}" fill="none" '
                          f'stroke="{color}" stroke-width="1.6"{dashes}/>')

    def circle(self, x, y, radius, fill):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" '
                          f'fill="{fill}"/>')

    def text(self, x, y, words, size=12, color=INK, anchor="start",
             weight="normal"):
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
            f'fill="{color}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{escape(words)}</text>')

    def __str__(self):
        return "\n".join(self.parts + ["</svg>", ""])


class LogAxis:
    """Maps values to places from `start`, the smallest, to `end`; whole
    decades."""

    def __init__(self, values, start, end):
        positive = [value for value in values if value > 0] or [1]
        self.first = math.floor(math.log10(min(positive)))
        self.last = max(math.ceil(math.log10(max(positive))), self.first + 1)
        self.start, self.end = start, end

    def at(self, value):
        if value <= 0:
            return self.start
        share = (math.log10(value) - self.first) / (self.last - self.first)
        return self.start + max(share, 0) * (self.end - self.start)

    def ticks(self):
        return [10.0**e for e in range(self.first, self.last + 1)]


class LinearAxis:
    """The same from 1 below the smallest value to 1 above the largest."""

    def __init__(self, values, start, end):
        self.first = math.floor(min(values)) - 1
        self.last = math.ceil(max(values)) + 1
        self.start, self.end = start, end

    def at(self, value):
        share = (value - self.first) / (self.last - self.first)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        return list(range(self.first, self.last + 1))


class ZeroAxis:
    """The same from 0 to the largest value."""

    def __init__(self, largest, start, end):
        self.largest, self.start, self.end = largest, start, end

    def at(self, value):
        return self.start + value / self.largest * (self.end - self.start)

    def ticks(self):
        return [self.largest * i / 5 for i in range(6)]


def short_number(value):
    """Three significant digits without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}"


class Plot:
    """One kind of plot. Subclasses say what they need and draw it."""

    help = ""

    @staticmethod
    def add_arguments(parser):
        pass

    @staticmethod
    def draw(results, args):
        raise NotImplementedError


class PointGet(Plot):
    """Wasted data-block reads by query and policy, and the filters that
    equal reads need."""

    help = "wasted data-block reads, from point_get_bench --json"

    POLICIES = [  # Name in the JSON, label, color.
        ("none", "no filter", "#afb8c1"),
        ("rocksdb_bloom", "RocksDB Bloom", "#7fb2e5"),
        ("rocksdb_ribbon", "RocksDB Ribbon", "#2f6fb0"),
        ("rowbloom_row", "rowbloom ROW", "#f4d03f"),
        ("rowbloom_rowcol", "rowbloom ROWCOL", "#f2a65a"),
        ("rowbloom_rowcol_fast", "rowbloom ROWCOL, fast", "#c8501e"),
        ("rowbloom_rowcol_compact", "rowbloom ROWCOL, compact", "#7d2a0c"),
    ]
    QUERIES = [  # Name in the JSON, label, explanation.
        ("absent_row", "absent row", "needs 0 reads"),
        ("absent_column", "absent column of a row", "needs 0 reads"),
        ("present_cell", "present cell", "needs 1 read"),
    ]
    SIZINGS = {
        "equal_filter_bytes": "{:g} bits per filter key",
        "equal_bits_per_key": "{:g} bits asked per filter key",
        "equal_fpr": "the rate of RocksDB Bloom of {:g} bits per key",
    }
    # Their rates are not those of the others for all queries.
    NOT_EQUAL = ["none", "rowbloom_row"]
    LEFT, MIDDLE, RIGHT, TOP, BOTTOM = 64, 690, 980, 146, 450

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--mix", default="uniform",
                            choices=["uniform", "zipf"])
        parser.add_argument("--sizing", choices=PointGet.SIZINGS,
                            help="default: the first that there is")
        parser.add_argument("--bits_per_key", type=float,
                            help="of several in the file (default: the first)")

    @classmethod
    def draw(cls, results, args):
        bits = args.bits_per_key or results["options"]["bits_per_key"][0]
        sizings = [args.sizing] if args.sizing else list(cls.SIZINGS)
        runs = {}
        for sizing in sizings:
            runs = cls.runs_of(results, args.mix, sizing, bits)
            if runs:
                break
        else:
            raise ValueError("no run of that mix, sizing and bits per key")
        policies = [policy for policy in cls.POLICIES
                    if any(key[1] == policy[0] for key in runs)]

        title = "Wasted data-block reads per 1,000 point gets"
        svg = Svg(1000, 510, title)
        svg.text(cls.LEFT, 32, title, size=18, weight="bold")
        means = cls.SIZINGS[sizing].format(bits)
        svg.text(cls.LEFT, 53, cls.subtitle(results, args.mix, means),
                 color=FAINT)
        cls.draw_legend(svg, policies, runs)
        cls.draw_queries(svg, policies, runs)
        equal_reads = cls.runs_of(results, args.mix, "equal_fpr", bits)
        if equal_reads:
            cls.draw_sizes(svg, equal_reads)
        return str(svg)

    @staticmethod
    def runs_of(results, mix, sizing, bits):
        return {(run["query"], run["policy"]): run for run in results["runs"]
                if run["mix"] == mix and run["sizing"] == sizing
                and run["compared_at_bits_per_key"] == bits}

    @staticmethod
    def subtitle(results, mix, means):
        tree = results["tree"]
        return (f"RocksDB {results['machine']['rocksdb_version']}, "
                f"{tree['rows']:,} rows, {tree['cells']:,} cells in "
                f"{len(tree['levels'])} levels; {means}; {mix} mix, "
                "no data cached. Log scale, less is better.")

    @classmethod
    def draw_legend(cls, svg, policies, runs):
        columns = 4
        width = (svg.width - cls.LEFT - 20) / columns
        for number, (name, label, color) in enumerate(policies):
            x = cls.LEFT + number % columns * width
            y = 78 + number // columns * 22
            size = next(run["filter_bytes"] for (_, policy), run in
                        runs.items() if policy == name)
            svg.rect(x, y - 10, 12, 12, color)
            svg.text(x + 18, y, f"{label} ({short_number(size / 1e6)} MB)",
                     size=11.5)

    @classmethod
    def draw_queries(cls, svg, policies, runs):
        axis = LogAxis([run["wasted_reads_per_1000_gets"]
                        for run in runs.values()], cls.BOTTOM, cls.TOP)
        for tick in axis.ticks():
            y = axis.at(tick)
            svg.line(cls.LEFT, y, cls.MIDDLE, y, GRID)
            svg.text(cls.LEFT - 8, y + 4, f"{tick:g}", color=FAINT,
                     anchor="end")
        svg.line(cls.LEFT, cls.BOTTOM, cls.MIDDLE, cls.BOTTOM, INK)
        width = (cls.MIDDLE - cls.LEFT) / len(cls.QUERIES)
        for number, (query, label, needs) in enumerate(cls.QUERIES):
            start = cls.LEFT + number * width
            bars = [(color, runs[query, name]["wasted_reads_per_1000_gets"])
                    for name, _, color in policies if (query, name) in runs]
            cls.draw_group(svg, axis, start, width, bars)
            cls.draw_caption(svg, start + width / 2, label, needs)

    @classmethod
    def draw_sizes(cls, svg, runs):
        """Megabytes of filters, where all have RocksDB Bloom's rate."""
        query = cls.QUERIES[0][0]
        bars = [(color, runs[query, name]["filter_bytes"] / 1e6)
                for name, _, color in cls.POLICIES
                if (query, name) in runs and name not in cls.NOT_EQUAL]
        axis = ZeroAxis(max(size for _, size in bars), cls.BOTTOM, cls.TOP)
        start = cls.MIDDLE + 40
        svg.line(start, cls.BOTTOM, cls.RIGHT, cls.BOTTOM, INK)
        cls.draw_group(svg, axis, start, cls.RIGHT - start, bars)
        cls.draw_caption(svg, (start + cls.RIGHT) / 2, "MB at equal reads",
                         "at most RocksDB Bloom's rate; linear")

    @classmethod
    def draw_caption(cls, svg, middle, label, explanation):
        svg.text(middle, cls.BOTTOM + 22, label, size=14, anchor="middle",
                 weight="bold")
        svg.text(middle, cls.BOTTOM + 40, explanation, color=FAINT,
                 anchor="middle")

    @staticmethod
    def draw_group(svg, axis, start, width, bars):
        gap = 8
        bar_width = (width - 2 * gap) / len(bars)
        for number, (color, value) in enumerate(bars):
            x = start + gap + number * bar_width
            y = axis.at(value)
            svg.rect(x + 2, y, bar_width - 4, axis.start - y, color)
            svg.text(x + bar_width / 2, y - 5, short_number(value), size=11,
                     anchor="middle")


class DbBench(PointGet):
    """Processor time of db_bench's benchmarks, in that with RocksDB's Bloom."""

    help = "processor time, from bench/db_bench/db_bench.py --json"

    POLICIES = [  # Name in the JSON, label, color.
        ("rocksdb_bloom", "RocksDB Bloom", "#7fb2e5"),
        ("rocksdb_ribbon", "RocksDB Ribbon", "#2f6fb0"),
        ("rowbloom_blocked_bloom", "rowbloom blocked_bloom", "#f2a65a"),
        ("rowbloom_fast", "rowbloom fast", "#c8501e"),
        ("rowbloom_compact", "rowbloom compact", "#7d2a0c"),
    ]
    BENCHMARKS = ["fillrandom", "readmissing", "readrandom",
                  "multireadrandom"]

    @staticmethod
    def add_arguments(parser):
        pass

    @classmethod
    def draw(cls, results, args):
        runs = {(run["benchmark"], run["policy"]): run
                for run in results["runs"]}
        policies = [policy for policy in cls.POLICIES
                    if ("readmissing", policy[0]) in runs]
        title = "Processor time of db_bench, RocksDB Bloom = 1"
        svg = Svg(1000, 510, title)
        svg.text(cls.LEFT, 32, title, size=18, weight="bold")
        options = results["options"]
        svg.text(cls.LEFT, 53, f"RocksDB "
                 f"{results['machine']['rocksdb_version']}, "
                 f"{options['num']:,} keys in "
                 f"{runs['readmissing', 'rocksdb_bloom']['files']} files, no "
                 "data cached. Less is better.", color=FAINT)
        for place, (name, label, color) in enumerate(policies):
            run = runs["readmissing", name]
            x = cls.LEFT + place % 3 * 305
            y = 78 + place // 3 * 22
            svg.rect(x, y - 10, 12, 12, color)
            svg.text(x + 18, y, f"{label} ({run['bits_per_key']:.2f} bits a "
                     f"key, {100 * run['fpr']:.2f}%)", size=11.5)
        groups = {benchmark: [(color, runs[benchmark, name]["cpu_to_bloom"])
                              for name, _, color in policies]
                  for benchmark in cls.BENCHMARKS}
        axis = ZeroAxis(max(value for bars in groups.values()
                            for _, value in bars), cls.BOTTOM, cls.TOP)
        width = (cls.RIGHT - cls.LEFT) / len(groups)
        svg.line(cls.LEFT, cls.BOTTOM, cls.RIGHT, cls.BOTTOM, INK)
        for place, (benchmark, bars) in enumerate(groups.items()):
            start = cls.LEFT + place * width
            cls.draw_group(svg, axis, start, width, bars)
            bloom = runs[benchmark, "rocksdb_bloom"]
            cls.draw_caption(svg, start + width / 2, benchmark,
                             f"Bloom: {bloom['cpu_us']:.1f} us an operation")
        return str(svg)


class FilterPlot(Plot):
    """Lines over what filter_bench left by --benchmark_out."""

    ROCKSDB_COLORS = ["#7fb2e5", "#2f6fb0", "#123a66", "#5b8db8"]
    ROWBLOOM_COLORS = ["#f2a65a", "#c8501e", "#7d2a0c", "#d9a400", "#8a6fb3",
                       "#4f9d69", "#a33b6a", "#6b705c"]
    LEFT, RIGHT, TOP, BOTTOM = 64, 660, 84, 420

    @classmethod
    def draw_lines(cls, title, subtitle, x_axis, y_axis, labels, lines):
        """`lines`: name -> [(x, y), ...]; `labels`: of the axes."""
        svg = Svg(920, 480, title)
        svg.text(cls.LEFT, 32, title, size=18, weight="bold")
        svg.text(cls.LEFT, 53, subtitle, color=FAINT)
        for tick in y_axis.ticks():
            y = y_axis.at(tick)
            svg.line(cls.LEFT, y, cls.RIGHT, y, GRID)
            svg.text(cls.LEFT - 8, y + 4, f"{tick:g}", color=FAINT,
                     anchor="end")
        for tick in x_axis.ticks():
            x = x_axis.at(tick)
            svg.line(x, cls.BOTTOM, x, cls.TOP, GRID)
            svg.text(x, cls.BOTTOM + 18, f"{tick:,.0f}", color=FAINT,
                     anchor="middle")
        svg.line(cls.LEFT, cls.BOTTOM, cls.RIGHT, cls.BOTTOM, INK)
        svg.text((cls.LEFT + cls.RIGHT) / 2, cls.BOTTOM + 40, labels[0],
                 anchor="middle")
        svg.text(cls.LEFT, cls.TOP - 10, labels[1], color=FAINT)
        colors = {True: list(cls.ROCKSDB_COLORS),
                  False: list(cls.ROWBLOOM_COLORS)}
        for number, (name, points) in enumerate(lines.items()):
            palette = colors[name.startswith("rocksdb_")]
            color = palette[0]
            palette.append(palette.pop(0))
            places = [(x_axis.at(x), y_axis.at(y)) for x, y in points]
            svg.polyline(places, color)
            for x, y in places:
                svg.circle(x, y, 3.2, color)
            y = cls.TOP + 10 + 22 * number
            svg.rect(cls.RIGHT + 20, y - 10, 12, 12, color)
            svg.text(cls.RIGHT + 38, y, name, size=12.5)
        return svg

    @staticmethod
    def library(results):
        return "RocksDB " + results["context"]["rocksdb_version"]

    @staticmethod
    def values(results, prefix, counter):
        """(filter, keys) -> counter of the benchmarks PREFIX/FILTER/KEYS: the
        median if there were repetitions."""
        values = {}
        for run in results["benchmarks"]:
            match = re.match(prefix + r"/([^/]+)/(\d+)(/|$)", run["run_name"])
            if match and run.get("aggregate_name", "median") == "median":
                # The medians come after what they are taken from.
                values[match[1], int(match[2])] = run[counter]
        if not values:
            raise ValueError(f"no benchmark {prefix}/FILTER/KEYS")
        return values

    @classmethod
    def draw_by_size(cls, title, results, prefix, counter, y_label):
        """A line for each filter: nanoseconds by the number of keys."""
        lines = {}
        for (name, keys), seconds in cls.values(results, prefix,
                                                counter).items():
            lines.setdefault(name, []).append((keys, 1e9 * seconds))
        points = [point for line in lines.values() for point in line]
        svg = cls.draw_lines(
            title, cls.library(results) + ". Log scales, less is better.",
            LogAxis([n for n, _ in points], cls.LEFT, cls.RIGHT),
            LogAxis([time for _, time in points], cls.BOTTOM, cls.TOP),
            ("keys of a filter", y_label),
            {name: sorted(line) for name, line in sorted(lines.items())})
        return str(svg)

    @staticmethod
    def add_form_argument(parser):
        parser.add_argument("--form", default="digests",
                            choices=["digests", "strings"])


class FilterRate(FilterPlot):
    """False positive rate by bits per key, and how low it could be."""

    help = "rate by bits per key, from filter_bench --benchmark_out"

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--keys", type=int,
                            help="keys of a filter (default: the most)")

    @classmethod
    def draw(cls, results, args):
        rates = cls.values(results, "rate", "fpr")
        bits = cls.values(results, "rate", "bits_per_key")
        keys = args.keys or max(n for _, n in rates)
        lines = {}  # A family's points belong together.
        for (name, n), rate in rates.items():
            if n == keys and rate > 0:
                lines.setdefault(name[:name.rindex("_")], []).append(
                    (bits[name, n], rate))
        points = [point for line in lines.values() for point in line]
        if not points:
            raise ValueError("no run of so many keys")
        x_axis = LinearAxis([bits for bits, _ in points], cls.LEFT, cls.RIGHT)
        y_axis = LogAxis([rate for _, rate in points], cls.BOTTOM, cls.TOP)
        svg = cls.draw_lines(
            f"False positive rate, {keys:,} keys",
            cls.library(results) + ". Log scale; left and low is better.",
            x_axis, y_axis, ("bits per key, all stored bytes", "rate"),
            {name: sorted(line) for name, line in lines.items()})
        cls.draw_limit(svg, x_axis, y_axis)
        return str(svg)

    @classmethod
    def draw_limit(cls, svg, x_axis, y_axis):
        """2^-bits, which no filter can be below: straight on this scale."""
        # Where it leaves the plot on the left or above, and below.
        first = max(x_axis.first, -math.log2(10.0**y_axis.last))
        last = min(x_axis.last, -math.log2(10.0**y_axis.first))
        svg.polyline([(x_axis.at(bits), y_axis.at(2.0**-bits))
                      for bits in (first, last)], INK, dash="5 4")
        y = cls.BOTTOM - 4
        svg.line(cls.RIGHT + 20, y - 4, cls.RIGHT + 32, y - 4, INK,
                 dash="5 4")
        svg.text(cls.RIGHT + 38, y, "information limit", size=12.5)


class FilterLookup(FilterPlot):
    """Nanoseconds of a lookup by the size of the filter."""

    help = "lookups by size, from filter_bench --benchmark_out"

    @classmethod
    def add_arguments(cls, parser):
        cls.add_form_argument(parser)
        parser.add_argument("--lookup", default="absent",
                            choices=["absent", "present", "dependent",
                                     "batch"])

    @classmethod
    def draw(cls, results, args):
        return cls.draw_by_size(
            f"Lookups: {args.lookup}, {args.form}", results,
            f"lookup/{args.lookup}/{args.form}", "time_per_lookup",
            "ns per lookup")


class FilterBuild(FilterPlot):
    """Nanoseconds of a build by the size of the filter."""

    help = "builds by size, from filter_bench --benchmark_out"

    @classmethod
    def add_arguments(cls, parser):
        cls.add_form_argument(parser)

    @classmethod
    def draw(cls, results, args):
        return cls.draw_by_size(f"Builds from {args.form}", results,
                                f"build/{args.form}", "time_per_key",
                                "ns per key")


class CacheHitRate(FilterPlot):
    """Hit rates of hot chunks by the size of the cache."""

    help = "hit rates by cache size, from cache_bench --json"

    LINES = [  # Label, policy, with sweeps.
        ("segmented LRU, no sweeps", "segmented_lru", False),
        ("segmented LRU, sweeps", "segmented_lru", True),
        ("plain LRU, no sweeps", "plain_lru", False),
        ("plain LRU, sweeps", "plain_lru", True),
    ]

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--zipf", type=float, default=0.99)
        parser.add_argument("--sweep_chunks", type=int, default=1000)
        parser.add_argument("--sweep_percent", type=float, default=50)

    @classmethod
    def draw(cls, results, args):
        runs = [run for run in results["hit_rates"]
                if run["zipf"] == args.zipf]
        sweeps = {False: (0, 0),
                  True: (args.sweep_chunks, args.sweep_percent)}
        lines = {"best fixed content": sorted(
            {(run["cache_percent"], 100 * run["best_fixed_hit_rate"])
             for run in runs})}
        for label, policy, swept in cls.LINES:
            lines[label] = sorted(
                (run["cache_percent"], 100 * run["hot_hit_rate"])
                for run in runs if run["policy"] == policy and
                (run["sweep_chunks"], run["sweep_percent"]) == sweeps[swept])
        if not all(lines.values()):
            raise ValueError("no such runs")
        svg = cls.draw_lines(
            f"Hits of hot chunks, Zipf {args.zipf:g}",
            f"Sweeps over cold files of {args.sweep_chunks:,} chunks, "
            f"{args.sweep_percent:g}% of all accesses. More is better.",
            LogAxis([1, 100], cls.LEFT, cls.RIGHT),
            ZeroAxis(100, cls.BOTTOM, cls.TOP),
            (f"cache, % of the {results['options']['hot_chunks']:,} hot chunks",
             "hits, %"), lines)
        return str(svg)


class ReaderPrecision(FilterPlot):
    """Reads wasted, and made to load filters, by the memory of filters."""

    help = "wasted reads by resident bits, from reader_bench --json"

    LINES = [  # Label, policy.
        ("computed optimum", "optimum"),
        ("as many columns as pay", "late_bound"),
        ("whole chunks, always loaded", "whole_always"),
        ("whole chunks, kept", "whole_kept"),
    ]

    @classmethod
    def draw(cls, results, args):
        precision = results["precision"]
        lines = {}
        for label, policy in cls.LINES:
            lines[label] = sorted(
                (run["resident_bits_per_key"],
                 run["wasted_reads_per_1000_gets"] +
                 run.get("filter_reads_per_1000_gets", 0))
                for run in precision["runs"] if run["policy"] == policy)
        points = [point for line in lines.values() for point in line]
        svg = cls.draw_lines(
            f"Reads of absent rows, {sum(precision['level_keys']):,} keys",
            f"{precision['stored_bits_per_key']:.1f} bits per key are stored. "
            "Log scale; left and low is better.",
            LinearAxis([bits for bits, _ in points], cls.LEFT, cls.RIGHT),
            LogAxis([reads for _, reads in points], cls.BOTTOM, cls.TOP),
            ("bits per key in memory, overheads included",
             "wasted reads and loads of filters, for each 1000 gets"), lines)
        return str(svg)


class ReaderHarm(FilterPlot):
    """Bytes read with filters / without, by the size of the cache."""

    help = "bytes read with filters / without, from reader_bench --json"

    LINES = [  # Label, workload, loading.
        ("absent rows", "absent", "when_it_pays"),
        ("half of them absent", "half", "when_it_pays"),
        ("sweeps, 1024 a chunk", "sweep_1024", "when_it_pays"),
        ("sweeps, 64 a chunk", "sweep_64", "when_it_pays"),
        ("sweeps, 16 a chunk", "sweep_16", "when_it_pays"),
        ("half absent, always load", "half", "always"),
    ]

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--policy", default="blocked_bloom:bits_per_key=10")

    @classmethod
    def draw(cls, results, args):
        lines = {}
        for label, workload, loading in cls.LINES:
            lines[label] = sorted(
                (run["cache_percent"], run["ratio"])
                for run in results["harm"]["runs"]
                if (run["policy"], run["workload"], run["loading"]) ==
                (args.policy, workload, loading))
        points = [point for line in lines.values() for point in line]
        if not points:
            raise ValueError("no such runs")
        svg = cls.draw_lines(
            "Bytes read with filters / without", args.policy +
            ". Log scale; above 1, filters do harm.",
            ZeroAxis(max(percent for percent, _ in points), cls.LEFT,
                     cls.RIGHT),
            LogAxis([ratio for _, ratio in points], cls.BOTTOM, cls.TOP),
            ("cache, % of the bytes of all filters",
             "bytes read, loads of filters included"), lines)
        return str(svg)


class TreeShapes(FilterPlot):
    """Wasted reads by the size of the tree."""

    help = "wasted reads by the size of the tree, from tree_sim --json"

    LINES = [  # Label, filter, by run.
        ("rocksdb_bloom, the same bits everywhere", "rocksdb_bloom", False),
        ("rocksdb_bloom by run", "rocksdb_bloom", True),
        ("rocksdb_ribbon by run", "rocksdb_ribbon", True),
        ("compact, the same bits", "compact", False),
        ("fast by run", "fast", True),
        ("compact by run", "compact", True),
    ]

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--tree", default="leveled",
                            choices=["leveled", "lazy_leveled", "tiered"])
        parser.add_argument("--missing_share", type=float, default=1,
                            choices=[0, 0.5, 1])
        parser.add_argument("--bits_per_key", type=float, default=10)

    @classmethod
    def draw(cls, results, args):
        rows = [row for row in results["shapes"]["rows"]
                if (row["tree"], row["missing_share"], row["bits_per_key"]) ==
                (args.tree, args.missing_share, args.bits_per_key)]
        if not rows:
            raise ValueError("no such trees")
        lines = {}
        for label, name, by_run in cls.LINES:
            lines[label] = sorted(
                (row["data_bytes"] / 1e9, run["wasted_reads_per_1000_gets"])
                for row in rows for run in row["filters"]
                if (run["filter"], run["by_run"]) == (name, by_run))
        points = [point for line in lines.values() for point in line]
        absent = f"{100 * args.missing_share:g}% of gets are of absent keys"
        svg = cls.draw_lines(
            f"Wasted reads of 1,000 gets, {args.tree} trees",
            f"Filters of {args.bits_per_key:g} bits per key; {absent}. "
            "Log scales, less is better.",
            LogAxis([size for size, _ in points], cls.LEFT, cls.RIGHT),
            LogAxis([reads for _, reads in points], cls.BOTTOM, cls.TOP),
            ("data, GB", "wasted data-block reads"), lines)
        return str(svg)


class BudgetMemory(FilterPlot):
    """Wasted reads by bits per key, a line for each policy."""

    help = "wasted reads by bits per key, from budget_bench --json"

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--missing_share", type=float, default=1,
                            choices=[0, 0.5, 1])

    @classmethod
    def draw(cls, results, args):
        memory = results["memory"]
        lines = {}
        for run in memory["runs"]:
            # Where gets miss it reads a block of the oldest run for each.
            hits_only = run["policy"].endswith("hits_only")
            if (run["missing_share"] == args.missing_share
                    and run["wasted_reads_per_1000_gets"] > 0
                    and not (hits_only and args.missing_share > 0)):
                lines.setdefault(run["policy"], []).append(
                    (run["bits_per_key"], run["wasted_reads_per_1000_gets"]))
        points = [point for line in lines.values() for point in line]
        if not points:
            raise ValueError("no such runs")
        keys = sum(level["keys"] for level in memory["levels"])
        absent = f"{100 * args.missing_share:g}% of gets are of absent keys"
        return str(cls.draw_lines(
            "Data blocks read for nothing, by the memory of filters",
            f"RocksDB {results['machine']['rocksdb_version']}, {keys:,} keys "
            f"in {len(memory['levels'])} levels; {absent}, no data cached. "
            "Left and low is better.",
            ZeroAxis(5 * math.ceil(max(bits for bits, _ in points) / 5),
                     cls.LEFT, cls.RIGHT),
            LogAxis([reads for _, reads in points], cls.BOTTOM, cls.TOP),
            ("bits per key, of all live files",
             "wasted data-block reads of 1,000 gets, log scale"),
            {name: sorted(line) for name, line in lines.items()}))


class BudgetLevels(PointGet):
    """Wasted reads of each level, a group of bars for each policy."""

    help = "wasted reads by level, from budget_bench --json"

    COLORS = ["#7fb2e5", "#2f6fb0", "#f2a65a", "#7d2a0c", "#8a6fb3", "#4f9d69",
              "#a33b6a", "#6b705c"]
    POLICIES = ["rocksdb_bloom", "rocksdb_ribbon", "composed_ribbon",
                "compact", "fast_budget", "compact_budget"]

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--tree", default="leveled",
                            choices=["leveled", "universal"])
        parser.add_argument("--missing_share", type=float, default=1,
                            choices=[0, 0.5, 1])

    @classmethod
    def draw(cls, results, args):
        tree = next((tree for tree in results["reads"]["trees"]
                     if tree["tree"] == args.tree), None)
        if tree is None:
            raise ValueError("no such tree")
        groups = {
            run["policy"]: run for run in tree["runs"]
            if (run["missing_share"], run["mix"], run["cache_share"]) ==
            (args.missing_share, "uniform", 0)
            and run["policy"] in cls.POLICIES}
        if not groups:
            raise ValueError("no such runs")
        field = "wasted_reads_per_1000_gets_by_level"
        axis = LogAxis([reads for run in groups.values()
                        for reads in run[field].values()], cls.BOTTOM, cls.TOP)
        title = "Data blocks read for nothing of 1,000 gets, by level"
        svg = Svg(1000, 510, title)
        svg.text(cls.LEFT, 32, title, size=18, weight="bold")
        svg.text(cls.LEFT, 53, f"{args.tree} tree; "
                 f"{100 * args.missing_share:g}% of gets are of absent keys, "
                 "no data cached. Log scale, less is better.", color=FAINT)
        for place, level in enumerate(tree["levels"]):
            x = cls.LEFT + place % 4 * 230
            y = 78 + place // 4 * 22
            svg.rect(x, y - 10, 12, 12, cls.COLORS[place % len(cls.COLORS)])
            svg.text(x + 18, y, f"L{level['level']}: {level['keys']:,} keys",
                     size=11.5)
        for tick in axis.ticks():
            y = axis.at(tick)
            svg.line(cls.LEFT, y, cls.RIGHT, y, GRID)
            svg.text(cls.LEFT - 8, y + 4, f"{tick:g}", color=FAINT,
                     anchor="end")
        svg.line(cls.LEFT, cls.BOTTOM, cls.RIGHT, cls.BOTTOM, INK)
        width = (cls.RIGHT - cls.LEFT) / len(groups)
        for place, (policy, run) in enumerate(groups.items()):
            start = cls.LEFT + place * width
            cls.draw_group(svg, axis, start, width, [
                (cls.COLORS[number % len(cls.COLORS)], reads)
                for number, reads in enumerate(run[field].values())])
            cls.draw_caption(
                svg, start + width / 2, policy,
                f"{run['bits_per_key']:.1f} bits; all levels: "
                f"{short_number(run['wasted_reads_per_1000_gets'])}")
        return str(svg)


class MatrixTrial(FilterPlot):
    """One measure of the matrix filter's trial, by rows or by keys."""

    help = "the matrix filter's trial, from matrix_trial --json"

    # Measure: field, what it is, its unit, factor.
    MEASURES = {
        "absent": ("ns_absent", "Lookups of absent keys", "ns", 1),
        "present": ("ns_present", "Lookups of present keys", "ns", 1),
        "rate": ("observed_fpr", "False positives", "%", 100),
    }

    @classmethod
    def add_arguments(cls, parser):
        parser.add_argument("--measure", default="absent",
                            choices=list(cls.MEASURES))
        parser.add_argument("--by", default="rows", choices=["rows", "keys"])

    @classmethod
    def draw(cls, results, args):
        field, what, unit, factor = cls.MEASURES[args.measure]
        runs = results["by_" + args.by]
        scale = 1000 if args.by == "keys" else 1
        lines = {name: sorted((run[args.by] / scale, factor * run[field])
                              for run in runs if run["filter"] == name)
                 for name in ("split", "2BDBF", "M-BMBF", "even M-BMBF",
                              "matrix")}
        points = [point for line in lines.values() for point in line]
        if not points:
            raise ValueError("no such runs")
        return str(cls.draw_lines(
            what, "Rows of 131,072 bits, 10 probes; M-BMBF of 2 groups. Less "
            "is better.",
            ZeroAxis(max(x for x, _ in points), cls.LEFT, cls.RIGHT),
            ZeroAxis(max(y for _, y in points), cls.BOTTOM, cls.TOP),
            ("rows, all saturated" if args.by == "rows" else
             "thousand keys in 8 rows", f"{what.lower()}, {unit}"), lines))


PLOTS = {"point_get": PointGet, "db_bench": DbBench,
         "filter_rate": FilterRate, "filter_lookup": FilterLookup,
         "filter_build": FilterBuild,
         "cache_hit_rate": CacheHitRate,
         "reader_precision": ReaderPrecision, "reader_harm": ReaderHarm,
         "tree_shapes": TreeShapes,
         "budget_memory": BudgetMemory, "budget_levels": BudgetLevels,
         "matrix_trial": MatrixTrial}


def main():
    parser = argparse.ArgumentParser(
        description="Draws a benchmark's JSON results as SVG.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    for name, plot in PLOTS.items():
        kind = kinds.add_parser(name, help=plot.help)
        kind.add_argument("json", help="the results")
        kind.add_argument("-o", "--output", required=True, help="the SVG file")
        plot.add_arguments(kind)
    args = parser.parse_args()
    try:
        with open(args.json, encoding="utf-8") as file:
            results = json.load(file)
        drawing = PLOTS[args.kind].draw(results, args)
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(drawing)
    except OSError as error:
        sys.exit(f"plot.py: {error}")
    except (KeyError, TypeError, ValueError) as error:
        sys.exit(f"plot.py: {args.json} cannot be drawn: {error!r}")


if __name__ == "__main__":
    main()
