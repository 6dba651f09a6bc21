#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs db_bench.py on few keys and checks what it says, times apart.

    db_bench_test.py DB_BENCH_PY PRELOAD_SO PLOT_PY
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SMALL = ["--num", "8000", "--reads", "2000", "--rounds", "1",
         "--write_buffer_bytes", "300000"]


def run(program, *args):
    return subprocess.run([sys.executable, program, *args],
                          capture_output=True, text=True, check=False)


class OneRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.path = os.path.join(cls.directory.name, "results.json")
        cls.result = run(BENCH, "--preload", PRELOAD, *SMALL, "--json",
                         cls.path)
        if cls.result.returncode != 0:
            raise AssertionError(cls.result.stderr)
        with open(cls.path, encoding="utf-8") as file:
            cls.json = json.load(file)
        cls.runs = {(run["policy"], run["benchmark"]): run
                    for run in cls.json["runs"]}

    def test_every_policy_runs_every_benchmark(self):
        policies = self.json["options"]["policies"]
        self.assertEqual(len(policies), 6)
        self.assertEqual(len(self.runs), 4 * len(policies))

    def test_every_filter_has_the_bits_that_were_asked(self):
        for (policy, _), run_ in self.runs.items():
            self.assertGreater(run_["files"], 2)
            if policy == "none":
                self.assertEqual(run_["filter_bytes"], 0)
            else:
                self.assertAlmostEqual(run_["bits_per_key"], 10, delta=1)

    def test_rates_are_those_of_the_filters(self):
        # Of some 10,000 lookups: more than four standard deviations.
        for policy, least, most in [("rocksdb_bloom", 0.004, 0.02),
                                    ("rocksdb_ribbon", 0, 0.006),
                                    ("rowbloom_blocked_bloom", 0.004, 0.02),
                                    ("rowbloom_fast", 0.0005, 0.009),
                                    ("rowbloom_compact", 0, 0.004)]:
            missing = self.runs[policy, "readmissing"]
            self.assertGreater(missing["absent_lookups"], 5000)
            self.assertGreaterEqual(missing["fpr"], least, policy)
            self.assertLessEqual(missing["fpr"], most, policy)

    def test_filters_save_reads_of_what_is_missing(self):
        none = self.runs["none", "readmissing"]
        self.assertGreater(none["data_reads"], 2)
        self.assertIsNone(none["fpr"])
        for policy in self.json["options"]["policies"][1:]:
            self.assertLess(self.runs[policy, "readmissing"]["data_reads"],
                            0.1)

    def test_all_find_the_same(self):
        for benchmark in ["readrandom", "multireadrandom"]:
            found = {run_["found"] for (_, name), run_ in self.runs.items()
                     if name == benchmark}
            self.assertEqual(len(found), 1)
            self.assertGreater(found.pop(), 500)

    def test_plot_is_well_formed_and_names_the_filters(self):
        svg = os.path.join(self.directory.name, "plot.svg")
        result = run(PLOT, "db_bench", self.path, "-o", svg)
        self.assertEqual(result.returncode, 0, result.stderr)
        texts = " ".join(element.text for element in
                         xml.etree.ElementTree.parse(svg).iter()
                         if element.text)
        self.assertIn("rowbloom compact", texts)
        self.assertIn("multireadrandom", texts)


class Errors(unittest.TestCase):
    def test_help_is_no_error(self):
        result = run(BENCH, "--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--preload", result.stdout)

    def test_bad_usage_exits_with_2(self):
        for args, told in [([], "--preload"),
                           (["--preload", "/nonexistent.so"],
                            "/nonexistent.so"),
                           (["--preload", PRELOAD, "--policies", "best"],
                            "best is none of none, rocksdb_bloom"),
                           (["--preload", PRELOAD, "--db_bench", "/none"],
                            "there is no /none"),
                           (["--preload", PRELOAD, "--reads", "1"],
                            "--reads must be at least")]:
            result = run(BENCH, *args)
            self.assertEqual(result.returncode, 2, args)
            self.assertIn(told, result.stderr)

    def test_a_policy_that_is_not_known_is_not_measured(self):
        # RocksDB goes on without a filter when the library is another one.
        result = run(BENCH, "--preload", "/dev/null", "--policies",
                     "rowbloom_fast", *SMALL)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no filters of policy rowbloom_fast", result.stderr)


if __name__ == "__main__":
    BENCH, PRELOAD, PLOT = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
