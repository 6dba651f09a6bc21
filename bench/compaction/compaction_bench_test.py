#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs compaction_bench on few rows and checks what it says, times apart.

    compaction_bench_test.py COMPACTION_BENCH
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

ROWS, COLUMNS = 3000, 3


def bench(*args):
    return subprocess.run([BENCH, *args], capture_output=True, text=True,
                          check=False)


class CompactionBench(unittest.TestCase):
    def results(self, *args):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "results.json")
            result = bench("--rows", str(ROWS), "--columns", str(COLUMNS),
                           "--rounds", "2", "--directory", directory,
                           "--json", path, *args)
            self.assertEqual(result.returncode, 0, result.stderr)
            # The databases are removed.
            self.assertEqual(os.listdir(directory), ["results.json"])
            with open(path, encoding="utf-8") as file:
                return json.load(file), result.stdout

    def test_every_policy_is_run_and_has_its_keys(self):
        for args in [[], ["--partition_filters"]]:
            results, table = self.results(*args)
            keys = {run["policy"]: run["filter_keys"]
                    for run in results["runs"]}
            self.assertEqual(keys["none"], 0)
            rows, cells = ROWS, ROWS * COLUMNS
            for policy in ["rocksdb_bloom", "rocksdb_ribbon",
                           "rowbloom_rowcol", "rowbloom_rowcol_compact"]:
                self.assertAlmostEqual(keys[policy], rows + cells,
                                       delta=0.05 * cells)
            self.assertAlmostEqual(keys["rowbloom_row"], rows,
                                   delta=0.05 * rows)
            for run in results["runs"]:
                self.assertIn(run["policy"], table)
                self.assertGreater(run["flush_cpu_seconds"], 0)
                self.assertGreater(run["compaction_cpu_seconds"], 0)
                if run["policy"] == "rocksdb_bloom":
                    self.assertEqual(run["compaction_to_bloom"], 1)

    def test_ratios_need_what_they_are_ratios_to(self):
        results, _ = self.results("--policies", "none,rocksdb_ribbon")
        self.assertEqual([run["policy"] for run in results["runs"]],
                         ["none", "rocksdb_ribbon"])
        self.assertIsNone(results["runs"][0]["flush_to_bloom"])
        self.assertIsNotNone(results["runs"][0]["flush_to_ribbon"])

    def test_help_is_no_error(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("LD_LIBRARY_PATH", result.stdout)

    def test_bad_usage_exits_with_2(self):
        for args, told in [(["--rows", "1"], "--rows"),
                           (["--policies", "best"], "best")]:
            result = bench(*args)
            self.assertEqual(result.returncode, 2)
            self.assertIn(told, result.stderr)


if __name__ == "__main__":
    BENCH = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
