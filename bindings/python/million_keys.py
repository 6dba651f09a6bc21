#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A million rows in a filter block, those of even numbers, and four threads
that ask for them and the others. docs/bindings.md has other languages."""

import sys
import threading

import rowbloom

KEYS, THREADS = 1000000, 4

print("rowbloom", rowbloom.version())
block = bytearray()  # An engine's file, in memory.
try:
    rowbloom.BlockWriter("filter_spec=ribbon", block.extend)
except rowbloom.Error as error:
    print(f"error {error.code}: {error}")

writer = rowbloom.BlockWriter("filter_spec=compact:bits_per_key=10",
                              block.extend)
for i in range(0, 2 * KEYS, 2):
    writer.add(b"user%08d" % i)
info = writer.finish()
print(f"{info.key_count} keys in {info.size_bytes} bytes, "
      f"{info.chunk_count} chunks")

cache, stats = rowbloom.Cache(64 << 20), rowbloom.Stats()
reader = rowbloom.BlockReader(
    lambda offset, size: bytes(block[offset:offset + size]), len(block),
    name="000012.sst", options="prefetch=true", cache=cache, stats=stats)
false_negatives, false_positives = [0] * THREADS, [0] * THREADS


def ask(thread):
    count = 2 * KEYS // THREADS
    for i in range(thread * count, (thread + 1) * count):
        maybe = reader.may_contain(b"user%08d" % i)
        if i % 2 == 0:
            false_negatives[thread] += not maybe
        else:
            false_positives[thread] += maybe


threads = [threading.Thread(target=ask, args=(t,)) for t in range(THREADS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(f"{THREADS} threads: {sum(false_negatives)} false negatives, "
      f"{sum(false_positives)} false positives "
      f"({100 * sum(false_positives) / KEYS:.3f}%)")
print(f"{stats.get('lookups')} lookups, {stats.get('negatives')} negatives")
sys.exit(sum(false_negatives) != 0)
