# SPDX-License-Identifier: Apache-2.0
"""A filter block."""

import bisect

from .coding import Cursor, Refused, fixed, require
from .families import Descriptor, checksum
from .key_codec import KeyCodec
from .keys import Secret, digest_of, order, read_key

FOOTER_SIZE = 56
MAX_TAIL_PART = 1 << 30  # Bytes of the index, and of the properties.
NONE, ROW, ROWCOL, ROWPREFIX_FIXED_LENGTH = 1, 2, 3, 4


class Footer:
    def __init__(self, data):
        require(len(data) >= FOOTER_SIZE, "no footer")
        footer = data[-FOOTER_SIZE:]
        self.flags = footer[41]
        self.index_at = fixed(footer, 8, 8)
        self.properties_at = self.index_at + fixed(footer, 16, 8)
        self.end = self.properties_at + fixed(footer, 24, 8)
        require(footer[48:] == b"rowbloom", "magic")
        require(checksum(footer[:44]) == fixed(footer, 44, 4),
                "footer_checksum")
        require(footer[40] == 1, "no block of version 1")
        require(self.flags <= 3, "unknown flags")
        require(fixed(footer, 42, 2) == 0, "reserved")
        require(fixed(footer, 0, 8) == len(data), "block_size")
        require(self.end + FOOTER_SIZE == len(data), "sizes")
        self.index = data[self.index_at:self.properties_at]
        self.properties = data[self.properties_at:self.end]
        require(max(len(self.index), len(self.properties)) <= MAX_TAIL_PART,
                "a large index or properties")
        require(checksum(self.index) == fixed(footer, 32, 4), "index_checksum")
        require(checksum(self.properties) == fixed(footer, 36, 4),
                "properties_checksum")


class Properties:
    def __init__(self, data, flags):
        self.values = self.read_fields(Cursor(data))
        self.bloom_type = self.number(1)
        require(self.bloom_type in (NONE, ROW, ROWCOL, ROWPREFIX_FIXED_LENGTH),
                "bloom_type")
        self.prefix_length = self.number(2)
        if self.bloom_type == ROWPREFIX_FIXED_LENGTH:
            require(1 <= self.prefix_length <= 65535, "prefix_length_bytes")
        else:
            require(self.prefix_length == 0, "prefix_length_bytes")
        self.has_row_keys = self.number(3)
        require(self.has_row_keys == (self.bloom_type != NONE) or
                self.bloom_type == ROWCOL and self.has_row_keys == 0,
                "has_row_keys")
        self.cell_count = self.number(4)
        self.key_count = self.number(5)
        self.chunk_count = self.number(6)
        self.secret_check = self.number(10)
        require((self.secret_check != 0) == (flags & 1 != 0), "secret_check")
        self.key_codec = None
        if 11 in self.values:
            self.key_codec = KeyCodec(self.values[11])
            require(self.bloom_type in (ROW, ROWCOL), "key_codec")
        prefixes_alone = self.key_codec is not None and self.has_row_keys == 0
        require(prefixes_alone == (flags & 2 != 0), "flag of prefixes")
        self.last_key = None
        if 9 in self.values:
            cursor = Cursor(self.values[9])
            self.last_key = read_key(cursor)
            require(cursor.is_empty(), "bytes behind last_key")
            self.check_key(self.last_key)
        require((self.last_key is None) == (self.chunk_count == 0) ==
                (self.key_count == 0), "last_key, key_count, chunk_count")

    @staticmethod
    def read_fields(cursor):
        values = {}
        last = 0
        while not cursor.is_empty():
            field = cursor.varint()
            require(field > last, "order of fields")
            values[field] = cursor.sized()
            last = field
        return values

    def number(self, field):
        if field not in self.values:
            return 0
        cursor = Cursor(self.values[field])
        value = cursor.varint()
        require(cursor.is_empty(), "bytes behind a number")
        return value

    def check_key(self, key):
        """A last_key or lower bound fits the bloom type."""
        row, qualifier = key
        if self.bloom_type == ROWCOL:
            require(qualifier is not None or self.has_row_keys == 1 or
                    self.key_codec is not None, "a row's key")
            return
        require(self.bloom_type != NONE and qualifier is None, "kind of a key")
        require(self.bloom_type == ROW or len(row) <= self.prefix_length,
                "size of a prefix")


