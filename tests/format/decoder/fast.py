# SPDX-License-Identifier: Apache-2.0
"""The family fast."""

from .coding import MASK64, high, parity, require

LINE_SIZE = 64
# Slots of a plane, by planes.
SLOTS = {5: 96, 6: 80, 7: 72, 8: 63, 9: 56, 10: 48, 12: 40, 15: 32}


class Fast:
    def __init__(self, descriptor, units):
        self.planes = descriptor.parameters
        require(self.planes in SLOTS, "planes of fast")
        self.slots = SLOTS[self.planes]
        require(len(units) == 1, "fast is one unit")
        self.data = units[0]
        self.lines, rest = divmod(len(self.data), LINE_SIZE)
        require(1 <= self.lines <= 1 << 40 and rest == 0, "whole lines")

    def line(self, number):
        return self.data[LINE_SIZE * number:LINE_SIZE * (number + 1)]

    def threshold(self, line):
        if self.planes == 8:
            return sum((line[56 + i] >> 7) << i for i in range(8))
        return line[63]

    def may_contain(self, digest):
        home = high(digest, self.lines)
        position = (digest * self.lines & MASK64) >> 57
        line = self.line(home)
        threshold = self.threshold(line)
        if position < threshold:
            if threshold > 128:
                return True
            line = self.line((home + 1) % self.lines)
        return self.matches(line, digest)

    def matches(self, line, digest):
        product = digest * 0x9e3779b97f4a7c15
        low, top = product & MASK64, product >> 64
        selected = low ^ top
        if self.planes == 8:
            selected >>= 1
        elif self.planes < 8:
            selected |= 1 << 64 + (low >> 16) % (self.slots - 64)
        selected &= (1 << self.slots) - 1
        groups = (self.slots + 7) // 8
        for c in range(self.planes):
            # Byte g of the plane holds slots 8 g to 8 g + 7.
            plane = line[c:self.planes * groups:self.planes]
            slots = int.from_bytes(plane, "little")
            if parity(slots & selected) != low >> 8 + c & 1:
                return False
        return True
