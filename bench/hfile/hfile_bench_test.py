#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs hfile_bench and compare_hbase.py on a golden file and checks what they
say, times apart. A script stands in for HBase, which the build does not need.

    hfile_bench_test.py HFILE_BENCH COMPARE_HBASE_PY GOLDEN
"""

import gzip
import json
import os
import subprocess
import sys
import tempfile
import unittest

QUICK = ["--rounds", "2", "--lookups", "100", "--opens", "2"]
# Answers as hbase_peer.sh does: a golden file, its questions, results.
STAND_IN = """#!/bin/sh
case $1 in
  write) cp '{golden}.hfile' "$3" ;;
  ask) gzip -dc '{golden}.queries.tsv.gz' ;;
  bench) echo '{{"peer": "a stand-in", "java": "none", "questions":
    {questions}, "maybes": {maybes}, "cpu_ns_per_lookup": 1000,
    "cpu_ns_per_probe": 500, "cpu_us_per_open": 2000}}' ;;
esac
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


class HFileBench(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name
        self.json = self.path("results.json")
        with gzip.open(GOLDEN + ".queries.tsv.gz", "rt") as table:
            lines = table.read()
        self.questions = self.path("questions.tsv")
        with open(self.questions, "w", encoding="utf-8") as file:
            file.write(lines)
        rows = [line.split("\t") for line in lines.splitlines()
                if line.startswith("ROW\t")]
        self.rows = len(rows)
        self.maybes = sum(fields[3] == "1" for fields in rows)

    def path(self, name):
        return os.path.join(self.directory, name)

    def stand_in(self, maybes):
        path = self.path("peer.sh")
        with open(path, "w", encoding="utf-8") as file:
            file.write(STAND_IN.format(golden=GOLDEN, questions=self.rows,
                                       maybes=maybes))
        os.chmod(path, 0o755)
        return path

    def results(self):
        with open(self.json, encoding="utf-8") as file:
            return json.load(file)

    def test_the_bench_counts_what_hbase_answered(self):
        result = run(BENCH, GOLDEN + ".hfile", self.questions, *QUICK,
                     "--json", self.json)
        self.assertEqual(result.returncode, 0, result.stderr)
        results = self.results()
        self.assertGreater(self.maybes, 0)
        self.assertLess(self.maybes, self.rows)
        self.assertEqual(results["questions"], self.rows)
        self.assertEqual(results["maybes"], self.maybes)
        self.assertGreater(results["cpu_ns_per_lookup"], 0)
        self.assertGreater(results["cpu_us_per_open"], 0)

    def test_the_comparison_has_both_and_their_ratio(self):
        result = run(sys.executable, COMPARE, "--bench", BENCH, "--peer",
                     self.stand_in(self.maybes), "--rounds", "1", "--json",
                     self.json)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("| a stand-in | rowbloom | times as fast |",
                      result.stdout)
        measures = self.results()["measures"]
        self.assertEqual([m["measure"] for m in measures],
                         ["lookup", "probe", "open"])
        for measure in measures:
            self.assertAlmostEqual(measure["times_as_fast"],
                                   measure["hbase"] / measure["rowbloom"])

    def test_different_answers_are_a_failure(self):
        result = run(sys.executable, COMPARE, "--bench", BENCH, "--peer",
                     self.stand_in(self.maybes + 1), "--rounds", "1")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"rowbloom {self.maybes}", result.stderr)

    def test_what_cannot_be_read_is_a_failure(self):
        for file, questions, told in [
                ("/nonexistent", self.questions, "/nonexistent"),
                (self.questions, self.questions, "questions.tsv"),
                (GOLDEN + ".hfile", os.devnull, "no question of kind ROW")]:
            result = run(BENCH, file, questions)
            self.assertEqual(result.returncode, 1)
            self.assertIn(told, result.stderr)

    def test_bad_usage_exits_with_2(self):
        self.assertEqual(run(BENCH, "--help").returncode, 0)
        self.assertEqual(run(BENCH, "file").returncode, 2)
        for args in [[], ["--bench", "/nonexistent"],
                     ["--bench", BENCH, "--rounds", "0"]]:
            self.assertEqual(run(sys.executable, COMPARE, *args).returncode, 2)


if __name__ == "__main__":
    BENCH, COMPARE, GOLDEN = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1])
