# SPDX-License-Identifier: Apache-2.0
"""The family blocked_bloom."""

from .coding import MASK64, fixed, high, require

LINE_SIZE = 64


class BlockedBloom:
    def __init__(self, descriptor, units):
        self.probes = descriptor.parameters - 256
        require(1 <= self.probes <= 16, "probes of blocked_bloom")
        require(len(units) == 1, "blocked_bloom is one unit")
        self.data = units[0]
        self.lines, rest = divmod(len(self.data), LINE_SIZE)
        require(1 <= self.lines <= 1 << 40 and rest == 0, "whole lines")
        require(descriptor.key_count <= 8 * len(self.data), "too many keys")

    def may_contain(self, digest):
        line = LINE_SIZE * high(digest, self.lines)
        g = digest * 0x9e3779b97f4a7c15 & MASK64
        if not self.has_round(line, g, min(self.probes, 8)):
            return False
        if self.probes <= 8:
            return True
        g = (g ^ g >> 32) * 0x9b05688c2b3e6c1f & MASK64
        return self.has_round(line, g, self.probes - 8)

    def has_round(self, line, g, probes):
        rotation = g >> 13 & 7
        for i in range(8):
            if (i + rotation) % 8 < probes:
                sector = fixed(self.data, line + 8 * i, 8)
                if sector >> (g >> 16 + 6 * i & 63) & 1 == 0:
                    return False
        return True
