# SPDX-License-Identifier: Apache-2.0
"""A saved filter: docs/memfilters.md, "Saved form"."""

import struct

from .coding import MASK64, Cursor, fixed, high, require
from .keys import digest_of
from .xxh3 import xxh3_64

HEADER_SIZE = 32
MAX_LAYERS_MADE_AT_ONCE = 1 << 16


def positions(digest, count, bits):
    """One after the other: most lookups need few."""
    product = digest * 0x3c6ef372fe94f82b
    step = product & MASK64 ^ product >> 64
    for i in range(count):
        x = digest + i * step + 0xa54ff53a5f1d36f1 * ((i**3 - i) // 6)
        yield high(x & MASK64, bits)


def redisson_positions(digest, count, bits):
    x = digest[0]
    for i in range(count):
        yield (x & (1 << 63) - 1) % bits
        x = x + digest[1 - i % 2] & MASK64


class Reader:
    """Takes parameters and arrays off the front."""

    def __init__(self, parameters, words):
        self.parameters = Cursor(parameters)
        self.words = Cursor(words)

    def number(self, least, most):
        value = self.parameters.varint()
        require(least <= value <= most, "a parameter is out of its range")
        return value

    def share(self):
        value, = struct.unpack("<d", self.parameters.take(8))
        require(0 < value < 1, "no share")
        return value

    def shape(self, most_bits=1 << 46, most_probes=255):
        return self.number(1, most_bits), self.number(1, most_probes)

    def bits(self, count):
        array = self.words.take(8 * ((count + 63) // 64))
        require(int.from_bytes(array[-8:], "little") >>
                (count - 1) % 64 + 1 == 0, "bits behind an array")
        return array


class Layer:
    """An array of bits."""

    def __init__(self, bits, probes, array):
        self.bits = bits
        self.probes = probes
        self.array = array

    def set_bits(self):
        return int.from_bytes(self.array, "little").bit_count()

    def holds(self, digest, positions_of=positions):
        return all(self.array[position // 8] >> position % 8 & 1
                   for position in positions_of(digest, self.probes, self.bits))


class Standard:
    def __init__(self, reader):
        bits, probes = reader.shape()
        self.layer = Layer(bits, probes, reader.bits(bits))

    def may_contain(self, digest):
        return self.layer.holds(digest)


class Redisson:
    def __init__(self, reader):
        bits, probes = reader.shape((1 << 32) - 2, 1100)
        self.layer = Layer(bits, probes, reader.bits(bits))

    def may_contain(self, digest):
        return self.layer.holds(digest, redisson_positions)


class Counting:
    def __init__(self, reader):
        self.counters, self.probes = reader.shape()
        self.width = reader.number(2, 16)
        require(self.width in (2, 4, 8, 16), "bits of a counter")
        self.overflows = reader.number(0, MASK64)
        self.refused_removals = reader.number(0, MASK64)
        self.array = reader.bits(self.counters * self.width)

    def may_contain(self, digest):
        return all(self.counter(position) for position in positions(
            digest, self.probes, self.counters))

    def counter(self, i):
        at = i * self.width
        value = fixed(self.array, at // 8, (self.width + 7) // 8)
        return value >> at % 8 & (1 << self.width) - 1


class AnyLayer:
    """Has layers, each of which may hold a key."""

    def may_contain(self, digest):
        return any(layer.holds(digest) for layer in self.layers)


class Scalable(AnyLayer):
    def __init__(self, reader):
        reader.share()
        reader.share()
        capacity = reader.number(1, MASK64)
        expansion = reader.number(1, 1 << 15)
        non_scaling = reader.number(0, 1)
        self.layers = []
        for _ in range(reader.number(1, 1 if non_scaling else 1024)):
            bits, probes = reader.shape()
            require(reader.number(1, MASK64) == capacity, "a layer's capacity")
            keys = reader.number(0, capacity)
            layer = Layer(bits, probes, reader.bits(bits))
            require(keys <= layer.set_bits(), "more keys than set bits")
            self.layers.append(layer)
            capacity *= expansion


def read_layers(reader, most=MASK64):
    bits, probes = reader.shape()
    layers = []
    for _ in range(reader.number(1, most)):
        keys = reader.number(0, MASK64)
        layers.append(Layer(bits, probes, reader.bits(bits)))
        require(keys <= layers[-1].set_bits(), "more keys than set bits")
    return layers


class Dynamic(AnyLayer):
    def __init__(self, reader):
        reader.number(1, MASK64)
        self.layers = read_layers(reader)


class Split(AnyLayer):
    def __init__(self, reader):
        reader.number(1, MASK64)
        reader.number(0, MASK64)
        self.layers = read_layers(reader, MAX_LAYERS_MADE_AT_ONCE)


class Balanced(AnyLayer):
    def __init__(self, reader):
        group_size = reader.number(1, 64)
        self.layers = read_layers(reader)
        require(len(self.layers) % group_size == 0, "layers of a group")


class Matrix:
    def __init__(self, reader):
        self.groups = reader.number(1, 64)
        reader.number(0, 1)
        self.layers = read_layers(reader, MAX_LAYERS_MADE_AT_ONCE)
        require(len(self.layers) % self.groups == 0, "layers of a group")

    def may_contain(self, digest):
        in_group = len(self.layers) // self.groups
        return any(self.layers[self.candidate(digest, group, in_group)]
                   .holds(digest) for group in range(self.groups))

    @staticmethod
    def candidate(digest, group, in_group):
        z = digest + (group + 1) * 0x9e3779b97f4a7c15 & MASK64
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & MASK64
        z = (z ^ z >> 27) * 0x94d049bb133111eb & MASK64
        return group * in_group + (((z ^ z >> 31) >> 32) * in_group >> 32)


KINDS = {1: Standard, 2: Counting, 3: Scalable, 4: Dynamic, 5: Split,
         6: Balanced, 7: Matrix, 8: Redisson}


class MemFilter:
    def __init__(self, data):
        require(len(data) >= HEADER_SIZE, "no header")
        parameters_size = fixed(data, 12, 4)
        word_count = fixed(data, 16, 8)
        require(data[:8] == b"rbmemflt", "magic")
        words_at = HEADER_SIZE + parameters_size
        require(words_at + 8 * word_count == len(data), "sizes")
        require(xxh3_64(data[HEADER_SIZE:], xxh3_64(data[:24])) ==
                fixed(data, 24, 8), "checksum")
        require(data[8] == 1 and fixed(data, 10, 2) == 0,
                "version or reserved")
        require(data[9] in KINDS, "no such kind")
        reader = Reader(data[HEADER_SIZE:words_at], data[words_at:])
        self.filter = KINDS[data[9]](reader)
        require(reader.parameters.is_empty() and reader.words.is_empty(),
                "parameters or words are left")

    def may_contain_row(self, row):
        return self.filter.may_contain(digest_of((row, None)))

    def may_contain_cell(self, row, qualifier):
        return self.filter.may_contain(digest_of((row, qualifier)))

    def may_contain_digest(self, digest):
        """A 64-bit digest; for Redisson's filters a pair h1, h2."""
        return self.filter.may_contain(digest)
