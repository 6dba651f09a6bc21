# SPDX-License-Identifier: Apache-2.0
"""Keys as they are stored, their digests, and a secret over digests.

A stored key is a pair of a row and a qualifier, None in keys of kind 1.
"""

from .coding import MASK64, require
from .xxh3 import xxh3_64

MASK128 = (1 << 128) - 1


def read_key(cursor):
    kind = cursor.integer(1)
    require(kind in (1, 2), "no such kind of key")
    row = cursor.sized()
    return row, cursor.sized() if kind == 2 else None


def order(key):
    """Sorts keys: a row's own key is before its columns."""
    row, qualifier = key
    return row, qualifier is not None, qualifier or b""


def digest_of(key):
    row, qualifier = key
    digest = xxh3_64(row)
    return digest if qualifier is None else xxh3_64(qualifier, digest)


class Secret:
    """16 bytes that are mixed into digests."""

    def __init__(self, secret):
        h = [xxh3_64(secret, n) for n in range(6)]
        self.check = h[1] or 1
        self.multiplier = h[3] << 64 | h[2]
        self.addend = h[5] << 64 | h[4]

    def stored(self, digest):
        t = (self.multiplier * digest + self.addend & MASK128) >> 64
        u = (t ^ t >> 32) * 0x9fb21c651e98df25 & MASK64
        return u ^ u >> 32
