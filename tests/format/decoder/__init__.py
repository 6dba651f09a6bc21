# SPDX-License-Identifier: Apache-2.0
"""Reads filter blocks, filter blobs and saved filters.

Written from docs/filter_block_format.md, docs/filter_families.md and
docs/memfilters.md alone, with the words of these documents:

    block = Block(data, secret)
    if not block.may_contain_row(b"user17"):
        ...  # The SST does not hold the row.
"""

from .blob import Blob
from .block import Block
from .coding import Refused
from .mem_filter import MemFilter

__all__ = ["Blob", "Block", "MemFilter", "Refused"]
