# SPDX-License-Identifier: Apache-2.0
"""The family compact."""

from .coding import MASK64, fixed, high, parity, require

UNIT_PLANES = 4
STRIPE_SIZE = 4 * UNIT_PLANES  # In a unit with all of its planes.
PADDING = bytes(12)
MAX_HOMES = 1 << 40
BUMPED_BELOW = (0, 48, 140, 256)  # By code.


def mix(x):
    product = x * 0x9e3779b97f4a7c15
    return product & MASK64 ^ product >> 64


def short_number(mantissa, exponent):
    """Homes of a layer behind the first."""
    value = mantissa << exponent
    require(value >> max(exponent - 1, 0) > 255 or exponent == 0,
            "homes are not in shortest form")
    return value


class Layout:
    def __init__(self, parameters, first_unit_size):
        self.lean = parameters & 31
        self.rich = parameters >> 5 & 255
        seed = parameters >> 13 & 255
        self.seed = 0xa54ff53a5f1d36f1 * (2 * seed + 1) & MASK64
        later_homes = []
        for i in range(3):
            number = parameters >> 21 + 13 * i
            later_homes.append(short_number(number & 255, number >> 8 & 31))
        require(self.lean > 0 and parameters >> 60 == 0, "parameters")
        while later_homes and later_homes[-1] == 0:
            later_homes.pop()
        require(0 not in later_homes, "a layer is left out")
        self.homes = [0] + later_homes
        most = self.lean + (self.rich > 0)
        self.unit_count = (most + UNIT_PLANES - 1) // UNIT_PLANES
        self.find_first_homes(first_unit_size)

    def find_first_homes(self, size):
        """Unit 0 grows by four bytes or more with each home."""
        low, most = 1, min(size // 4, MAX_HOMES)
        while low < most:
            self.homes[0] = (low + most) // 2
            if self.unit_size(0) < size:
                low = self.homes[0] + 1
            else:
                most = self.homes[0]
        self.homes[0] = low
        require(self.unit_size(0) == size, "size of unit 0")

    def first_stripe(self, layer):
        return sum(homes + 1 for homes in self.homes[:layer])

    def stripes(self):
        return self.first_stripe(len(self.homes))

    def rich_homes(self):
        return (self.homes[0] * self.rich + 128) // 256

    def rich_stripes(self):
        homes = self.rich_homes()
        return homes + 1 if homes > 0 else 0

    def lean_planes(self, unit):
        return min(self.lean - UNIT_PLANES * unit, UNIT_PLANES)

    def is_full(self, unit):
        return self.lean_planes(unit) == UNIT_PLANES

    def stripe_at(self, unit, stripe):
        if self.is_full(unit):
            return STRIPE_SIZE * stripe
        return 4 * (stripe * self.lean_planes(unit) +
                    min(stripe, self.rich_stripes()))

    def codes_at(self):
        padding = 0 if self.is_full(0) else len(PADDING)
        return self.stripe_at(0, self.stripes()) + padding

    def unit_size(self, unit):
        if unit == 0:
            return self.codes_at() + (self.stripes() + 3) // 4
        padding = 0 if self.is_full(unit) else len(PADDING)
        return self.stripe_at(unit, self.stripes()) + padding


class Compact:
    def __init__(self, descriptor, units):
        require(units, "compact has a unit")
        self.units = units
        self.layout = layout = Layout(descriptor.parameters, len(units[0]))
        require([layout.unit_size(u) for u in range(layout.unit_count)] ==
                [len(unit) for unit in units], "sizes of units")
        for u, unit in enumerate(units):
            end = layout.stripe_at(u, layout.stripes())
            require(layout.is_full(u) or
                    unit[end:end + len(PADDING)] == PADDING,
                    "bytes behind a unit's stripes")
        self.codes = units[0][layout.codes_at():]
        codes_of_last = (layout.stripes() - 1) % 4 + 1
        require(self.codes[-1] >> 2 * codes_of_last == 0,
                "codes behind the last stripe")

    def may_contain(self, digest):
        layout = self.layout
        for layer, homes in enumerate(layout.homes):
            if layer > 0:
                digest = mix(digest ^ 0xbb67ae8584caa73b)
            home = high(digest, homes)
            position = (digest * homes & MASK64) >> 56
            stripe = layout.first_stripe(layer) + home
            code = self.codes[stripe // 4] >> 2 * (stripe % 4) & 3
            if position >= BUMPED_BELOW[code]:
                is_rich = layer == 0 and home < layout.rich_homes()
                planes = layout.lean + is_rich
                return self.matches(stripe, planes, mix(digest ^ layout.seed))
        return True

    def matches(self, stripe, planes, equation):
        fingerprint = (equation * 0xbb67ae8584caa73b & MASK64) >> 32
        for c in range(planes):
            unit, plane = divmod(c, UNIT_PLANES)
            slots = self.plane(unit, stripe, plane)
            slots |= self.plane(unit, stripe + 1, plane) << 32
            if parity(slots & equation) != fingerprint >> c & 1:
                return False
        return True

    def plane(self, unit, stripe, plane):
        at = self.layout.stripe_at(unit, stripe) + 4 * plane
        return fixed(self.units[unit], at, 4)
