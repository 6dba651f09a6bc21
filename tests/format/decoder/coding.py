# SPDX-License-Identifier: Apache-2.0
"""Integers in bytes, and the exception for bytes that must be refused."""

MASK64 = (1 << 64) - 1


class Refused(Exception):
    """The bytes are damaged, newer, or made with another secret."""


def require(condition, what):
    if not condition:
        raise Refused(what)


def fixed(data, offset, size):
    return int.from_bytes(data[offset:offset + size], "little")


def high(x, n):
    """floor(x n / 2^64)"""
    return x * n >> 64


def parity(x):
    return x.bit_count() & 1


class Cursor:
    """Reads bytes from the front."""

    def __init__(self, data, at=0):
        self.data = data
        self.at = at

    def is_empty(self):
        return self.at == len(self.data)

    def take(self, size):
        require(size <= len(self.data) - self.at, "bytes are cut")
        self.at += size
        return self.data[self.at - size:self.at]

    def integer(self, size):
        return int.from_bytes(self.take(size), "little")

    def varint(self):
        value = shift = 0
        while True:
            byte = self.integer(1)
            value |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
        require(byte != 0 or shift == 0, "a varint is not in shortest form")
        require(value <= MASK64, "a varint of 2^64 or more")
        return value

    def sized(self):
        return self.take(self.varint())
