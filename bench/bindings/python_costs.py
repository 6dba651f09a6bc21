# SPDX-License-Identifier: Apache-2.0
"""costs.py has what the programs of each language measure."""

import json
import statistics
import sys
import time

import rowbloom

FILES, KEYS_OF_A_BATCH, ADDS = 8, 32, 1000
COUNT, PASSES = map(int, sys.argv[1:3])


def nanoseconds(action):
    times = []
    for _ in range(PASSES):
        begin = time.thread_time_ns()
        action()
        times.append((time.thread_time_ns() - begin) / COUNT)
    return round(statistics.median(times), 2)


rows = [b"user%08d" % (2 * i) for i in range(COUNT)]
asked = [b"user%08d" % (i * 7919 % (2 * COUNT)) for i in range(COUNT)]
if sys.argv[3:] == ["numpy"]:
    import numpy
    rows, asked = numpy.array(rows), numpy.array(asked)
block, maybes = bytearray(), 0


def write(add):
    block.clear()
    writer = rowbloom.BlockWriter("", block.extend)
    add(writer)
    writer.finish()


def add_each(writer):
    for row in rows:
        writer.add(row)


def add_many(writer):
    for i in range(0, COUNT, ADDS):
        writer.add_many(rows[i:i + ADDS])


def lookup():
    global maybes
    for row in asked:
        maybes += readers[0].may_contain(row)


def each_of_8():
    global maybes
    for row in asked[:COUNT // FILES]:
        maybes += sum(rowbloom.may_contain_each(readers, row))


def batch():
    global maybes
    for i in range(0, COUNT // FILES - KEYS_OF_A_BATCH + 1, KEYS_OF_A_BATCH):
        answers = rowbloom.may_contain_every(
            readers, asked[i:i + KEYS_OF_A_BATCH])
        maybes += (answers.sum() if hasattr(answers, "sum") else
                   sum(map(sum, answers)))


result = {}
if sys.argv[3:] != ["numpy"]:
    result["add"] = nanoseconds(lambda: write(add_each))
result["add_many"] = nanoseconds(lambda: write(add_many))
data, cache = bytes(block), rowbloom.Cache(64 << 20)
readers = [rowbloom.BlockReader(lambda offset, size: data[offset:offset + size],
                                len(data), options="prefetch=true", cache=cache)
           for _ in range(FILES)]
if sys.argv[3:] != ["numpy"]:
    result["lookup"] = nanoseconds(lookup)
    result["each_of_8"] = nanoseconds(each_of_8)
result["batch"] = nanoseconds(batch)
print(json.dumps({**result, "maybes": int(maybes)}))
