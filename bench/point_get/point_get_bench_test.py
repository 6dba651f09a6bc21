#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs point_get_bench on a small input of its own and checks what it says.

    point_get_bench_test.py POINT_GET_BENCH PLOT_PY
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

POLICIES = ["none", "rocksdb_bloom", "rocksdb_ribbon", "rowbloom_row",
            "rowbloom_rowcol", "rowbloom_rowcol_fast",
            "rowbloom_rowcol_compact"]
SIZINGS = ["equal_bits_per_key", "equal_filter_bytes", "equal_fpr"]
QUERIES = ["absent_row", "absent_column", "present_cell"]
LEVELS = 3


def bench(*args):
    return subprocess.run([BENCH, *args], capture_output=True, text=True,
                          check=False)


def plot(*args):
    return subprocess.run([sys.executable, PLOT, *args], capture_output=True,
                          text=True, check=False)


class OneRun(unittest.TestCase):
    """All of these look at one run over a file of row<TAB>column lines."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.input = os.path.join(cls.directory.name, "cells.tsv")
        with open(cls.input, "w", encoding="utf-8") as file:
            for row in range(20000):
                # Spelled, so that a changed letter makes an absent row.
                name = "".join(chr(ord("a") + int(d)) for d in str(row * 37))
                for column in range(row % 3 + 1):
                    file.write(f"{name}\tcolumn{(row + column) % 7}\n")
        cls.json_path = os.path.join(cls.directory.name, "results.json")
        cls.databases = os.path.join(cls.directory.name, "databases")
        cls.result = bench("--input", cls.input, "--gets", "20000",
                           "--levels", str(LEVELS), "--file_size_bytes",
                           "262144", "--bits_per_key", "10", "--directory",
                           cls.databases, "--json", cls.json_path)
        if cls.result.returncode != 0:
            raise AssertionError(cls.result.stderr)
        with open(cls.json_path, encoding="utf-8") as file:
            cls.json = json.load(file)

    def run_of(self, policy, query, mix="uniform",
               sizing="equal_bits_per_key"):
        runs = [run for run in self.json["runs"]
                if (run["policy"], run["query"], run["mix"], run["sizing"]) ==
                (policy, query, mix, sizing)]
        self.assertEqual(len(runs), 1)
        return runs[0]

    def test_every_policy_answers_every_query(self):
        for sizing in SIZINGS:
            for mix in ["uniform", "zipf"]:
                for policy in POLICIES:
                    for query in QUERIES:
                        run = self.run_of(policy, query, mix, sizing)
                        self.assertEqual(run["gets"], 20000)
        self.assertEqual(len(self.json["runs"]), 3 * 2 * 7 * 3)

    def test_no_answer_is_wrong(self):
        self.assertEqual(self.json["wrong_answers"], 0)
        self.assertGreater(self.json["answers_checked"], 20000 * 7 * 3 * 2)
        for run in self.json["runs"]:
            found = run["gets"] if run["query"] == "present_cell" else 0
            self.assertEqual(run["found"], found)

    def test_all_levels_but_level_0_are_filled(self):
        levels = [level["level"] for level in self.json["tree"]["levels"]]
        self.assertEqual(levels, list(range(1, LEVELS + 1)))
        self.assertEqual(
            sum(level["cells"] for level in self.json["tree"]["levels"]),
            self.json["tree"]["cells"])

    def test_only_data_blocks_are_read(self):
        for run in self.json["runs"]:
            self.assertEqual(run["index_and_filter_reads"], 0)
            self.assertEqual(
                sum(run["data_reads_by_level"]),
                round(run["data_reads_per_get"] * run["gets"]))

    def test_false_positives_add_up_over_levels(self):
        for run in self.json["runs"]:
            self.assertEqual(sum(run["false_positives_by_level"]),
                             run["false_positives"])

    def test_without_a_filter_each_level_is_read(self):
        run = self.run_of("none", "absent_row")
        self.assertGreater(run["data_reads_per_get"], LEVELS - 0.2)
        self.assertEqual(run["filter_bytes"], 0)

    def test_rowcol_saves_reads_of_absent_rows_and_columns(self):
        for query in ["absent_row", "absent_column"]:
            none = self.run_of("none", query)["data_reads_per_get"]
            rowcol = self.run_of("rowbloom_rowcol", query)
            self.assertGreater(none, 50 * rowcol["data_reads_per_get"])

    def test_row_saves_reads_of_absent_rows_only(self):
        row = self.run_of("rowbloom_row", "absent_row")
        none = self.run_of("none", "absent_row")
        self.assertGreater(none["data_reads_per_get"],
                           50 * row["data_reads_per_get"])
        # Some level holds the row itself, and its filter has to say so.
        column = self.run_of("rowbloom_row", "absent_column")
        self.assertGreaterEqual(column["data_reads_per_get"], 1)

    def test_equal_filter_bytes_are_equal(self):
        sizing = "equal_filter_bytes"
        bloom = self.run_of("rocksdb_bloom", "absent_row", sizing=sizing)
        for policy in ["rocksdb_ribbon", "rowbloom_rowcol",
                       "rowbloom_rowcol_fast", "rowbloom_rowcol_compact"]:
            run = self.run_of(policy, "absent_row", sizing=sizing)
            self.assertAlmostEqual(run["filter_bytes"] / bloom["filter_bytes"],
                                   1, delta=0.05)

    def test_at_equal_bits_fast_and_compact_waste_fewer_reads(self):
        for query in QUERIES:
            bloom, fast, compact = (
                self.run_of(policy, query)["wasted_reads_per_1000_gets"]
                for policy in ["rocksdb_bloom", "rowbloom_rowcol_fast",
                               "rowbloom_rowcol_compact"])
            self.assertLess(fast, 0.6 * bloom)
            self.assertLess(compact, 0.4 * bloom)

    def test_at_equal_reads_compact_takes_fewer_bytes(self):
        for query in ["absent_row", "absent_column"]:
            bloom = self.run_of("rocksdb_bloom", query, sizing="equal_fpr")
            for policy in ["rowbloom_rowcol", "rowbloom_rowcol_fast",
                           "rowbloom_rowcol_compact"]:
                run = self.run_of(policy, query, sizing="equal_fpr")
                # 20,000 gets see some 600 false positives, give or take 25.
                self.assertLess(run["fpr"], 1.25 * bloom["fpr"])
                self.assertAlmostEqual(run["target_fpr"], bloom["target_fpr"])
            self.assertLess(run["filter_bytes"], 0.8 * bloom["filter_bytes"])

    def test_terminal_shows_tables_and_chart(self):
        for words in POLICIES + QUERIES + ["|###", ", 0 wrong."]:
            self.assertIn(words, self.result.stdout)

    def test_databases_are_removed(self):
        self.assertEqual(os.listdir(self.databases), [])

    def test_plot_is_well_formed_and_shows_the_numbers(self):
        svg = os.path.join(self.directory.name, "plot.svg")
        result = plot("point_get", self.json_path, "-o", svg)
        self.assertEqual(result.returncode, 0, result.stderr)
        texts = [element.text for element in
                 xml.etree.ElementTree.parse(svg).iter() if element.text]
        self.assertTrue(any(text.startswith("rowbloom ROWCOL, compact (")
                            for text in texts))
        shown = [float(text) for text in texts if re.fullmatch("[0-9.]+", text)]
        for value in [
                self.run_of("none", "absent_row")["wasted_reads_per_1000_gets"],
                self.run_of("rowbloom_rowcol_compact", "absent_row",
                            sizing="equal_fpr")["filter_bytes"] / 1e6]:
            # Three digits are shown.
            self.assertTrue(any(abs(number / value - 1) < 0.006
                                for number in shown))


class Errors(unittest.TestCase):

    def test_help_is_no_error(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--bits_per_key", result.stdout)

    def test_bad_usage_exits_with_2(self):
        self.assertEqual(bench("--no_such_flag").returncode, 2)
        self.assertEqual(bench("--bits_per_key", "1000").returncode, 2)
        self.assertEqual(bench("--policies", "best").returncode, 2)

    def test_missing_word_list_names_its_package(self):
        result = bench("--words", "/nonexistent")
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get install wamerican-insane", result.stderr)

    def test_line_without_tab_is_named(self):
        with tempfile.NamedTemporaryFile("w", suffix=".tsv") as file:
            file.write("row\tcolumn\nno tab here\n")
            file.flush()
            result = bench("--input", file.name)
        self.assertEqual(result.returncode, 1)
        self.assertIn(".tsv:2: expected row<TAB>column", result.stderr)

    def test_unwritable_json_is_told_at_once(self):
        result = bench("--json", "/nonexistent/results.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nonexistent/results.json", result.stderr)

    def test_database_in_the_way_is_not_removed(self):
        with tempfile.TemporaryDirectory() as directory:
            args = ["--rows", "20000", "--gets", "1", "--policies", "none",
                    "--directory", directory]
            words = os.path.join(directory, "words")
            with open(words, "w", encoding="utf-8") as file:
                for number in range(20000):
                    file.write(f"w{number}\n")
            args += ["--words", words, "--keep_databases"]
            self.assertEqual(bench(*args).returncode, 0)
            kept = sorted(os.listdir(directory))
            result = bench(*args[:-1])
            self.assertEqual(result.returncode, 1)
            self.assertIn("exists", result.stderr)
            self.assertEqual(sorted(os.listdir(directory)), kept)
            database = next(name for name in kept if name != "words")
            self.assertIn("CURRENT",
                          os.listdir(os.path.join(directory, database)))

    def test_plot_of_something_else_fails(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"benchmark": "other"}')
            file.flush()
            result = plot("point_get", file.name, "-o", os.devnull)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot be drawn", result.stderr)


if __name__ == "__main__":
    BENCH, PLOT = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
