#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs reader_bench in its quick form and checks what it says, times apart.

    reader_bench_test.py READER_BENCH PLOT_PY
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PERCENT = [0, 10, 100]
UNIFORM = ["absent", "half", "present", "present_one_level"]
SWEEPS = ["sweep_4", "sweep_16", "sweep_64", "sweep_256", "sweep_1024"]


def bench(*args):
    return subprocess.run([BENCH, *args], capture_output=True, text=True,
                          check=False)


def plot(*args):
    return subprocess.run([sys.executable, PLOT, *args], capture_output=True,
                          text=True, check=False)


class OneRun(unittest.TestCase):
    """All of these look at one run of everything."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.json_path = os.path.join(cls.directory.name, "results.json")
        cls.result = bench("--quick", "--json", cls.json_path)
        if cls.result.returncode != 0:
            raise AssertionError(cls.result.stderr)
        with open(cls.json_path, encoding="utf-8") as file:
            cls.json = json.load(file)

    def precision_of(self, policy, bits):
        runs = [run for run in self.json["precision"]["runs"]
                if (run["policy"], run["resident_bits_per_key"]) ==
                (policy, bits)]
        self.assertEqual(len(runs), 1)
        return runs[0]

    def harm_runs(self, loading, workloads):
        runs = [run for run in self.json["harm"]["runs"]
                if run["loading"] == loading and run["workload"] in workloads]
        self.assertEqual(len(runs), 3 * len(workloads) * len(PERCENT))
        return runs

    def test_no_policy_wastes_less_than_the_optimum(self):
        for bits in [2, 5, 10, 15]:
            optimum = self.precision_of("optimum", bits)
            for policy in ["late_bound", "whole_kept"]:
                # The gets are a sample.
                self.assertGreater(
                    self.precision_of(policy, bits)
                    ["wasted_reads_per_1000_gets"],
                    0.8 * optimum["wasted_reads_per_1000_gets"])

    def test_optimum_is_the_stored_rate_once_all_fits(self):
        precision = self.json["precision"]
        columns = (precision["stored_bits_per_key"] /
                   precision["bits_per_key_and_column"])
        levels = len(precision["level_keys"])
        self.assertAlmostEqual(
            self.precision_of("optimum", 15)["wasted_reads_per_1000_gets"] /
            (1000 * levels * 2**-columns), 1, delta=0.05)

    def test_columns_beat_whole_chunks_of_the_same_bytes(self):
        for bits in [2, 5, 10]:
            late, always, kept = (
                self.precision_of(policy, bits)
                for policy in ["late_bound", "whole_always", "whole_kept"])
            self.assertLess(late["times_optimum"], 1.5)
            self.assertGreater(kept["wasted_reads_per_1000_gets"],
                               1.5 * late["wasted_reads_per_1000_gets"])
            for other in [kept, always]:
                self.assertGreater(other["bytes_read_per_get"],
                                   1.5 * late["bytes_read_per_get"])
            self.assertLessEqual(late["chunk_bits_per_key"], bits)
            self.assertLess(late["filter_reads_per_1000_gets"], 2)

    def test_filters_written_for_the_memory_are_as_good_as_columns(self):
        for bits in [2, 5, 10]:
            late = self.precision_of("late_bound", bits)
            written = self.precision_of("written_by_budget", bits)
            self.assertLess(written["times_optimum"], 1.5)
            self.assertGreater(written["times_optimum"],
                               0.7 * late["times_optimum"])
            self.assertLessEqual(written["chunk_bits_per_key"], 1.05 * bits)

    def test_columns_beat_filters_written_for_more_memory(self):
        for bits in [2, 5]:
            self.assertGreater(
                self.precision_of("budget_then_less", bits)
                ["wasted_reads_per_1000_gets"],
                1.5 * self.precision_of("late_bound", bits)
                ["wasted_reads_per_1000_gets"])

    def test_loads_that_must_pay_never_do_more_than_the_bound(self):
        for run in self.harm_runs("when_it_pays", UNIFORM + SWEEPS):
            self.assertLessEqual(run["ratio"], 1.02, run)
            # The filters of a cache once, and the ledger's slack and samples.
            self.assertLessEqual(run["worst_excess_bytes"],
                                 run["cache_bytes"] + (768 << 10), run)
            self.assertAlmostEqual(
                run["ratio"] * run["unfiltered_bytes_per_get"],
                run["bytes_read_per_get"], places=3)

    def test_loads_that_need_not_pay_do_harm(self):
        for run in self.harm_runs("always", UNIFORM + SWEEPS):
            if run["cache_percent"] == 0:
                self.assertGreater(run["ratio"], 2, run)

    def test_a_cache_for_all_filters_saves_most_reads_of_absent_rows(self):
        for run in self.harm_runs("when_it_pays", ["absent"]):
            if run["cache_percent"] == 100:
                self.assertLess(run["ratio"], 0.25, run)

    def test_memo_saves_repeated_false_positives(self):
        runs = {(run["zipf"], run["entries"]): run
                for run in self.json["memo"]["runs"]}
        self.assertEqual(len(runs), 4)
        zipf, uniform = runs[0.99, 100], runs[0, 100]
        self.assertGreater(zipf["times_fewer"], 2)
        self.assertGreater(zipf["times_fewer"], uniform["times_fewer"])
        for run in runs.values():
            self.assertEqual(run["memo_bytes"], run["entries"] *
                             self.json["memo"]["entry_bytes"])
            self.assertGreaterEqual(run["most_times_fewer"], 1)

    def test_terminal_shows_every_table(self):
        for words in ["Precision: ", "late_bound", "Bytes read with filters",
                      "sweep_1024", "Memo: "]:
            self.assertIn(words, self.result.stdout)

    def test_plots_are_well_formed_and_name_their_lines(self):
        for kind, words in [("reader_precision", "as many columns as pay"),
                            ("reader_harm", "half absent, always load")]:
            svg = os.path.join(self.directory.name, kind + ".svg")
            result = plot(kind, self.json_path, "-o", svg)
            self.assertEqual(result.returncode, 0, result.stderr)
            texts = [element.text for element in
                     xml.etree.ElementTree.parse(svg).iter() if element.text]
            self.assertIn(words, texts)


class Rules(unittest.TestCase):

    def test_ablation_compares_each_rule_over_the_same_workloads(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "results.json")
            result = bench("ablation", "--quick", "--json", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(path, encoding="utf-8") as file:
                runs = json.load(file)["ablation"]["runs"]
        with_rules = {}
        for run in runs:
            with_rules.setdefault(run["rule"], {})[run["workload"]] = (
                run["with"])
        self.assertEqual(len(with_rules), 6)
        for measures in with_rules.values():
            self.assertEqual(measures, with_rules["hysteresis"])
        needed = {run["rule"] for run in runs if run["is_worse"]}
        # Without them the bytes read grow by much.
        self.assertLessEqual({"wasted_share", "hysteresis"}, needed)

    def test_a_rule_can_be_switched_off(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "results.json")
            ratios = []
            for flags in [[], ["--without", "hysteresis"]]:
                result = bench("harm", "--quick", "--policies",
                               "compact:bits_per_key=14", "--always_gets",
                               "0", "--cache_percent", "10", *flags, "--json",
                               path)
                self.assertEqual(result.returncode, 0, result.stderr)
                with open(path, encoding="utf-8") as file:
                    runs = json.load(file)["harm"]["runs"]
                ratios.append(sum(run["ratio"] for run in runs))
            self.assertLess(ratios[0], ratios[1])


class Counts(unittest.TestCase):

    def test_the_same_command_gives_the_same_counts(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "results.json")
            for name, *args in [
                    ["precision", "--keys", "200000", "--gets", "200000"],
                    ["harm", "--keys", "100000", "--gets", "20000"],
                    ["memo", "--rows", "100000", "--gets", "200000"]]:
                results = []
                for _ in range(2):
                    result = bench(name, "--quick", *args, "--json", path)
                    self.assertEqual(result.returncode, 0, result.stderr)
                    with open(path, encoding="utf-8") as file:
                        results.append(json.load(file))
                self.assertEqual(list(results[0]),
                                 ["format_version", "machine", name])
                self.assertEqual(results[0], results[1])


class Errors(unittest.TestCase):

    def test_help_is_no_error(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("precision", result.stdout)

    def test_bad_usage_exits_with_2(self):
        for args, told in [
                (["--no_such_flag"], "--no_such_flag"),
                (["no_such_command"], "no_such_command"),
                (["precision", "--keys", "0"], "--keys"),
                (["harm", "--policies", "no_family"], "no_family"),
                (["memo", "--zipf", "-1"], "--zipf"),
                (["--without", "no_rule"], "no_rule")]:
            result = bench(*args)
            self.assertEqual(result.returncode, 2, args)
            self.assertIn(told, result.stderr)

    def test_unwritable_json_is_told_at_once(self):
        result = bench("--json", "/nonexistent/results.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nonexistent/results.json", result.stderr)

    def test_plot_of_something_else_fails(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"benchmark": "other"}')
            file.flush()
            result = plot("reader_harm", file.name, "-o", os.devnull)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot be drawn", result.stderr)


if __name__ == "__main__":
    BENCH, PLOT = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
