#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs mini_kv_bench on a small input of its own and checks what it says.

    mini_kv_bench_test.py MINI_KV_BENCH
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

POLICIES = ["none", "blocked_bloom:bits_per_key=10", "fast:bits_per_key=10",
            "compact:bits_per_key=10", "blocked_bloom:bits_per_key=10, by run"]
QUERIES = ["absent_row", "absent_column", "present_cell", "present_row"]
GETS = 20000


def bench(*args):
    return subprocess.run([BENCH, *args], capture_output=True, text=True,
                          check=False)


class OneRun(unittest.TestCase):
    """All of these look at one run."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        words = os.path.join(cls.directory.name, "words")
        with open(words, "w", encoding="utf-8") as file:
            for row in range(8000):
                # Spelled, so that a changed letter makes an absent row.
                file.write("".join(chr(ord("a") + int(digit))
                                   for digit in str(row * 37)) + "\n")
        cls.stores = os.path.join(cls.directory.name, "stores")
        cls.args = ["--words", words, "--gets", str(GETS),
                    "--memtable_size_bytes", "100000", "--file_size_bytes",
                    "100000", "--level1_size_bytes", "200000",
                    "--budget_families", "blocked_bloom",
                    "--directory", cls.stores]
        cls.json = cls.run_bench("first.json")

    @classmethod
    def run_bench(cls, name, *args):
        path = os.path.join(cls.directory.name, name)
        result = bench(*cls.args, *args, "--json", path)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        cls.stdout = result.stdout
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def run_of(self, policy, query):
        runs = [run for run in self.json["runs"]
                if (run["policy"], run["query"]) == (policy, query)]
        self.assertEqual(len(runs), 1)
        return runs[0]

    def test_every_policy_answers_every_query(self):
        self.assertEqual(len(self.json["runs"]), len(POLICIES) * len(QUERIES))
        for policy in POLICIES:
            for query in QUERIES:
                self.assertEqual(self.run_of(policy, query)["gets"], GETS)
        self.assertEqual(self.json["wrong_answers"], 0)

    def test_the_tree_has_three_levels(self):
        filled = [level["level"] for level in self.json["tree"]["levels"]
                  if level["ssts"] != 0]
        self.assertIn(1, filled)
        self.assertIn(2, filled)
        self.assertIn(3, filled)

    def test_filters_save_reads(self):
        for policy in POLICIES[1:]:
            for query in ["absent_row", "absent_column"]:
                none = self.run_of("none", query)
                run = self.run_of(policy, query)
                self.assertGreater(none["data_reads_per_get"],
                                   50 * run["data_reads_per_get"])
                self.assertLess(run["fpr"], 0.02)
            present = self.run_of(policy, "present_cell")
            self.assertGreaterEqual(present["data_reads_per_get"], 1)
            self.assertLess(present["data_reads_per_get"], 1.1)

    def test_a_budget_wastes_fewer_reads_with_as_many_bytes(self):
        policy = "blocked_bloom:bits_per_key=10"
        uniform = self.run_of(policy, "absent_row")
        by_run = self.run_of(policy + ", by run", "absent_row")
        self.assertLess(by_run["filter_bytes"], 1.1 * uniform["filter_bytes"])
        self.assertLess(by_run["data_reads_per_get"],
                        uniform["data_reads_per_get"])

    def test_no_filter_is_read_where_there_is_none(self):
        for query in QUERIES:
            run = self.run_of("none", query)
            self.assertEqual(run["filter_bytes"], 0)
            self.assertEqual(run["filter_bytes_read_per_get"], 0)
            self.assertIsNone(run["fpr"])

    def test_each_filter_is_read_once_into_a_cache_that_has_room(self):
        for policy in POLICIES[1:]:
            run = self.run_of(policy, "absent_row")
            read = run["filter_bytes_read_per_get"] * GETS
            self.assertLessEqual(read, run["filter_bytes"])
            self.assertGreater(read, 0.5 * run["filter_bytes"])

    def test_a_second_run_is_the_same(self):
        again = self.run_bench("second.json")
        self.assertEqual(again["tree"], self.json["tree"])
        self.assertEqual(again["runs"], self.json["runs"])

    def test_without_memory_filters_do_no_harm(self):
        runs = self.run_bench("no_cache.json", "--filter_cache_bytes", "0",
                              "--families", "fast")["runs"]
        fast, none = (next(run for run in runs
                           if run["policy"].startswith(policy)
                           and run["query"] == "absent_row")
                      for policy in ("fast", "none"))
        self.assertEqual(fast["filter_reads_per_get"], 0)
        self.assertLessEqual(fast["data_reads_per_get"],
                             none["data_reads_per_get"])

    def test_terminal_shows_tables(self):
        for words in POLICIES + QUERIES + ["| L3 |", "\n0 wrong answers"]:
            self.assertIn(words, self.stdout + "".join(POLICIES))

    def test_stores_are_removed(self):
        self.assertEqual(os.listdir(self.stores), [])


class Errors(unittest.TestCase):

    def test_help_is_no_error(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--bits_per_key", result.stdout)

    def test_bad_usage_exits_with_2(self):
        self.assertEqual(bench("--no_such_flag").returncode, 2)
        self.assertEqual(bench("--bits_per_key", "1000").returncode, 2)
        self.assertEqual(bench("--families", "best").returncode, 2)

    def test_missing_word_list_names_its_package(self):
        result = bench("--words", "/nonexistent")
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get install wamerican-insane", result.stderr)

    def test_unwritable_json_is_told_at_once(self):
        result = bench("--json", "/nonexistent/results.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nonexistent/results.json", result.stderr)


if __name__ == "__main__":
    BENCH = sys.argv[1]
    unittest.main(argv=sys.argv[:1])
