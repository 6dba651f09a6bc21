#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tree_sim on small trees and checks what it says.

    tree_sim_test.py TREE_SIM PLOT_PY
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

LEVELED = ["leveled_static", "leveled_dynamic"]
MIXED = ["random", "mixed_keys", "mixed_flushes", "ingest_behind",
         "ingest_overlap"]


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=False)


class Results(unittest.TestCase):
    """All of these look at one run of each command."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.shapes = cls.run_sim("shapes", "--bits_per_key", "10")["shapes"]
        cls.grow = cls.run_sim("grow", "--flushes", "1500",
                               "--keys_per_flush", "8")["grow"]

    @classmethod
    def run_sim(cls, command, *args):
        cls.path = os.path.join(cls.directory.name, command + ".json")
        result = run(TREE_SIM, command, *args, "--json", cls.path)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        with open(cls.path, encoding="utf-8") as file:
            return json.load(file)

    def grown(self, trees, inserts):
        rows = [row for row in self.grow["runs"]
                if row["tree"] in trees and row["inserts"] in inserts]
        self.assertEqual(len(rows), 2 * len(trees) * len(inserts))
        return rows

    @staticmethod
    def times_fewer(row, missing_share):
        return next(mix["times_fewer"] for mix in row["mixes"]
                    if mix["missing_share"] == missing_share)

    def test_leveled_trees_keep_the_budget(self):
        for row in self.grown(LEVELED, MIXED):
            with self.subTest(row=row):
                self.assertLess(row["bits_per_key"], 11.0)
                self.assertLess(row["most_bits_per_key"], 12.0)
                self.assertGreater(row["bits_per_key"], 9.5)

    def test_moved_flushes_take_less_than_1_4_of_the_budget(self):
        for row in self.grown(LEVELED, ["append"]):
            with self.subTest(row=row):
                self.assertEqual(row["merges"], 0)
                self.assertGreater(row["moves"], 1000)
                self.assertLess(row["most_bits_per_key"], 14.0)

    def test_a_listener_keeps_the_budget_of_any_tree(self):
        trees = LEVELED + ["tiered", "lazy_leveled", "universal"]
        for row in self.grown(trees, MIXED):
            if row["knowledge"] == "listener":
                with self.subTest(row=row):
                    self.assertLess(abs(row["bits_per_key"] - 10), 1.0)

    def test_random_inserts_come_near_the_optimum(self):
        for row in self.grown(LEVELED, ["random"]):
            with self.subTest(row=row):
                self.assertGreater(self.times_fewer(row, 1), 12)
                self.assertGreater(self.times_fewer(row, 0.5), 20)
                if row["knowledge"] == "listener":
                    self.assertGreater(row["percent_of_optimum"], 90)
                # Sampled gets, and filters of files, not of runs.
                self.assertLess(row["percent_of_optimum"], 103)

    def test_wasted_reads_of_a_mix_are_between_those_of_hits_and_misses(self):
        for row in self.grow["runs"]:
            reads = [mix["wasted_reads_per_1000_gets"] for mix in row["mixes"]]
            self.assertAlmostEqual(reads[1], (reads[0] + reads[2]) / 2)

    def test_the_same_seed_grows_the_same_trees(self):
        args = ["--flushes", "100", "--trees", "universal"]
        self.assertEqual(self.run_sim("grow", *args)["grow"],
                         self.run_sim("grow", *args)["grow"])

    def test_shapes_agree_with_the_closed_form(self):
        rows = [row for row in self.shapes["rows"] if row["tree"] == "leveled"]
        self.assertEqual({row["levels"] for row in rows}, set(range(2, 9)))
        for row in rows:
            if row["missing_share"] != 1:
                continue
            # The same rate in all runs.
            self.assertAlmostEqual(row["bloom10_wasted_reads_per_1000_gets"],
                                   9.533 * row["levels"], places=1)
            times = {(run["filter"], run["by_run"]): run["times_fewer"]
                     for run in row["filters"]}
            self.assertAlmostEqual(times["rocksdb_bloom", False], 1)
            # Runs over the perplexity of their sizes, less what one of a
            # filter's costs is not in proportion to the logarithm.
            gain = times["compact", True] / times["compact", False]
            self.assertGreater(gain, 0.93 * row["levels"] / 1.435)
            self.assertLess(gain, 1.07 * row["levels"] / 1.384)
        biggest = max(row["data_bytes"] for row in rows)
        self.assertGreater(biggest, 1e15)

    def test_shapes_can_be_plotted(self):
        path = os.path.join(self.directory.name, "shapes.json")
        svg = os.path.join(self.directory.name, "shapes.svg")
        for tree in ["leveled", "lazy_leveled", "tiered"]:
            result = run(sys.executable, PLOT, "tree_shapes", path, "-o", svg,
                         "--tree", tree, "--missing_share", "0.5")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(svg, encoding="utf-8") as file:
                self.assertIn("compact by run", file.read())


class Usage(unittest.TestCase):
    def test_mistakes_are_usage_errors(self):
        for args in (["--no_such"], ["grow", "--trees", "flat"],
                     ["grow", "--inserts", "none"], ["grow", "--flushes", "0"],
                     ["shapes", "--bits_per_key", "-1"], ["other"]):
            self.assertEqual(run(TREE_SIM, *args).returncode, 2, args)

    def test_a_filter_that_there_is_not_fails(self):
        result = run(TREE_SIM, "grow", "--filter", "none")
        self.assertEqual(result.returncode, 1)
        self.assertIn("none", result.stderr)

    def test_help_is_fine(self):
        self.assertEqual(run(TREE_SIM, "--help").returncode, 0)


if __name__ == "__main__":
    TREE_SIM, PLOT = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
