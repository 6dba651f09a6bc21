#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs matrix_trial with few lookups and checks what it says.

    matrix_trial_test.py MATRIX_TRIAL PLOT_PY
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SMALL = ["--rows", "2,8", "--seeds", "1", "--lookups", "20000", "--rounds",
         "1"]


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=False)


class MatrixTrial(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.path = os.path.join(directory.name, "results.json")
        result = run(TRIAL, *SMALL, "--json", cls.path)
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        cls.out = result.stdout
        with open(cls.path, encoding="utf-8") as file:
            cls.results = json.load(file)

    def test_rows_hold_what_calculation_says(self):
        keys = {run["filter"]: run["keys"]
                for run in self.results["saturation"]}
        self.assertEqual(keys["split"], 8 * 9085)
        for name in ("2BDBF", "matrix"):
            self.assertAlmostEqual(keys[name] / (8 * 9085), 1, delta=0.1)
        # The paper's rule fills one row after the other.
        self.assertAlmostEqual(keys["M-BMBF"] / (8 * 9085), 1, delta=0.02)
        # A choice between even rows finds bits that are set already.
        self.assertGreater(keys["even M-BMBF"] / (8 * 9085), 1.05)
        self.assertLess(keys["even M-BMBF"] / (8 * 9085), 1.2)

    def test_observed_rates_are_the_expected_ones(self):
        for row in self.results["by_rows"] + self.results["by_keys"]:
            expected = 20000 * row["expected_fpr"]
            self.assertAlmostEqual(20000 * row["observed_fpr"], expected,
                                   delta=4 * expected**0.5 + 2)

    def test_tables_have_every_filter(self):
        for name in ("split", "2BDBF", "M-BMBF", "even M-BMBF",
                     "matrix"):
            self.assertIn(f"| {name} |", self.out)

    def test_every_claim_has_a_measurement(self):
        for name in ("M-BMBF", "even M-BMBF"):
            claims = [row for row in self.results["verdict"]
                      if row["filter"] == name]
            self.assertEqual(len(claims), 4)
        for row in self.results["verdict"]:
            self.assertIn(row["measured"], self.out)

    def test_a_path_that_cannot_be_written_costs_no_run(self):
        result = run(TRIAL, "--json", "no/such/directory/results.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no/such/directory", result.stderr)

    def test_results_can_be_drawn(self):
        svg = self.path + ".svg"
        for measure in ("absent", "present", "rate"):
            for by in ("rows", "keys"):
                result = run(sys.executable, PLOT, "matrix_trial", self.path,
                             "--measure", measure, "--by", by, "-o", svg)
                self.assertEqual(result.returncode, 0, result.stderr)
                text = "".join(xml.etree.ElementTree.parse(svg).getroot()
                               .itertext())
                self.assertIn("M-BMBF", text)

    def test_wrong_usage_exits_with_2(self):
        self.assertEqual(run(TRIAL, "--rows", "3").returncode, 2)
        self.assertEqual(run(TRIAL, "--help").returncode, 0)


if __name__ == "__main__":
    TRIAL, PLOT = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
