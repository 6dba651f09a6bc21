#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The check of the ABI notices each kind of change."""

import unittest

import check_abi

HEADER = """
#define ROWBLOOM_ABI 1
// A comment; with a semicolon.
enum {
  ROWBLOOM_NO = 0,  // So.
  ROWBLOOM_MAYBE = 1
};
typedef struct rowbloom_x {
  int size;
} rowbloom_x;
#ifdef __cplusplus
extern "C" {
#endif
ROWBLOOM_API int rowbloom_f(const rowbloom_x* x,
                            int size);
"""
GOLDEN = """ROWBLOOM_ABI 1
ROWBLOOM_NO = 0
ROWBLOOM_MAYBE = 1
typedef struct rowbloom_x {int size;} rowbloom_x
ROWBLOOM_API int rowbloom_f(const rowbloom_x* x, int size)
"""
TEST = "rowbloom_f(x(2), 1); rowbloom_f(x(2) ? nullptr : x, 1)"


def problems(header=HEADER, symbols=("rowbloom_f",), test=TEST):
    return list(check_abi.problems(header, GOLDEN, set(symbols),
                                   {"test.cc": test}))


class CheckAbi(unittest.TestCase):
    def test_nothing_changed(self):
        self.assertEqual(check_abi.declarations(HEADER), GOLDEN.splitlines())
        self.assertEqual(problems(), [])
        self.assertEqual(problems(HEADER.replace("// A", "// Another")), [])

    def test_a_declaration_changed(self):
        for old, new in (("MAYBE = 1", "MAYBE = 2"),
                         ("int size;", "long size;"),
                         ("int size)", "long size)"), ("ABI 1", "ABI 2")):
            found = problems(HEADER.replace(old, new))
            self.assertEqual(len(found), 2, (old, found))
            self.assertIn("changed or removed", found[0])

    def test_a_function_was_added(self):
        added = HEADER + "ROWBLOOM_API void rowbloom_g(void);\n"
        found = problems(added, ("rowbloom_f", "rowbloom_g"),
                         TEST + "; rowbloom_g()")
        self.assertEqual(len(found), 1, found)
        self.assertIn("not in abi.golden", found[0])

    def test_symbols_and_calls(self):
        self.assertEqual(problems(symbols=()),
                         ["rowbloom_f is not both declared and defined"])
        self.assertEqual(problems(symbols=("rowbloom_f", "leaked")),
                         ["leaked is not both declared and defined"])
        self.assertEqual(problems(test=""),
                         ["test.cc does not have rowbloom_f"])
        self.assertEqual(
            problems(test="rowbloom_f(x(2), 1); g(nullptr)"),
            ["test.cc does not pass a null pointer to rowbloom_f"])

    def test_symbols_of_nm(self):
        output = ("boundary.cc.o:\n0000000000000000 T rowbloom_f\n"
                  "0000 W _ZNSt6vectorD1Ev\n")
        self.assertEqual(check_abi.defined(output), {"rowbloom_f"})


if __name__ == "__main__":
    unittest.main()
