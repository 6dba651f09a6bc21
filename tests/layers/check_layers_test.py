#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of check_layers.py is broken once, in a tiny tree, and found."""

import tempfile
import unittest
from pathlib import Path

import check_layers

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
TABLE = """
| room | may include | public headers | libraries |
|---|---|---|---|
| `util` | - | `version.h` | absl |
| `key` | - | - | xxhash |
| `filter` | key | `filter.h` | absl |
| `block` | filter | - | - |
| `hosts/c` | public util | - | - |
| `rocksdb_plugin` | public | - | rocksdb |
| `tools` | public rocksdb_plugin `rocksdb_plugin/lent.h` | - | absl |
"""


def header(guard, *includes):
    body = "".join(f"#include {name}\n" for name in includes)
    return f"{SPDX}#ifndef {guard}\n#define {guard}\n{body}#endif\n"


def source(*includes):
    return SPDX + "".join(f"#include {name}\n" for name in includes)


GOOD_TREE = {
    "docs/architecture.md": TABLE,
    "include/rowbloom/version.h": header("ROWBLOOM_VERSION_H_"),
    "include/rowbloom/filter.h": header(
        "ROWBLOOM_FILTER_H_", "<vector>", '"absl/status/status.h"',
        '"rowbloom/version.h"'),
    "src/util/check.h": header("ROWBLOOM_UTIL_CHECK_H_", "<cstdio>"),
    "src/key/digest.h": header(
        "ROWBLOOM_KEY_DIGEST_H_", '"util/check.h"', "<xxhash.h>"),
    "src/filter/family.h": header(
        "ROWBLOOM_FILTER_FAMILY_H_", '"rowbloom/filter.h"',
        '"key/digest.h"'),
    "src/filter/lines_kernel.h": header(
        "ROWBLOOM_FILTER_LINES_KERNEL_H_", "<stdint.h>"),
    "src/filter/lines_avx2.cc": source(
        "<immintrin.h>", '"filter/lines_kernel.h"'),
    # Key is granted by way of filter.
    "src/block/parser.cc": source('"filter/family.h"', '"key/digest.h"'),
    "rocksdb_plugin/include/rowbloom/rocksdb.h": header(
        "ROWBLOOM_ROCKSDB_H_", '"rocksdb/status.h"', '"rowbloom/filter.h"'),
    "hosts/c/include/rowbloom/c.h": header("ROWBLOOM_C_H_"),
    "hosts/c/handles.h": header(
        "ROWBLOOM_C_HANDLES_H_", '"rowbloom/c.h"', '"rowbloom/filter.h"',
        '"util/check.h"'),
    "rocksdb_plugin/lent.h": header("ROWBLOOM_ROCKSDB_PLUGIN_LENT_H_"),
    "rocksdb_plugin/abi.h": header("ROWBLOOM_ROCKSDB_PLUGIN_ABI_H_"),
    "rocksdb_plugin/policy.cc": source('"abi.h"', '"rowbloom/rocksdb.h"'),
    "tools/main.cc": source(
        '"rowbloom/rocksdb.h"', '"rowbloom/filter.h"',
        '"rocksdb_plugin/lent.h"'),
    "tests/util/check_test.cc": source('"filter/family.h"'),
    "scripts/run.sh": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n",
}


