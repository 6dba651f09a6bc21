#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs budget_bench on small trees and checks what it says, times apart.

    budget_bench_test.py BUDGET_BENCH PLOT_PY
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

POLICIES = ["none", "rocksdb_bloom", "rocksdb_bloom_by_level",
            "rocksdb_ribbon_by_level", "composed_ribbon", "compact",
            "blocked_bloom_budget", "compact_budget"]
KEYS = 40000
GETS = 10000


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, check=False)


class Results(unittest.TestCase):
    """All of these look at one run of each command."""

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.databases = os.path.join(cls.directory.name, "databases")
        cls.reads = cls.run_bench(
            "reads", "--policies", ",".join(POLICIES), "--cache_shares", "0.1",
            "--warm_up_gets", "20000", "--timed_gets", "100")
        cls.memory = cls.run_bench(
            "memory", "--policies",
            "rocksdb_bloom,compact_budget,compact_hits_only", "--bits",
            "4,6,8,10", "--hits_only_bits", "0.4,0.8")
        cls.grow = cls.run_bench(
            "grow", "--policies", "rocksdb_bloom,compact_budget", "--inserts",
            "random,append", "--flushes", "45", "--keys_per_flush", "1000",
            "--flushes_per_ingestion", "15", "--grow_gets", "2000")

    @classmethod
    def path(cls, command):
        return os.path.join(cls.directory.name, command + ".json")

    @classmethod
    def run_bench(cls, command, *args):
        result = run(BENCH, command, *args, "--keys", str(KEYS), "--gets",
                     str(GETS), "--wasted_reads", "300", "--directory",
                     cls.databases, "--json", cls.path(command))
        if result.returncode != 0:
            raise AssertionError(result.stderr)
        with open(cls.path(command), encoding="utf-8") as file:
            return json.load(file)

    def tree(self, kind):
        return next(tree for tree in self.reads["reads"]["trees"]
                    if tree["tree"] == kind)

    def run_of(self, policy, missing_share, kind="leveled", mix="uniform",
               cache_share=0):
        runs = [r for r in self.tree(kind)["runs"]
                if (r["policy"], r["missing_share"], r["mix"],
                    r["cache_share"]) ==
                (policy, missing_share, mix, cache_share)]
        self.assertEqual(len(runs), 1)
        return runs[0]

    def times_fewer(self, *args, **kwargs):
        return self.run_of(*args, **kwargs)["times_fewer_than_baseline"]

    def test_no_answer_is_wrong(self):
        for results in [self.reads, self.memory, self.grow]:
            self.assertEqual(results["wrong_answers"], 0)
            self.assertGreater(results["answers_checked"], 2 * 2000)

    def test_trees_have_their_shape(self):
        for kind, levels, ratio in [("leveled", 4, 10), ("universal", 8, 2)]:
            keys = [level["keys"] for level in self.tree(kind)["levels"]]
            self.assertEqual(len(keys), levels)
            self.assertEqual(sum(keys), KEYS)
            for newer, older in zip(keys, keys[1:]):
                self.assertAlmostEqual(older / newer, ratio,
                                       delta=0.05 * ratio)

    def test_every_policy_has_the_same_memory(self):
        for kind in ["leveled", "universal"]:
            policies = self.tree(kind)["policies"]
            self.assertEqual([p["policy"] for p in policies], POLICIES)
            for policy in policies[1:]:
                self.assertAlmostEqual(policy["bits_per_key"], 10, delta=0.3,
                                       msg=policy["policy"])

    def test_every_condition_is_measured(self):
        # Uniform and Zipf without a cache, uniform with one.
        self.assertEqual(len(self.tree("leveled")["runs"]),
                         len(POLICIES) * 3 * 3)
        self.assertEqual(len(self.tree("universal")["runs"]),
                         len(POLICIES) * 3)
        for tree in self.reads["reads"]["trees"]:
            for r in tree["runs"]:
                self.assertEqual(len(r["repetitions"]), 3)
                self.assertEqual(r["index_and_filter_reads"], 0)
                mean = r["wasted_reads_per_1000_gets"]
                self.assertLessEqual(r["least"], mean)
                self.assertLessEqual(mean, r["most"])

    def test_wasted_reads_of_levels_add_up(self):
        for r in self.tree("leveled")["runs"]:
            of_levels = sum(r["wasted_reads_per_1000_gets_by_level"].values())
            repetitions = r["repetitions"]
            gets = sum(one["gets"] for one in repetitions)
            self.assertAlmostEqual(
                of_levels * gets / 1000,
                sum(one["wasted_reads"] for one in repetitions), delta=0.01)

    def test_without_filters_each_run_is_read(self):
        self.assertAlmostEqual(
            self.run_of("none", 1)["wasted_reads_per_1000_gets"], 4000,
            delta=200)
        # A hit finds its key in the last of four runs, mostly.
        self.assertAlmostEqual(
            self.run_of("none", 0)["wasted_reads_per_1000_gets"], 2900,
            delta=200)

    # Three times 10,000 gets see some 51 wasted reads of a policy that wastes
    # 1.7 of 1,000, with a standard deviation of 7: the bounds below are more
    # than four of them off.
    def test_a_budget_wastes_fewer_reads_at_equal_memory(self):
        self.assertGreater(self.times_fewer("compact_budget", 1), 12)
        self.assertGreater(self.times_fewer("compact_budget", 0.5), 16)
        self.assertGreater(self.times_fewer("composed_ribbon", 1), 11)
        self.assertGreater(self.times_fewer("rocksdb_ribbon_by_level", 1), 11)
        self.assertGreater(self.times_fewer("rocksdb_bloom_by_level", 1), 1.4)
        self.assertGreater(self.times_fewer("blocked_bloom_budget", 1), 1.4)
        self.assertGreater(
            self.times_fewer("compact_budget", 1, mix="zipf"), 8)
        self.assertGreater(
            self.times_fewer("compact_budget", 1, kind="universal"), 10)

    def test_and_where_data_is_cached(self):
        self.assertGreater(
            self.times_fewer("compact_budget", 1, cache_share=0.1), 5)
        self.assertGreater(
            self.times_fewer("compact_budget", 0.5, cache_share=0.1), 10)
        for policy in POLICIES:
            self.assertLess(
                self.run_of(policy, 1,
                            cache_share=0.1)["wasted_reads_per_1000_gets"],
                self.run_of(policy, 1)["most"])

    def test_a_budget_comes_near_to_the_optimum(self):
        for kind in ["leveled", "universal"]:
            self.assertGreater(
                self.run_of("compact_budget", 1, kind)["percent_of_optimum"],
                70)
            self.assertLess(
                self.run_of("compact", 1, kind)["percent_of_optimum"], 65)

    def test_delayed_reads_are_in_the_times(self):
        timed = next(policy for policy in self.tree("leveled")["policies"]
                     if policy["policy"] == "none")["timed"]
        self.assertEqual([t["missing_share"] for t in timed], [1, 0.5, 0])
        # Four blocks, of 100 us each.
        self.assertGreater(timed[0]["p50_us"], 399)
        self.assertGreaterEqual(timed[0]["p99_us"], timed[0]["p50_us"])

    def test_equal_reads_take_less_memory(self):
        rows = {row["policy"]: row["bits_per_key"]
                for row in self.memory["memory"]["equal_reads"]}
        self.assertLess(rows["compact_budget"][0], 6.5)
        self.assertLess(rows["compact_budget"][1], 6)
        self.assertLess(rows["compact_hits_only"][2], 0.8)
        self.assertIsNone(rows["compact_hits_only"][0])

    def test_grown_trees_keep_the_budget(self):
        grown = self.grow["grow"]
        self.assertEqual(len(grown), 2 * 2 * 2)
        for tree in grown:
            with self.subTest(tree=tree):
                self.assertEqual(tree["ingested_files"], 3)
                self.assertLessEqual(tree["last_bits_per_key"],
                                     tree["most_bits_per_key"])
                if tree["inserts"] == "append":
                    self.assertGreater(tree["moved_bytes"], 0)
                if tree["policy"] == "rocksdb_bloom":
                    continue
                most = 11.5 if tree["inserts"] == "random" else 14.5
                self.assertLess(tree["last_bits_per_key"], most)

    def test_plots_are_well_formed(self):
        for plot, command in [("budget_memory", "memory"),
                              ("budget_levels", "reads")]:
            svg = os.path.join(self.directory.name, plot + ".svg")
            result = run(sys.executable, PLOT, plot, self.path(command), "-o",
                         svg)
            self.assertEqual(result.returncode, 0, result.stderr)
            texts = [element.text for element in
                     xml.etree.ElementTree.parse(svg).iter() if element.text]
            self.assertIn("compact_budget", texts)

    def test_databases_are_removed(self):
        self.assertEqual(os.listdir(self.databases), [])


class Command(unittest.TestCase):
    def test_help_names_the_commands(self):
        result = run(BENCH, "--help")
        self.assertEqual(result.returncode, 0)
        for command in ["reads", "memory", "grow", "cpu"]:
            self.assertIn(command, result.stdout)

    def test_bad_usage_exits_with_2(self):
        for args in [["--nonsense"], ["reads", "--policies", "best"],
                     ["reads", "--bits_per_key", "1000"]]:
            self.assertEqual(run(BENCH, *args).returncode, 2)

    def test_filters_have_a_share_of_the_time(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "cpu.json")
            result = run(BENCH, "cpu", "--keys", "10000", "--rounds", "1",
                         "--policies", "none,compact", "--json", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(path, encoding="utf-8") as file:
                rows = json.load(file)["cpu"]
        self.assertEqual([row["policy"] for row in rows], ["none", "compact"])
        self.assertEqual(rows[0]["filter_share"], 0)

    def test_unwritable_json_is_told_at_once(self):
        result = run(BENCH, "--json", "/nonexistent/results.json")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nonexistent/results.json", result.stderr)


if __name__ == "__main__":
    BENCH, PLOT = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
