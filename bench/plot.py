#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a benchmark's JSON results as SVG. Needs Python and nothing else.

    python3 bench/plot.py point_get build/release/point_get.json \\
        -o docs/images/point_get.svg

A new kind of plot is a subclass of Plot in PLOTS.
"""

import argparse
import json
import math
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

    def text(self, x, y, words, size=12, color=INK, anchor="start",
             weight="normal"):
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
            f'fill="{color}" text-anchor="{anchor}" '
            f'font-weight="{weight}">{escape(words)}</text>')

    def __str__(self):
        return "\n".join(self.parts + ["</svg>", ""])


class LogAxis:
    """Maps values to heights; whole decades, smallest at the bottom."""

    def __init__(self, values, bottom, top):
        positive = [value for value in values if value > 0] or [1]
        self.first = math.floor(math.log10(min(positive)))
        self.last = max(math.ceil(math.log10(max(positive))), self.first + 1)
        self.bottom, self.top = bottom, top

    def y(self, value):
        if value <= 0:
            return self.bottom
        share = (math.log10(value) - self.first) / (self.last - self.first)
        return self.bottom - max(share, 0) * (self.bottom - self.top)

    def ticks(self):
        return [10.0**e for e in range(self.first, self.last + 1)]


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
    """Data-block reads per get, by query and policy."""

    help = "data-block reads per get, from point_get_bench --json"

    POLICIES = [  # Name in the JSON, label, color.
        ("none", "no filter", "#afb8c1"),
        ("rocksdb_bloom", "RocksDB Bloom", "#7fb2e5"),
        ("rocksdb_ribbon", "RocksDB Ribbon", "#2f6fb0"),
        ("rowbloom_row", "rowbloom ROW", "#f2a65a"),
        ("rowbloom_rowcol", "rowbloom ROWCOL", "#c8501e"),
    ]
    QUERIES = [  # Name in the JSON, label, explanation.
        ("absent_row", "absent row", "needs 0 reads"),
        ("absent_column", "absent column of a row", "needs 0 reads"),
        ("present_cell", "present cell", "needs 1 read"),
    ]

    @staticmethod
    def add_arguments(parser):
        parser.add_argument("--mix", default="uniform",
                            choices=["uniform", "zipf"])
        parser.add_argument("--sizing", default="equal_bits_per_key",
                            choices=["equal_bits_per_key",
                                     "equal_filter_bytes"])
        parser.add_argument("--bits_per_key", type=float,
                            help="of several in the file (default: the first)")

    @classmethod
    def draw(cls, results, args):
        bits = args.bits_per_key or results["options"]["bits_per_key"][0]
        runs = {(run["query"], run["policy"]): run for run in results["runs"]
                if run["mix"] == args.mix and run["sizing"] == args.sizing
                and run["compared_at_bits_per_key"] == bits}
        if not runs:
            raise ValueError("no run of that mix, sizing and bits per key")
        policies = [policy for policy in cls.POLICIES
                    if any(key[1] == policy[0] for key in runs)]

        title = "Data-block reads per point get"
        svg = Svg(920, 480, title)
        left, right, top, bottom = 64, 900, 116, 420
        axis = LogAxis([run["data_reads_per_get"] for run in runs.values()],
                       bottom, top)
        svg.text(left, 32, title, size=18, weight="bold")
        svg.text(left, 53, cls.subtitle(results, args, bits), color=FAINT)
        cls.draw_legend(svg, left, 78, policies, runs)
        cls.draw_axis(svg, axis, left, right)

        group_width = (right - left) / len(cls.QUERIES)
        for number, (query, label, needs) in enumerate(cls.QUERIES):
            start = left + number * group_width
            cls.draw_group(svg, axis, start, group_width,
                           [(color, runs.get((query, name)))
                            for name, _, color in policies])
            middle = start + group_width / 2
            svg.text(middle, bottom + 22, label, size=14, anchor="middle",
                     weight="bold")
            svg.text(middle, bottom + 40, needs, color=FAINT, anchor="middle")
        return str(svg)

    @staticmethod
    def subtitle(results, args, bits):
        tree = results["tree"]
        sizing = (f"{bits:g} bits per filter key"
                  if args.sizing == "equal_bits_per_key" else
                  f"filter bytes of RocksDB Bloom at {bits:g} bits per key")
        return (f"RocksDB {results['machine']['rocksdb_version']}, "
                f"{tree['rows']:,} rows, {tree['cells']:,} cells in "
                f"{len(tree['levels'])} levels; {sizing}; {args.mix} mix, "
                "no data cached. Log scale, less is better.")

    @staticmethod
    def draw_legend(svg, left, y, policies, runs):
        width = (svg.width - left - 20) / len(policies)
        for number, (name, label, color) in enumerate(policies):
            x = left + number * width
            size = next(run["filter_bytes"] for (_, policy), run in
                        runs.items() if policy == name)
            svg.rect(x, y - 10, 12, 12, color)
            svg.text(x + 18, y, label, size=12.5)
            svg.text(x + 18, y + 15,
                     f"filters: {short_number(size / 1e6)} MB", size=11,
                     color=FAINT)

    @staticmethod
    def draw_axis(svg, axis, left, right):
        for tick in axis.ticks():
            y = axis.y(tick)
            svg.line(left, y, right, y, GRID if tick != 1 else FAINT,
                     dash="" if tick != 1 else "3 3")
            svg.text(left - 8, y + 4, f"{tick:g}", color=FAINT, anchor="end")
        svg.line(left, axis.bottom, right, axis.bottom, INK)

    @staticmethod
    def draw_group(svg, axis, start, width, bars):
        gap = 18
        bar_width = (width - 2 * gap) / len(bars)
        for number, (color, run) in enumerate(bars):
            if run is None:
                continue
            reads = run["data_reads_per_get"]
            x = start + gap + number * bar_width
            y = axis.y(reads)
            svg.rect(x + 2, y, bar_width - 4, axis.bottom - y, color)
            svg.text(x + bar_width / 2, y - 5, short_number(reads), size=11.5,
                     anchor="middle")


PLOTS = {"point_get": PointGet}


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
