# SPDX-License-Identifier: Apache-2.0
"""The vectors find decoders with a mistake, once for each of these mistakes."""

import collections
import pathlib
import unittest
from unittest.mock import patch

import cases
from decoder import Block, block, blocked_bloom, compact, fast, key_codec
from decoder import keys, mem_filter

VECTORS = cases.read(pathlib.Path(__file__).parent / "vectors")


def end_at_00_01(row, at, _):
    """`ordered` as if another byte behind its 00 did not end it."""
    end = row.find(b"\0\1", at)
    return end + 2 if end >= 0 else None


def end_at_00(row, at, _):
    """`ordered` without the byte behind its 00."""
    end = key_codec.ordered_end(row, at, 0)
    return end and end - 1


MISTAKES = [
    patch.dict(key_codec.ENDS, {b"ordered": end_at_00}),
    patch.object(Block, "verify", lambda self: None),
    patch.object(block, "order", lambda key: (key[0], key[1] or b"")),
    patch.object(blocked_bloom, "high", lambda x, n: x % n),
    patch.object(compact, "BUMPED_BELOW", (0, 0, 0, 0)),
    patch.object(compact, "mix", lambda x: x),
    patch.object(compact.Layout, "rich_homes", lambda self: 0),
    patch.object(fast.Fast, "threshold", lambda self, line: 0),
    patch.object(keys.Secret, "stored", lambda self, digest: digest),
    patch.object(mem_filter, "high", lambda x, n: x % n),
    patch.object(mem_filter.Matrix, "candidate",
                 lambda self, digest, group, in_group: group * in_group)]


def differences():
    counts = collections.Counter()
    return [difference for case in VECTORS
            for difference in case.differences(counts)]


class CheckFormat(unittest.TestCase):
    def test_the_decoder_has_no_difference(self):
        self.assertEqual(differences(), [])

    def test_mistakes_are_found(self):
        for mistake in MISTAKES:
            with self.subTest(str(vars(mistake))), mistake:
                self.assertNotEqual(differences(), [])

    def test_ordered_that_ends_at_00_01_only_loses_rows(self):
        with patch.dict(key_codec.ENDS, {b"ordered": end_at_00_01}):
            found = differences()
        self.assertTrue(any("a wrong no" in text for text in found), found)


if __name__ == "__main__":
    unittest.main()
