#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs filter_bench in its quick form and checks what it says, times apart.

    filter_bench_test.py FILTER_BENCH OTHER_RELEASE_SO PLOT_PY
"""

import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

KEYS = [300, 20000]
LOOKUPS = ["negative_independent", "negative_dependent",
           "positive_independent", "positive_dependent", "batch"]
EXTRA = "rowbloom_extra"


def bench(*args):
    return subprocess.run([BENCH, *args], capture_output=True, text=True,
                          check=False)


def plot(*args):
    return subprocess.run([sys.executable, PLOT, *args], capture_output=True,
                          text=True, check=False)


class OneRun(unittest.TestCase):
    """All of these look at one run with the default filters and one more."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.json_path = os.path.join(cls.directory.name, "results.json")
        cls.result = bench("--quick", "--keys", ",".join(map(str, KEYS)),
                           "--policy", EXTRA + "=blocked_bloom:target_fpr=0.05",
                           "--json", cls.json_path)
        if cls.result.returncode != 0:
            raise AssertionError(cls.result.stderr)
        with open(cls.json_path, encoding="utf-8") as file:
            cls.json = json.load(file)
        cls.runs = cls.json["runs"]

    def run_of(self, name, keys):
        runs = [run for run in self.runs
                if (run["filter"], run["n"]) == (name, keys)]
        self.assertEqual(len(runs), 1)
        return runs[0]

    def test_every_filter_is_run_at_every_size(self):
        names = {run["filter"] for run in self.runs}
        self.assertLessEqual({"rocksdb_bloom10", "rocksdb_ribbon10",
                              "rowbloom_blocked_bloom10", EXTRA}, names)
        self.assertEqual(len(self.runs), len(names) * len(KEYS))
        for name in names:
            for keys in KEYS:
                self.run_of(name, keys)

    def test_every_time_is_positive(self):
        for run in self.runs:
            for form in ["", "_strings"]:
                self.assertGreater(run["build_ns_per_key" + form], 0)
                self.assertEqual(list(run["lookup_ns" + form]), LOOKUPS)
                for time in run["lookup_ns" + form].values():
                    self.assertGreater(time, 0)
        for run in self.json["block_cache"]:
            for time in run["lookup_ns"].values():
                self.assertGreater(time, 0)

    def test_no_answer_is_a_false_negative(self):
        self.assertEqual(self.json["false_negatives"], 0)
        for run in self.runs + self.json["block_cache"]:
            self.assertEqual(run["false_negatives"], 0)
            self.assertGreater(run["present_lookups"], 0)
        for run in self.runs:
            # Each key in both forms.
            self.assertGreaterEqual(run["present_lookups"],
                                    2 * run["n"] * run["filters"])
        self.assertIn("0 false negatives", self.result.stdout)

    def test_rates_are_counted(self):
        for run in self.runs:
            self.assertGreaterEqual(run["fpr_lookups"], 200000)
        self.assertAlmostEqual(self.run_of("rocksdb_bloom10", 20000)["fpr"],
                               0.0096, delta=0.002)
        extra = self.run_of(EXTRA, 20000)
        self.assertAlmostEqual(extra["fpr"], 0.05, delta=0.005)

    def test_expected_rates_are_those_of_rowbloom(self):
        for run in self.runs:
            if run["filter"].startswith("rocksdb_"):
                self.assertIsNone(run["expected_fpr"])
            else:
                self.assertGreater(run["expected_fpr"], 0)

    def test_overhead_is_that_of_the_rate(self):
        for run in self.runs:
            if run["fpr"] == 0:
                self.assertIsNone(run["overhead"])
                continue
            limit = math.log2(1 / run["fpr"])
            self.assertAlmostEqual(run["overhead"],
                                   run["bits_per_key"] / limit - 1)

    def test_peak_memory_holds_keys_and_result(self):
        for run in self.runs:
            self.assertGreater(run["peak_build_bytes_per_key"],
                               run["bits_per_key"] / 8)
        # RocksDB's builder keeps 8 bytes of each key until the end.
        bloom = self.run_of("rocksdb_bloom10", 20000)
        self.assertGreater(bloom["peak_build_bytes_per_key"],
                           8 + bloom["bits_per_key"] / 8)
        self.assertLess(bloom["peak_build_bytes_per_key"], 50)

    def test_block_cache_holds_every_filter(self):
        names = [run["filter"] for run in self.runs if run["n"] == KEYS[0]]
        self.assertEqual([run["filter"] for run in self.json["block_cache"]],
                         names)
        for run in self.json["block_cache"]:
            self.assertGreater(run["total_bytes"],
                               run["filters"] * run["n"] / 8)

    def test_library_is_named(self):
        rocksdb = self.json["rocksdb"]
        self.assertTrue(rocksdb["library"].startswith("librocksdb.so"))
        self.assertIn(rocksdb["bloom_uses_avx2"], [True, False])
        self.assertIn(f"RocksDB {rocksdb['version']} from "
                      f"{rocksdb['library']}", self.result.stdout)

    def test_plots_are_well_formed_and_name_the_filters(self):
        for kind, words in [("filter_rate", "information limit"),
                            ("filter_lookup", EXTRA),
                            ("filter_build", "rocksdb_ribbon10")]:
            svg = os.path.join(self.directory.name, kind + ".svg")
            result = plot(kind, self.json_path, "-o", svg)
            self.assertEqual(result.returncode, 0, result.stderr)
            texts = [element.text for element in
                     xml.etree.ElementTree.parse(svg).iter() if element.text]
            self.assertIn(words, texts)


class Errors(unittest.TestCase):

    def test_help_is_no_error(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--rocksdb-lib", result.stdout)

    def test_bad_usage_exits_with_2(self):
        for args, told in [
                (["--no_such_flag"], "--no_such_flag"),
                (["--keys", "0"], "--keys"),
                (["--filters", "best"], '"best" is none of'),
                (["--filters", "rocksdb_bloom"], "rocksdb_bloomX"),
                (["--filters", "rocksdb_bloom9,rocksdb_bloom9"],
                 "two filters are named rocksdb_bloom9"),
                (["--policy", "no_equals"], "is not NAME=POLICY"),
                (["--policy", "name=no_family"], "no_family")]:
            result = bench("--quick", *args)
            self.assertEqual(result.returncode, 2, args)
            self.assertIn(told, result.stderr)

    def test_missing_library_is_named(self):
        result = bench("--quick", "--rocksdb-lib", "/nonexistent/librocksdb")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nonexistent/librocksdb", result.stderr)

    def test_library_of_another_release_is_refused(self):
        result = bench("--quick", "--rocksdb-lib", OTHER_RELEASE)
        self.assertEqual(result.returncode, 1)
        self.assertIn("is RocksDB 6.29.5", result.stderr)

    def test_unwritable_json_is_told_at_once(self):
        result = bench("--json", "/nonexistent/results.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nonexistent/results.json", result.stderr)

    def test_plot_of_something_else_fails(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"benchmark": "other"}')
            file.flush()
            result = plot("filter_rate", file.name, "-o", os.devnull)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot be drawn", result.stderr)


if __name__ == "__main__":
    BENCH, OTHER_RELEASE, PLOT = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