class CheckLayers(unittest.TestCase):
    def problems(self, changes, root=None):
        if root is None:
            with tempfile.TemporaryDirectory() as temporary:
                return self.problems(changes, temporary)
        for name, text in {**GOOD_TREE, **changes}.items():
            path = Path(root, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check_layers.Checker(Path(root)).run()

    def assert_found(self, changes, place, text):
        problems = self.problems(changes)
        self.assertEqual(len(problems), 1, problems)
        self.assertTrue(problems[0].startswith(place + ":"), problems)
        self.assertIn(text, problems[0])

    def test_good_tree_has_no_problem(self):
        self.assertEqual(self.problems({}), [])

    def test_layer_that_was_not_granted(self):
        self.assert_found(
            {"src/key/digest.cc": source('"filter/family.h"')},
            "src/key/digest.cc:2", "key may not include filter")

    def test_util_includes_no_layer(self):
        self.assert_found(
            {"src/util/cpu.cc": source('"key/digest.h"')},
            "src/util/cpu.cc:2", "util may not include key")

    def test_public_header_of_a_layer_that_was_not_granted(self):
        self.assert_found(
            {"src/key/digest.cc": source('"rowbloom/filter.h"')},
            "src/key/digest.cc:2", "key may not include filter")

    def test_core_sees_no_engine(self):
        self.assert_found(
            {"src/block/parser.cc": source('"rocksdb/db.h"')},
            "src/block/parser.cc:2", "'rocksdb' is not among the libraries")
        self.assert_found(
            {"src/block/parser.cc": source('"rowbloom/rocksdb.h"')},
            "src/block/parser.cc:2", "block may not include rocksdb_plugin")

    def test_library_in_angle_brackets(self):
        self.assert_found(
            {"src/block/parser.cc": source("<xxhash.h>")},
            "src/block/parser.cc:2", "'xxhash' is not among the libraries")

    def test_misspelt_file_is_no_library(self):
        self.assert_found(
            {"src/block/parser.cc": source('"filter/famly.h"')},
            "src/block/parser.cc:2", "'filter' is not among the libraries")

    def test_public_header_hides_the_sources(self):
        self.assert_found(
            {"include/rowbloom/version.h":
             header("ROWBLOOM_VERSION_H_", '"util/check.h"')},
            "include/rowbloom/version.h:4", "only public headers")

    def test_plugin_and_tools_see_only_public_headers(self):
        for room in ("rocksdb_plugin", "tools"):
            self.assert_found(
                {f"{room}/main.cc": source('"filter/family.h"')},
                f"{room}/main.cc:2", "sees only public headers")
        self.assert_found(
            {"tools/main.cc": source('"rocksdb_plugin/abi.h"')},
            "tools/main.cc:2", "sees only public headers")

    def test_host_sees_the_rooms_of_its_row(self):
        self.assert_found(
            {"hosts/c/cache.cc": source('"filter/family.h"')},
            "hosts/c/cache.cc:2", "hosts/c may not include filter")
        self.assert_found(
            {"src/block/parser.cc": source('"rowbloom/c.h"')},
            "src/block/parser.cc:2", "block may not include hosts/c")
        self.assert_found(
            {"hosts/d/d.cc": source()},
            "hosts/d/d.cc:1", "room 'hosts/d' is not in the table")

    def test_rooms_in_a_circle(self):
        table = TABLE.replace("| `key` | - |", "| `key` | block |")
        self.assert_found(
            {"docs/architecture.md": table,
             "src/block/parser.h": header("ROWBLOOM_BLOCK_PARSER_H_"),
             "src/key/digest.cc": source('"block/parser.h"')},
            "docs/architecture.md:1", "circle: block filter key")

    def test_picture(self):
        with tempfile.TemporaryDirectory() as root:
            self.problems({}, root)
            checker = check_layers.Checker(Path(root))
            checker.run()
            self.assertEqual(
                checker.picture().splitlines(),
                ["block   -> filter key",
                 "filter  -> key util",
                 "key     -> util",
                 "4 rooms, 5 arrows, 4 floors, 0 arrows back"])

    def test_nothing_includes_tests(self):
        self.assert_found(
            {"src/block/parser.cc": source('"testing/keys.h"'),
             "tests/testing/keys.h": header("ROWBLOOM_TESTS_TESTING_KEYS_H_")},
            "src/block/parser.cc:2", "block may not include tests")

    def test_kernel_is_a_leaf(self):
        for name in ("src/filter/lines_avx2.cc",
                     "src/filter/lines_portable.cc"):
            for include in ('"util/check.h"', '"absl/base/macros.h"',
                            "<algorithm>"):
                self.assert_found({name: source(include)},
                                  name + ":2", "only kernel headers")
        self.assert_found(
            {"src/filter/lines_kernel.h": header(
                "ROWBLOOM_FILTER_LINES_KERNEL_H_", '"filter/family.h"')},
            "src/filter/lines_kernel.h:4", "only kernel headers")

    def test_room_outside_the_table(self):
        self.assert_found(
            {"src/attic/old.cc": source()},
            "src/attic/old.cc:1", "room 'attic' is not in the table")

    def test_public_header_outside_the_table(self):
        self.assert_found(
            {"include/rowbloom/new.h": header("ROWBLOOM_NEW_H_")},
            "include/rowbloom/new.h:1", "missing from the table")
        # A name in a directory is not the name beside it.
        self.assert_found(
            {"include/rowbloom/mem/filter.h": header(
                "ROWBLOOM_MEM_FILTER_H_")},
            "include/rowbloom/mem/filter.h:1", "missing from the table")

    def test_table_names_a_header_that_is_gone(self):
        table = TABLE.replace("`filter.h`", "`filter.h` `gone.h`")
        self.assert_found({"docs/architecture.md": table},
                          "docs/architecture.md:1", "gone.h")

    def test_table_grants_an_unknown_room(self):
        table = TABLE.replace("| filter |", "| filtre |")
        with self.assertRaisesRegex(SystemExit, "filtre"):
            self.problems({"docs/architecture.md": table})

    def test_missing_table(self):
        with self.assertRaisesRegex(SystemExit, "no table"):
            self.problems({"docs/architecture.md": "nothing here"})

    def test_missing_spdx_line(self):
        for name in ("src/util/cpu.cc", "scripts/run.sh", "CMakeLists.txt"):
            self.assert_found({name: "\n"}, name + ":1", "SPDX")

    def test_include_guard_of_another_path(self):
        self.assert_found(
            {"src/util/check.h": header("ROWBLOOM_CHECK_H_")},
            "src/util/check.h:1", "is not ROWBLOOM_UTIL_CHECK_H_")

    def test_two_files_with_one_include_guard(self):
        self.assert_found(
            {"src/util/check_h.h": header("ROWBLOOM_UTIL_CHECK_H_H_"),
             "src/util/check/h.h": header("ROWBLOOM_UTIL_CHECK_H_H_")},
            "src/util/check_h.h:1", "same include guard")

    def test_comment_without_a_subject(self):
        for comment in ("// Of the newest file.", "int a;  // What remains.",
                        "// Reads it. Whether\n// it is there."):
            self.assert_found({"src/util/cpu.cc": SPDX + comment},
                              "src/util/cpu.cc:2", "no subject")
        self.assertEqual(self.problems({
            "src/util/cpu.cc": SPDX + "// What is left? The rest of it.\n"
            "const char* a = \"Of it\";  // True if it is the whole.\n"}), [])

    def test_body_without_braces(self):
        for head in ("if (a)", "  } else",
                     "for (int i = 0;\n     i < f(\")\");)"):
            text = SPDX + head + "\n  b();\n"
            self.assert_found(
                {"src/util/cpu.cc": text},
                f"src/util/cpu.cc:{text.count(chr(10))}", "without braces")
        self.assertEqual(self.problems({
            "src/util/cpu.cc": SPDX + "if (a) b();\nif (a) {\n  b();\n}\n"
            "do {\n} while (f(a));\n\nfor (; i < 3;\n     ++i) {\n}\n"}), [])

    def test_private_name_in_a_public_namespace(self):
        def text(guard, space):
            return header(guard) + f"namespace {space} {{\n}}\n"
        for path, guard, room in (
                ("src/util/a.h", "UTIL_A", "util"),
                ("hosts/c/a.h", "C_A", "c"),
                ("rocksdb_plugin/a.h", "ROCKSDB_PLUGIN_A", "plugin")):
            guard = f"ROWBLOOM_{guard}_H_"
            self.assert_found({path: text(guard, "rowbloom")},
                              f"{path}:5", f"belong in rowbloom::{room}")
            self.assertEqual(self.problems({
                path: text(guard, f"rowbloom::{room}")}), [])
            self.assertEqual(self.problems({
                path: text(guard, f"rowbloom::internal::{room}")}), [])

    def test_users_name_in_a_public_header(self):
        def text(space):
            return header("ROWBLOOM_VERSION_H_") + f"namespace {space} {{\n}}\n"
        path = "include/rowbloom/version.h"
        self.assert_found({path: text("rowbloom::cache")},
                          f"{path}:5", "a user's name may be the same")
        self.assertEqual(self.problems({
            path: text("rowbloom::internal::cache")}), [])

    def test_81_columns(self):
        self.assert_found({"src/util/cpu.cc": SPDX + "/" * 81},
                          "src/util/cpu.cc:2", "80 columns")
        self.assertEqual(
            self.problems({"src/util/cpu.cc": SPDX + "/" * 80}), [])


if __name__ == "__main__":
    unittest.main()
