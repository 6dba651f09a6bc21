#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of check_hit.py is broken once, in a tiny tree, and found."""

import tempfile
import unittest
from pathlib import Path

import check_hit

HIT = ["reader/filter_lookup.cc", "reader/block_reader.h",
       "key/filter_key.cc", "filter/lines_avx2.cc"]
MISS = ["reader/filter_load.cc", "cache/chunk_cache.h"]


def table(hit, miss):
    def cell(files):
        return " ".join(f"`{file}`" for file in files)
    return ("| step | files |\n|---|---|\n"
            f"| hit: 1 to 4 | {cell(hit)} |\n"
            f"| miss: 5 to 8 | also {cell(miss)} |\n"
            "| RocksDB hit | `policy/row_filter_reader.cc` |\n"
            "| RocksDB miss | also `policy/filter_info.cc` |\n")


def source(*includes):
    return "".join(f'#include "{name}"\n' for name in includes)


GOOD_TREE = {
    "docs/architecture.md": table(HIT, MISS),
    "include/rowbloom/filter_key.h": "",
    "include/rowbloom/filter_state.h": "",
    "include/rowbloom/filter.h": source("rowbloom/filter_state.h"),
    "src/util/check.h": "",
    "src/reader/filter_lookup.cc": source(
        "reader/block_reader.h", "rowbloom/filter_key.h"),
    "src/reader/block_reader.h": source(
        "absl/types/span.h", "rowbloom/filter.h", "util/check.h"),
    "src/key/filter_key.cc": source("rowbloom/filter_key.h"),
    "src/filter/blocked_bloom/blocked_bloom_kernel.h": source(
        "rowbloom/filter_state.h"),
    # A filter calls it by a pointer in its state.
    "src/filter/lines_avx2.cc": source(
        "filter/blocked_bloom/blocked_bloom_kernel.h"),
    "src/reader/filter_load.cc": source(
        "reader/block_reader.h", "cache/chunk_cache.h"),
    "src/cache/chunk_cache.h": "",
    "src/cache/other.h": "",
    "rocksdb_plugin/policy/row_filter_reader.cc": source(
        "rocksdb/slice.h", "rowbloom/rocksdb.h"),
    "rocksdb_plugin/policy/filter_info.cc": source("rowbloom/rocksdb.h"),
    "rocksdb_plugin/include/rowbloom/rocksdb.h": "",
}


class CheckHit(unittest.TestCase):
    def problems(self, changes):
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**GOOD_TREE, **changes}.items():
                path = Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_hit.Checker(Path(root)).run()

    def assert_found(self, changes, *texts):
        problems = self.problems(changes)
        self.assertEqual(len(problems), len(texts), problems)
        for problem, text in zip(problems, texts):
            self.assertIn(text, problem)

    def test_good_tree_has_no_problem(self):
        self.assertEqual(self.problems({}), [])

    def test_file_that_is_included_but_not_listed(self):
        self.assert_found(
            {"src/reader/filter_load.cc": source(
                "reader/block_reader.h", "cache/chunk_cache.h",
                "cache/other.h")},
            "miss: reader/filter_load.cc includes cache/other.h")

    def test_hit_does_not_lean_on_the_files_of_a_miss(self):
        self.assert_found(
            {"src/reader/block_reader.h": source(
                "rowbloom/filter.h", "cache/chunk_cache.h")},
            "hit: reader/block_reader.h includes cache/chunk_cache.h")

    def test_header_that_nothing_includes(self):
        self.assert_found(
            {"docs/architecture.md": table(HIT, MISS + ["cache/other.h"])},
            "miss: nothing leads to cache/other.h")

    def test_source_of_which_no_header_is_reached(self):
        self.assert_found(
            {"src/cache/other.cc": source("cache/other.h"),
             "docs/architecture.md": table(
                 HIT, MISS + ["cache/other.cc", "cache/other.h"])},
            "nothing leads to cache/other.cc",
            "nothing leads to cache/other.h")

    def test_file_that_is_gone(self):
        self.assert_found(
            {"docs/architecture.md": table(HIT, MISS + ["cache/gone.h"])},
            "miss: cache/gone.h does not exist")

    def test_file_that_is_listed_twice(self):
        self.assert_found(
            {"docs/architecture.md": table(HIT, MISS + MISS[:1])},
            "miss: a file is listed twice")

    def test_list_without_the_entry(self):
        self.assert_found(
            {"docs/architecture.md": table(HIT[1:], MISS + HIT[:1])},
            "hit: a file is listed twice, or reader/filter_lookup.cc never")

    def test_list_that_grows(self):
        more = {f"src/reader/part{i}.h": "" for i in range(10)}
        parts = [name[len("src/"):] for name in more]
        self.assert_found(
            {**more,
             "src/reader/filter_lookup.cc": source(
                 "reader/block_reader.h", "rowbloom/filter_key.h", *parts),
             "docs/architecture.md": table(HIT + parts, MISS)},
            "hit: 14 files, more than 10")

    def test_file_of_the_plugin_that_is_included_but_not_listed(self):
        self.assert_found(
            {"rocksdb_plugin/policy/filter_info.cc": source(
                "rowbloom/rocksdb.h", "policy/other.h"),
             "rocksdb_plugin/policy/other.h": ""},
            "RocksDB miss: policy/filter_info.cc includes policy/other.h")

    def test_missing_table(self):
        with self.assertRaisesRegex(SystemExit, "no table"):
            self.problems({"docs/architecture.md": "nothing here"})


if __name__ == "__main__":
    unittest.main()
