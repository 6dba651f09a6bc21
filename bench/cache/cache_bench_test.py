#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs cache_bench on few accesses and checks what it says.

    cache_bench_test.py CACHE_BENCH PLOT_PY
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SMALL = ["--zipf", "0.99", "--cache_percent", "5,20", "--sweep_chunks", "1000",
         "--sweep_percent", "50", "--accesses", "200000"]


def bench(*args):
    return subprocess.run([BENCH, *args], capture_output=True, text=True,
                          check=False)


def plot(*args):
    return subprocess.run([sys.executable, PLOT, *args], capture_output=True,
                          text=True, check=False)


class CacheBench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.path = os.path.join(directory.name, "results.json")
        cls.svg = os.path.join(directory.name, "plot.svg")
        cls.results = [cls.run_once(), cls.run_once()]

    @classmethod
    def run_once(cls):
        result = bench(*SMALL, "--json", cls.path)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        with open(cls.path, encoding="utf-8") as file:
            return json.load(file)

    def rates(self, policy, sweep_chunks):
        return [run["hot_hit_rate"] for run in self.results[0]["hit_rates"]
                if (run["policy"], run["sweep_chunks"]) ==
                (policy, sweep_chunks)]

    def test_hit_rates_are_the_same_in_every_run(self):
        self.assertEqual(self.results[0]["hit_rates"],
                         self.results[1]["hit_rates"])
        self.assertEqual(len(self.results[0]["hit_rates"]), 2 * 2 * 2)

    def test_no_policy_is_better_than_the_best_content(self):
        for run in self.results[0]["hit_rates"]:
            self.assertGreater(run["hot_hit_rate"], 0.1)
            # The accesses are a sample.
            self.assertLess(run["hot_hit_rate"],
                            run["best_fixed_hit_rate"] + 0.01)

    def test_sweeps_cost_a_plain_lru_much_and_a_segmented_one_little(self):
        for quiet, swept in zip(self.rates("segmented_lru", 0),
                                self.rates("segmented_lru", 1000)):
            self.assertGreater(swept, quiet - 0.03)
        for quiet, swept in zip(self.rates("plain_lru", 0),
                                self.rates("plain_lru", 1000)):
            self.assertLess(swept, quiet - 0.05)

    def test_results_can_be_drawn(self):
        result = plot("cache_hit_rate", self.path, "-o", self.svg)
        self.assertEqual(result.returncode, 0, result.stderr)
        text = "".join(xml.etree.ElementTree.parse(self.svg).getroot()
                       .itertext())
        self.assertIn("plain LRU, sweeps", text)

    def test_wrong_usage_exits_with_2(self):
        self.assertEqual(bench("--cache_percent", "0").returncode, 2)
        self.assertEqual(bench("--help").returncode, 0)

    def test_results_that_cannot_be_written_exit_with_1(self):
        result = bench("--cache_percent", "1", "--sweep_chunks", "1",
                       "--accesses", "100", "--json",
                       os.path.join(self.path, "no_directory"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot write", result.stderr)


if __name__ == "__main__":
    BENCH, PLOT = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
