# SPDX-License-Identifier: Apache-2.0
"""A filter blob."""

from .coding import Cursor, fixed, require
from .families import Descriptor
from .keys import digest_of
from .xxh3 import xxh3_64

TRAILER_SIZE = 8


class Blob:
    def __init__(self, data):
        require(len(data) >= TRAILER_SIZE, "no trailer")
        trailer = data[-TRAILER_SIZE:]
        tail_size, version = fixed(trailer, 0, 2), trailer[6]
        require(trailer[7] == 0xb7, "blob_magic")
        require(tail_size <= len(data) - TRAILER_SIZE, "tail_size")
        tail_at = len(data) - TRAILER_SIZE - tail_size
        tail = data[tail_at:-TRAILER_SIZE]
        seed = tail_size + version * 65536
        require(xxh3_64(tail, seed) & 0xFFFFFFFF == fixed(trailer, 2, 4),
                "tail_checksum")
        require(version == 1, "no blob of version 1")
        cursor = Cursor(tail)
        self.descriptor = Descriptor(cursor)
        self.metadata = cursor.take(cursor.integer(1))
        require(cursor.is_empty(), "bytes behind the metadata")
        self.units = data[:tail_at]
        require(len(self.units) == self.descriptor.size, "size of the units")
        self.filter = self.descriptor.filter(self.units)

    def verify(self):
        self.descriptor.verify(self.units)

    def may_contain_row(self, row):
        return self.filter.may_contain(digest_of((row, None)))

    def may_contain_cell(self, row, qualifier):
        return self.filter.may_contain(digest_of((row, qualifier)))
