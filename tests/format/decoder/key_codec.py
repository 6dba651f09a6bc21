# SPDX-License-Identifier: Apache-2.0
"""Key codecs: which first bytes of a row are its prefixes."""

import re

from .coding import require

SEGMENT = re.compile(
    rb"(?P<no_prefix>-)?"
    rb"((?P<name>[A-Za-z][A-Za-z0-9_]{0,14}|1)\.)?"
    rb"(?P<kind>ordered|fixed:[1-9][0-9]{0,6}|delimiter:0x[0-9a-f]{2}"
    rb"|length:[14]|rest)")

def ordered_end(row, at, _):
    while True:
        at = row.find(b"\0", at)
        if at < 0 or at + 1 == len(row):
            return None
        if row[at + 1] != 0xff:
            return at + 2
        at += 2


def fixed_end(row, at, size):
    return at + size if at + size <= len(row) else None


def delimiter_end(row, at, delimiter):
    at = row.find(bytes([delimiter]), at)
    return at + 1 if at >= 0 else None


def length_end(row, at, head):
    if at + head > len(row):
        return None
    size = int.from_bytes(row[at:at + head], "big")
    return fixed_end(row, at + head, size)


ENDS = {b"ordered": ordered_end, b"fixed": fixed_end,
        b"delimiter": delimiter_end, b"length": length_end, b"rest": None}


class Segment:
    def __init__(self, kind, ends_prefix):
        self.kind, _, parameter = kind.partition(b":")
        self.parameter = int(parameter, 0) if parameter else 0
        self.ends_prefix = ends_prefix
        require(self.kind != b"fixed" or self.parameter <= 1 << 20,
                "a fixed segment of more than 2^20 bytes")


class KeyCodec:
    def __init__(self, text):
        require(len(text) <= 253, "a key codec's text of more than 253 bytes")
        self.segments = short_form(text) or segments_of(text)

    def prefix_sizes(self, row):
        """The sizes of the row's prefixes, the shortest first."""
        sizes = []
        at = 0
        for segment in self.segments:
            if segment.kind == b"rest":
                break
            end = ENDS[segment.kind](row, at, segment.parameter)
            if end is None:
                break
            at = end
            if segment.ends_prefix:
                sizes.append(at)
            if segment.kind == b"ordered" and row[at - 1] != 1:
                break
        return sizes

    def longest_prefix(self, row):
        """None if the row has no prefix."""
        sizes = self.prefix_sizes(row)
        return row[:sizes[-1]] if sizes else None


def short_form(text):
    if text == b"whole_key":
        kinds = [b"rest"]
    elif text == b"ordered":
        kinds = [b"ordered", b"ordered"]
    elif (text.startswith((b"fixed:", b"delimiter:")) and
          SEGMENT.fullmatch(text)):
        kinds = [text, b"rest"]
    else:
        return None
    return [Segment(kind, True) for kind in kinds]


def has_short_form(kinds):
    return (kinds in ([b"rest"], [b"ordered", b"ordered"]) or
            len(kinds) == 2 and kinds[1] == b"rest" and
            kinds[0].startswith((b"fixed:", b"delimiter:")))


def segments_of(text):
    # A delimiter is written as 0xHH, so no comma is part of a segment.
    matches = [SEGMENT.fullmatch(part) for part in text.split(b",")]
    require(all(matches) and len(matches) <= 8, "no key codec")
    kinds = [match["kind"] for match in matches]
    names = [match["name"] for match in matches if match["name"]]
    ends_prefix = [match["no_prefix"] is None for match in matches]
    require(len(set(names)) == len(names), "two segments of one name")
    require(b"rest" not in kinds[:-1], "rest before the last segment")
    require(any(ends_prefix), "no segment ends a prefix")
    require(names if len(kinds) == 1 else b"1" not in names,
            "only a single segment is named 1, without another name")
    require(not (has_short_form(kinds) and all(ends_prefix) and
                 names in ([], [b"1"])), "there is a shorter text")
    return [Segment(kind, ends) for kind, ends in zip(kinds, ends_prefix)]
