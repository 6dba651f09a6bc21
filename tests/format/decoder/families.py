# SPDX-License-Identifier: Apache-2.0
"""The descriptor of a filter, and the family that reads its units."""

from . import blocked_bloom, compact, fast
from .coding import require
from .xxh3 import xxh3_64


class AlwaysMaybe:
    def __init__(self, descriptor, units):
        require(not units and descriptor.parameters == 0,
                "always_maybe with units or parameters")

    def may_contain(self, _):
        return True


FAMILIES = {1: AlwaysMaybe, 2: blocked_bloom.BlockedBloom, 3: fast.Fast,
            4: compact.Compact}


def checksum(data):
    return xxh3_64(data) & 0xFFFFFFFF


class Descriptor:
    def __init__(self, cursor):
        require(cursor.integer(1) == 1, "no descriptor of version 1")
        self.family = cursor.integer(1)
        require(self.family in FAMILIES, "no such family")
        unit_count = cursor.integer(1)
        require(unit_count <= 8, "more than 8 units")
        self.parameters = cursor.varint()
        self.key_count = cursor.varint()
        self.unit_sizes = []
        self.unit_checksums = []
        for _ in range(unit_count):
            self.unit_sizes.append(cursor.varint())
            self.unit_checksums.append(cursor.integer(4))
        self.size = sum(self.unit_sizes)
        require(self.size < 1 << 64, "units of 2^64 bytes")

    def units(self, data):
        """Splits bytes of the descriptor's size."""
        units = []
        for size in self.unit_sizes:
            units.append(data[:size])
            data = data[size:]
        return units

    def verify(self, data):
        for unit, expected in zip(self.units(data), self.unit_checksums):
            require(checksum(unit) == expected, "checksum of a unit")

    def filter(self, data):
        """Answers may_contain(digest); data are the units."""
        return FAMILIES[self.family](self, self.units(data))