class Block:
    """Lookups answer True for "maybe"."""

    def __init__(self, data, secret=None):
        footer = Footer(data)
        self.properties = Properties(footer.properties, footer.flags)
        self.secret = None
        if self.properties.secret_check != 0:
            require(secret is not None, "the secret is not known")
            self.secret = Secret(secret)
            require(self.secret.check == self.properties.secret_check,
                    "another secret")
        self.read_index(footer)
        self.chunks = [data[a:b] for a, b in zip(self.offsets,
                                                 self.offsets[1:])]
        self.filters = {}

    def read_index(self, footer):
        self.lower_bounds = []
        self.descriptors = []
        self.offsets = [0]
        cursor = Cursor(footer.index)
        while not cursor.is_empty():
            key = read_key(cursor)
            self.properties.check_key(key)
            self.lower_bounds.append(order(key))
            self.descriptors.append(Descriptor(cursor))
            require(self.descriptors[-1].size > 0 or
                    not self.descriptors[-1].unit_sizes, "bytes of a chunk")
            self.offsets.append(self.offsets[-1] + self.descriptors[-1].size)
        bounds = self.lower_bounds
        require(all(a < b for a, b in zip(bounds, bounds[1:])),
                "order of lower bounds")
        require(self.offsets[-1] == footer.index_at, "end of the chunks")
        require(len(bounds) == self.properties.chunk_count, "chunk_count")
        key_count = sum(d.key_count for d in self.descriptors)
        require(key_count == self.properties.key_count, "key_count")
        require(not bounds or bounds[-1] <= order(self.properties.last_key),
                "last_key")

    def verify(self):
        for descriptor, chunk in zip(self.descriptors, self.chunks):
            descriptor.verify(chunk)
            descriptor.filter(chunk)

    def may_contain_row(self, row):
        properties = self.properties
        if properties.bloom_type == NONE or properties.has_row_keys == 0:
            return True
        if properties.bloom_type == ROWPREFIX_FIXED_LENGTH:
            row = row[:properties.prefix_length]
        return self.may_contain((row, None))

    def may_contain_cell(self, row, qualifier):
        if self.properties.bloom_type == ROWCOL:
            return self.may_contain((row, qualifier))
        return self.may_contain_row(row)

    def may_contain_prefix(self, first_bytes):
        properties = self.properties
        if properties.bloom_type == ROWPREFIX_FIXED_LENGTH:
            if len(first_bytes) < properties.prefix_length:
                return True
            return self.may_contain_row(first_bytes)
        if properties.key_codec is None:
            return True
        prefix = properties.key_codec.longest_prefix(first_bytes)
        return prefix is None or self.may_contain((prefix, None))

    def may_contain(self, key):
        place = order(key)
        if not self.chunks or place > order(self.properties.last_key):
            return False
        chunk = bisect.bisect_right(self.lower_bounds, place) - 1
        if chunk < 0:
            return False
        chunk_filter = self.filter(chunk)
        if chunk_filter is None:
            return True
        digest = digest_of(key)
        if self.secret is not None:
            digest = self.secret.stored(digest)
        return chunk_filter.may_contain(digest)

    def filter(self, chunk):
        """None if the chunk is damaged."""
        if chunk not in self.filters:
            descriptor, data = self.descriptors[chunk], self.chunks[chunk]
            try:
                descriptor.verify(data)
                self.filters[chunk] = descriptor.filter(data)
            except Refused:
                self.filters[chunk] = None
        return self.filters[chunk]
