# SPDX-License-Identifier: Apache-2.0
"""Each class of the module once, and its errors."""

import array
import mmap
import sys
import threading
import unittest

import rowbloom

try:
    import numpy
except ImportError:
    numpy = None

ROWS = 5000
UNKNOWN, INVALID_ARGUMENT, INTERNAL, UNAVAILABLE, DATA_LOSS = 2, 3, 13, 14, 15


def row(i):
    return b"row%06d" % i


def block():
    """A block with the even ones of the rows."""
    data = bytearray()
    writer = rowbloom.BlockWriter(
        "bloom_type=ROWCOL;filter_spec=compact;chunk_size_bytes=1024",
        data.extend)
    for i in range(0, ROWS, 2):
        writer.add(row(i), b"q")
    info = writer.finish()
    return bytes(data), info


def opened(rows, writer_options, **options):
    """A reader of a block of the rows, and the offsets that it reads."""
    data, reads = bytearray(), []
    writer = rowbloom.BlockWriter(writer_options, data.extend)
    for key in rows:
        writer.add(key)
    writer.finish()

    def read(offset, size):
        reads.append(offset)
        return bytes(data[offset:offset + size])

    return rowbloom.BlockReader(read, len(data), **options), reads


class Rowbloom(unittest.TestCase):
    def test_filter(self):
        builder = rowbloom.FilterBuilder("compact:bits_per_key=20")
        builder.add(b"")
        builder.add(b"row\0", b"")
        data = builder.finish()
        filter = rowbloom.Filter(data)
        filter.verify()
        self.assertTrue(filter.may_contain(b""))
        self.assertTrue(filter.may_contain(b"row\0", b""))
        self.assertFalse(filter.may_contain(b"row\0"))
        self.assertFalse(filter.may_contain(b"row", b""))
        with self.assertRaises(rowbloom.Error) as raised:
            rowbloom.Filter(data[1:])
        self.assertEqual(raised.exception.code, DATA_LOSS)
        with self.assertRaisesRegex(rowbloom.Error,
                                    '^unknown filter family "ribbon"; known'):
            rowbloom.FilterBuilder("ribbon")

    def test_damaged_filter_is_not_opened(self):
        builder = rowbloom.FilterBuilder("compact")
        for i in range(ROWS):
            builder.add(row(i))
        data = builder.finish()
        damaged = bytes(64) + data[64:]
        with self.assertRaises(rowbloom.Error) as raised:
            rowbloom.Filter(damaged)
        self.assertEqual(raised.exception.code, DATA_LOSS)
        filter = rowbloom.Filter(damaged, verify=False)
        with self.assertRaises(rowbloom.Error):
            filter.verify()
        filter = rowbloom.Filter(data, verify=False)
        self.assertTrue(all(filter.may_contain(row(i)) for i in range(ROWS)))

    def test_reader(self):
        data, info = block()
        self.assertEqual(info.size_bytes, len(data))
        cache, stats = rowbloom.Cache(1 << 20), rowbloom.Stats()
        reads = []

        def read(offset, size):
            reads.append((offset, size))
            return data[offset:offset + size]

        reader = rowbloom.BlockReader(
            read, len(data), cache=cache, stats=stats,
            options=f"always_load=true;tail_size_bytes={info.tail_size_bytes}")
        self.assertEqual(len(reads), 1)
        answer, load = reader.ask(row(1))
        self.assertEqual(answer, rowbloom.NOT_IN_MEMORY)
        chunk = data[load.offset:load.offset + load.size_bytes]
        self.assertEqual(reader.offer(load, b"", row(1), code=UNAVAILABLE),
                         rowbloom.MAYBE)
        self.assertEqual(reader.offer(load, chunk, row(1), code=2**32),
                         rowbloom.MAYBE)
        with self.assertRaises(TypeError):
            reader.offer(load, chunk, row(1), code="14")
        self.assertEqual(reader.offer(load, chunk, row(1)), rowbloom.NO)
        self.assertEqual(reader.ask(row(2))[0], rowbloom.MAYBE)
        self.assertEqual(len(reads), 1)
        self.assertIn("capacity_bytes 1048576\n", cache.usage())
        cache.erase_file(1)
        cache.set_capacity(2 << 20)
        del cache  # The reader keeps it.
        for i in range(0, ROWS, 2):
            self.assertTrue(reader.may_contain(row(i)))
            self.assertTrue(reader.may_contain(row(i), b"q"))
        self.assertEqual(
            rowbloom.may_contain_each([reader, reader], row(1)), [False] * 2)
        self.assertEqual(
            rowbloom.may_contain_each([reader, reader], row(2)), [True] * 2)
        reader.tell_outcome(key_was_there=True, read_bytes=4096)
        stats.add("open_errors", 2)
        self.assertEqual(stats.get("true_positives"), 1)
        self.assertEqual(stats.get("load_errors"), 2)
        self.assertEqual(stats.get("open_errors"), 2)
        self.assertIn("rowbloom_lookups_total", stats.prometheus())
        reader.verify()

    def test_blocks_inside_sources(self):
        data, _ = block()

        def answers(source, **place):
            reader = rowbloom.BlockReader(
                lambda offset, size: source[offset:offset + size], len(source),
                options="always_load=true", **place)
            reader.verify()
            return reader.may_contain_many([row(1), row(2)])

        for offset in (0, 1, 50):
            source = bytes(offset) + data
            self.assertEqual(answers(source, offset=offset), [False, True])
            self.assertEqual(
                answers(source + b"more", offset=offset, size=len(data)),
                [False, True])
        for place in ({"offset": len(data)}, {"offset": len(data) + 1},
                      {"offset": 1, "size": len(data)}):
            with self.assertRaises(rowbloom.Error) as raised:
                answers(data, **place)
            self.assertEqual(raised.exception.code, DATA_LOSS)

    def test_numbers(self):
        data, info = block()
        cache, stats = rowbloom.Cache(1 << 20), rowbloom.Stats()
        reader = rowbloom.BlockReader(
            lambda offset, size: data[offset:offset + size], len(data),
            options="prefetch=true;level=2;file_id=5", cache=cache, stats=stats)
        reader.may_contain(row(1))
        reader.may_contain(row(2))
        self.assertEqual(stats.levels(), [2])
        self.assertEqual(stats.get("lookups", level=2), 2)
        self.assertEqual(stats.get("lookups", level=1), 0)
        self.assertEqual(reader.get("negatives"), 1)
        numbers = cache.numbers()
        for name, number in numbers.items():
            name = "entry_count" if name == "entries" else name
            self.assertIn(f"\n{name} {number}\n", "\n" + cache.usage())
        self.assertGreater(numbers["chunk_bytes"], 0)
        properties = reader.properties()
        self.assertEqual(properties["cells"], ROWS // 2)
        self.assertEqual(properties["keys"], info.key_count)
        self.assertEqual(properties["chunks"], info.chunk_count)
        self.assertEqual(properties["file_id"], 5)
        self.assertEqual(properties["bloom_type"], "ROWCOL")
        self.assertEqual(properties["first_row"], row(0))
        self.assertEqual(properties["last_row"], row(ROWS - 2))
        self.assertEqual(properties["last_qualifier"], b"q")

    def test_levels_out_of_range(self):
        stats = rowbloom.Stats()
        stats.add("lookups", 7)
        self.assertEqual(stats.get("lookups", level=-1), 7)
        for level in (-2**31, 0, 2**31 - 1):
            self.assertEqual(stats.get("lookups", level=level), 0)
        for name, level in (("level", 2**32 - 1), ("level", 2**31),
                            ("level", -2**31 - 1), ("key_level", -1),
                            ("key_level", 2**64 + 1)):
            with self.assertRaisesRegex(ValueError, f"^{name}={level} is not"):
                stats.get("prefix_lookups", **{name: level})

    def test_warm_block_reads_only_its_tail(self):
        data, reads = bytearray(), []
        cache = rowbloom.Cache(1 << 20)
        writer = rowbloom.BlockWriter("file_id=9;chunk_size_bytes=1024",
                                      data.extend, cache)
        for i in range(0, ROWS, 2):
            writer.add(row(i))
        info = writer.finish()

        def read(offset, size):
            reads.append(offset)
            return bytes(data[offset:offset + size])

        reader = rowbloom.BlockReader(
            read, len(data), cache=cache, options="file_id=9;"
            f"tail_size_bytes={info.tail_size_bytes}")
        self.assertFalse(reader.may_contain(row(1)))
        self.assertTrue(reader.may_contain(row(2)))
        self.assertEqual(len(reads), 1)
        questions = [(reader, row(i), None) for i in (1, 2, ROWS - 3)]
        questions += [(reader, row(2), b"any")]
        self.assertEqual(rowbloom.may_contain_many(questions),
                         [False, True, False, True])
        self.assertEqual(rowbloom.may_contain_many([]), [])
        self.assertEqual(len(reads), 1)
        with self.assertRaisesRegex(rowbloom.Error, "file_id=0 is not 1 to"):
            rowbloom.BlockWriter("", data.extend, cache)

    def test_prefixes(self):
        text = "tenant.fixed:4,user.delimiter:/,at.rest"
        codec = rowbloom.KeyCodec(text)
        key = codec.encode_segments([b"acme", b"ann", b"17:04"])
        self.assertEqual(key, b"acmeann/17:04")
        self.assertEqual(codec.decode_segments(key),
                         [b"acme", b"ann", b"17:04"])
        self.assertEqual(codec.key_levels(key), [4, 8, 13])
        self.assertEqual(codec.bounds_of_segments([b"acme", b"ann"]),
                         (b"acmeann/", b"acmeann0"))
        with self.assertRaises(rowbloom.Error):
            codec.encode_prefix([b"acme corp"])
        data, stats = bytearray(), rowbloom.Stats()
        writer = rowbloom.BlockWriter(f"key_codec={text}", data.extend)
        writer.add(key)
        writer.finish()
        reader = rowbloom.BlockReader(
            lambda offset, size: bytes(data[offset:offset + size]), len(data),
            options="always_load=true", stats=stats)
        for segments, answer in (([b"acme"], True), ([b"acme", b"ann"], True),
                                 ([b"acme", b"bob"], False),
                                 ([b"corp"], False)):
            prefix = codec.encode_prefix(segments)
            self.assertEqual(reader.may_contain(prefix, rowbloom.PREFIX),
                             answer)
        self.assertEqual(stats.get("prefix_lookups"), 4)
        self.assertEqual(stats.get("prefix_negatives", key_level=2), 1)

    def test_schema_of_four_levels(self):
        text = "tenant.fixed:4,user.delimiter:/,day.fixed:2,at.rest"
        codec, stats = rowbloom.KeyCodec(text), rowbloom.Stats()
        segments = [b"acme", b"ann", b"07", b"login"]
        key = codec.encode_segments(segments)
        self.assertEqual(codec.decode_segments(key), segments)
        self.assertEqual(codec.key_levels(key), [4, 8, 10, 15])
        reader, _ = opened([key], f"key_codec={text}",
                           options="always_load=true", stats=stats)
        for count, absent in ((1, b"corp"), (2, b"bob"), (3, b"99")):
            there = codec.encode_prefix(segments[:count])
            other = codec.encode_prefix(segments[:count - 1] + [absent])
            self.assertTrue(reader.may_contain(there, rowbloom.PREFIX))
            self.assertEqual(
                reader.may_contain_many([there, other], rowbloom.PREFIX),
                [True, False])
            self.assertEqual(stats.get("prefix_lookups", key_level=count), 3)
            self.assertEqual(stats.get("prefix_negatives", key_level=count), 1)

    def test_batch_over_eight_files(self):
        rows = [row(i) for i in range(4000)]
        for group in (None, rowbloom.ReadGroup(4)):
            files = [opened(rows[i:i + 500], "chunk_size_bytes=256",
                            options="always_load=true", group=group)
                     for i in range(0, 4000, 500)]
            readers = [reader for reader, _ in files]
            answers = rowbloom.may_contain_every(readers, rows)
            reads = [list(reads) for _, reads in files]
            for i, reader in enumerate(readers):
                self.assertEqual(
                    answers[i], [reader.may_contain(key) for key in rows])
                self.assertTrue(all(answers[i][500 * i:500 * (i + 1)]))
            self.assertLess(sum(map(sum, answers)), 5000)
            # The batch loaded all.
            self.assertEqual([reads for _, reads in files], reads)
        self.assertEqual(rowbloom.may_contain_every(readers, []), [[]] * 8)
        self.assertEqual(rowbloom.may_contain_every([], rows), [])

    def test_failing_reads_of_a_group_answer_maybe(self):
        for error in (OSError("EIO"), SystemExit(7)):
            fails = []
            data, _ = block()

            def read(offset, size):
                if fails:
                    fails.append(threading.current_thread())
                    raise error
                return memoryview(data)[offset:offset + size]

            group = rowbloom.ReadGroup(2)
            reader = rowbloom.BlockReader(
                read, len(data), options="always_load=true", group=group)
            fails.append(None)
            if isinstance(error, SystemExit):
                with self.assertRaises(SystemExit):
                    reader.may_contain_many([row(1), row(4001)])
            else:
                self.assertEqual(reader.may_contain_many([row(1), row(4001)]),
                                 [True, True])
            self.assertEqual(reader.get("load_errors"), 2)
            self.assertNotIn(threading.current_thread(), fails)
            del reader
            self.assertEqual(group._sources, {})

    def test_reads_of_a_group_that_was_interrupted_have_no_memory_of_c(self):
        group, submitted = rowbloom.ReadGroup(1), []
        may_read = threading.Event()
        submit = group._pool.submit

        def interrupted(*arguments):  # As one that a signal ends.
            submitted.append(submit(*arguments))
            raise KeyboardInterrupt

        def read(offset, size):
            may_read.wait()
            return b"x" * size

        memory = (rowbloom.c_char * 4)()
        reads = (rowbloom._ReadOfMany * 1)(rowbloom._ReadOfMany(
            7, 0, rowbloom.ctypes.addressof(memory), len(memory), UNKNOWN))
        group._pool.submit = interrupted
        group._sources[7] = read
        group._c.read_many(None, reads, 1)
        with self.assertRaises(KeyboardInterrupt):
            rowbloom._raise_kept()
        # C has freed the memory by now.
        may_read.set()
        rowbloom.wait(submitted)
        self.assertEqual(memory.raw, bytes(4))
        self.assertEqual(reads[0].code, UNKNOWN)

    def test_keys_of_every_kind_of_memory(self):
        builder = rowbloom.FilterBuilder("compact:bits_per_key=20")
        builder.add(bytearray(b"row"), memoryview(b"a q b")[2:3])
        halves = [int.from_bytes(part, sys.byteorder)
                  for part in (b"tw", b"o-")]
        builder.add_many([b"one", array.array("H", halves)])
        builder.add_many([memoryview(b"")], [bytearray()])
        with mmap.mmap(-1, 4096) as memory:
            memory[:] = builder.finish().ljust(4096, b"\0")
            with memoryview(memory) as whole:
                size = len(whole[:].tobytes().rstrip(b"\0"))
                with self.assertRaises(rowbloom.Error):
                    rowbloom.Filter(whole)
                with whole[:size] as data:
                    filter = rowbloom.Filter(data)
                    filter.verify()
                    for key in ((b"row", b"q"), (memoryview(b"one"),),
                                (bytearray(b"two-"),), (b"", b"")):
                        self.assertTrue(filter.may_contain(*key))
                    self.assertFalse(filter.may_contain(memoryview(b"row")))
                    self.assertFalse(filter.may_contain(bytearray()))
                    with self.assertRaises(BufferError):
                        memory.close()  # The filter looks at it.
                    del filter
        changing = bytearray(b"row")
        builder.add(changing)
        changing += b"s"  # The call has let it go.
        with self.assertRaises(TypeError):
            builder.add("row")
        with self.assertRaises(TypeError):
            builder.add(7)
        with self.assertRaises(BufferError):
            builder.add(memoryview(b"row")[::2])
        for bad in ("row", 7, memoryview(b"row")[::2]):
            with self.assertRaises(TypeError):
                builder.add_many([b"row", bad])
        with self.assertRaises(ValueError):
            builder.add_many([b"a", b"b"], [b"q"])

    @unittest.skipIf(numpy is None, "there is no numpy")
    def test_arrays_are_keys(self):
        names = [b"a", b"", b"row\0x", b"middle"]
        texts = numpy.array(names)
        numbers = numpy.arange(1000, dtype=">u8")
        wide = numbers.view(numpy.uint8).reshape(-1, 8)

        def built(add):
            builder = rowbloom.FilterBuilder("compact")
            add(builder)
            return builder.finish()

        def one_by_one(keys):
            return built(lambda b: [b.add(*key) for key in keys])

        self.assertEqual(built(lambda b: b.add_many(texts)),
                         one_by_one([(name,) for name in names]))
        self.assertEqual(built(lambda b: b.add_many(texts[::2], texts[1::2])),
                         one_by_one([(names[0], names[1]),
                                     (names[2], names[3])]))
        self.assertEqual(
            built(lambda b: b.add_many(texts[:2], [b"q\0", bytearray(b"r")])),
            one_by_one([(names[0], b"q\0"), (names[1], b"r")]))
        keys = [number.to_bytes(8, "big") for number in range(1000)]
        for form in (wide, numbers.view("V8")):
            self.assertEqual(built(lambda b: b.add_many(form)),
                             one_by_one([(key,) for key in keys]))
        block, reads = bytearray(), []
        writer = rowbloom.BlockWriter("", block.extend)
        writer.add_many(wide[::2])
        self.assertEqual(writer.finish().key_count, 500)
        reader, reads = opened(keys[::2], "", options="always_load=true")
        answers = reader.may_contain_many(wide)
        self.assertEqual(answers.dtype, numpy.bool_)
        self.assertEqual(answers.tolist(), reader.may_contain_many(keys))
        self.assertTrue(answers[::2].all())
        self.assertLess(answers[1::2].sum(), 50)
        both = rowbloom.may_contain_every([reader, reader], wide[:10])
        self.assertEqual(both.shape, (2, 10))
        self.assertEqual(both[1].tolist(), answers[:10].tolist())
        self.assertEqual(reader.may_contain_many(wide[:0]).tolist(), [])
        for bad in (numbers, numpy.array(["row"]), wide.astype(">u2")):
            with self.assertRaises(TypeError):
                reader.may_contain_many(bad)

    def test_memo(self):
        memo = rowbloom.Memo(1 << 20)
        memo.remember(7, b"row", b"q")
        self.assertTrue(memo.denies(7, b"row", b"q"))
        self.assertFalse(memo.denies(7, b"row"))
        memo.erase_file(7)
        self.assertFalse(memo.denies(7, b"row", b"q"))

    def test_budget(self):
        budget = rowbloom.Budget("bits_per_key=10")
        budget.set_live("key_count=1000000;filter_bytes=1000000;moved_share=0",
                        [rowbloom.Run(1000, 1, -1),
                         rowbloom.Run(999000, 1, -1)])
        flush, old = (budget.for_file(facts) for facts in
                      ("is_flush=true", "is_bottommost=true"))

        def bits(spec):
            family, value = spec.split(":bits_per_key=")
            self.assertEqual(family, "compact")
            return float(value)

        self.assertGreater(bits(flush), bits(old))
        with self.assertRaisesRegex(rowbloom.Error, "run_share=2 is not 0 to"):
            budget.for_file("run_share=2")

    def test_errors_of_callbacks(self):
        def fail(*_):
            raise OSError("disk full")

        with self.assertRaisesRegex(rowbloom.Error, "OSError: disk full"):
            rowbloom.BlockWriter("", fail).finish()
        with self.assertRaisesRegex(rowbloom.Error, "OSError: disk full"):
            rowbloom.BlockReader(fail, 1000)
        with self.assertRaisesRegex(rowbloom.Error, "read 0 of 1000 bytes"):
            rowbloom.BlockReader(lambda offset, size: b"", 1000)
        data, info = block()
        fails = []
        reader = rowbloom.BlockReader(
            lambda offset, size: fail() if fails else
            data[offset:offset + size], len(data), options="always_load=true")
        fails.append(True)
        self.assertTrue(reader.may_contain(row(1)))

    def test_short_append_fails_the_block(self):
        with self.assertRaisesRegex(rowbloom.Error,
                                    r"^append took 3 of \d+ bytes$"):
            rowbloom.BlockWriter("", lambda data: 3).finish()
        size = rowbloom.BlockWriter("", len).finish().size_bytes
        for result in (None, True, "written"):
            writer = rowbloom.BlockWriter("", lambda data: result)
            self.assertEqual(writer.finish().size_bytes, size)

    def test_finish_compares_the_bytes_that_append_took(self):
        writer = rowbloom.BlockWriter("", len)
        writer.add(row(1))
        writer._taken[0] = -1  # As if an interrupt had come before a call.
        with self.assertRaisesRegex(rowbloom.Error, r"^append took \d+ of "):
            writer.finish()

    def test_every_exception_of_a_callback_is_an_error(self):
        class Coded(Exception):
            code = 0

        class Codeless(rowbloom.Error):
            def __init__(self):
                Exception.__init__(self, "Codeless")

        class Unprintable(Exception):
            def __str__(self):
                raise OSError

        for exception, code, message in (
                (Coded("zero"), INTERNAL, "^Coded: zero$"),
                (rowbloom.Error(UNAVAILABLE, "away"), UNAVAILABLE, "^away$"),
                (rowbloom.Error(1, "first"), 1, "^first$"),
                (rowbloom.Error(16, "last"), 16, "^last$"),
                *((rowbloom.Error(other, "odd"), UNKNOWN, "^odd$")
                  for other in (0, -1, 17, 2**32, 2**32 + 3, 2**64, -2**32,
                                "3", 3.0, None)),
                (Codeless(), UNKNOWN, "^Codeless$"),
                (OSError("\udc80"), INTERNAL, r"^OSError: \?$"),
                (OSError("\u00e9" * 1000), INTERNAL, "^OSError: \u00e9{500}"),
                (Unprintable(), INTERNAL, "^Unprintable$")):
            def fail(*_):
                raise exception

            for call in (lambda: rowbloom.BlockWriter("", fail).finish(),
                         lambda: rowbloom.BlockReader(fail, 1000)):
                with self.assertRaisesRegex(rowbloom.Error, message) as raised:
                    call()
                self.assertEqual(raised.exception.code, code)

    def test_interrupts_leave_the_call_that_they_came_in(self):
        data, _ = block()
        interrupts = []

        def read(offset, size):
            if interrupts:
                raise interrupts[0]
            return data[offset:offset + size]

        def append(data):
            raise interrupts[0]

        lookups = (
            lambda reader: reader.may_contain(row(1)),
            lambda reader: reader.may_contain_many([row(1), row(4001)]),
            lambda reader: rowbloom.may_contain_each([reader], row(1)),
            lambda reader: rowbloom.may_contain_many([(reader, row(1), None)]),
            lambda reader: reader.verify())
        for exception in (KeyboardInterrupt(), SystemExit(7), GeneratorExit()):

            def expect(call):
                interrupts.append(exception)
                with self.assertRaises(type(exception)) as raised:
                    call()
                self.assertIs(raised.exception, exception)
                interrupts.clear()

            for lookup in lookups:
                reader = rowbloom.BlockReader(read, len(data),
                                              options="always_load=true")
                expect(lambda: lookup(reader))
                # It is raised once.
                self.assertTrue(reader.may_contain(row(2)))
            expect(lambda: rowbloom.BlockReader(read, len(data)))
            expect(rowbloom.BlockWriter("", append).finish)
            writer = rowbloom.BlockWriter("chunk_size_bytes=256", append)
            expect(lambda: [writer.add(row(i)) for i in range(ROWS)])
            with self.assertRaisesRegex(rowbloom.Error,
                                        type(exception).__name__):
                writer.finish()

    def test_interrupt_in_another_thread_stays_there(self):
        data, _ = block()
        inside, raised = threading.Event(), []

        def read(offset, size):
            if threading.current_thread() is not threading.main_thread():
                inside.set()
                raise KeyboardInterrupt
            return data[offset:offset + size]

        reader = rowbloom.BlockReader(read, len(data),
                                      options="always_load=true")

        def ask():
            try:
                reader.may_contain(row(1))
            except KeyboardInterrupt as exception:
                raised.append(exception)

        thread = threading.Thread(target=ask)
        thread.start()
        while not inside.wait(0):
            reader.may_contain(row(4001))
        thread.join()
        self.assertFalse(reader.may_contain(row(1)))
        self.assertEqual(len(raised), 1)

    def test_close(self):
        data, _ = block()
        cache, stats = rowbloom.Cache(1 << 20), rowbloom.Stats()
        with rowbloom.BlockReader(lambda at, size: data[at:at + size],
                                  len(data), cache=cache,
                                  stats=stats) as reader:
            cache.close()
            stats.close()
            self.assertFalse(reader.may_contain(b"absent"))
        # No lookup of a closed object says "no".
        self.assertTrue(reader.may_contain(b"absent"))
        self.assertEqual(reader.may_contain_many([b"absent"]), [True])
        self.assertEqual(rowbloom.may_contain_each([reader], b"absent"),
                         [True])
        if numpy:
            self.assertTrue(reader.may_contain_many(numpy.array([b"a"]))[0])
        with self.assertRaisesRegex(rowbloom.Error, "NULL"):
            reader.verify()
        for closed in ({"cache": cache}, {"stats": stats}):
            with self.assertRaisesRegex(ValueError, "is closed"):
                rowbloom.BlockReader(lambda at, size: data[at:at + size],
                                     len(data), **closed)
        reader.close()

    def test_arguments_of_other_types_and_ranges(self):
        def read(offset, size):
            return b"\0" * size

        cache, memo = rowbloom.Cache(1 << 20), rowbloom.Memo(1 << 20)
        reader, _ = opened([row(1)], "")
        for name, call in (
                ("capacity_bytes", rowbloom.Cache),
                ("capacity_bytes", rowbloom.Memo),
                ("capacity_bytes", cache.set_capacity),
                ("file_id", cache.erase_file),
                ("file_id", memo.erase_file),
                ("file_id", lambda n: memo.denies(n, b"row")),
                ("file_id", lambda n: memo.remember(n, b"row")),
                ("delta", lambda n: rowbloom.Stats().add("lookups", n)),
                ("read_bytes", lambda n: reader.tell_outcome(
                    key_was_there=True, read_bytes=n)),
                ("source_size", lambda n: rowbloom.BlockReader(read, n)),
                ("offset", lambda n: rowbloom.BlockReader(read, 9, offset=n)),
                ("size", lambda n: rowbloom.BlockReader(read, 9, size=n))):
            for number in (-1, 2**64):
                with self.assertRaisesRegex(
                        rowbloom.Error,
                        f"^{name}={number} is not 0 to ") as raised:
                    call(number)
                self.assertEqual(raised.exception.code, INVALID_ARGUMENT)
            for other in ("64MB", 1e6, b"1"):
                with self.assertRaisesRegex(
                        TypeError,
                        f"^{name} is an int, not {type(other).__name__}$"):
                    call(other)
        with self.assertRaisesRegex(TypeError, "a str is needed, not dict"):
            rowbloom.BlockWriter({"bloom_type": "ROW"}, bytearray().extend)
        for key in ("user17", 17, None):
            with self.assertRaises(TypeError):
                rowbloom.MemFilter().add(key)

    def test_zero_bytes_in_texts(self):
        with self.assertRaises(ValueError):
            rowbloom.MemFilter("capacity=100\0;target_fpr=2")

    def test_codec(self):
        codec = rowbloom.KeyCodec("ordered")
        key = codec.encode(b"row\0", b"q")
        self.assertEqual(key, b"row\0\xff\0\x01q\0\x01")
        self.assertEqual(codec.decode(key), (b"row\0", b"q"))
        self.assertEqual(codec.prefix_sizes(key), (6, 9))
        lower, upper = codec.bounds(b"row\0")
        self.assertTrue(lower <= key < upper)
        with self.assertRaises(rowbloom.Error) as raised:
            rowbloom.KeyCodec("fixed:2").encode(b"row")
        self.assertEqual(raised.exception.code, INVALID_ARGUMENT)

    def test_memfilter(self):
        filter = rowbloom.MemFilter("capacity=100;target_fpr=0.001")
        self.assertTrue(filter.add(b"row"))
        self.assertFalse(filter.add(b"row"))
        for i in range(1000):
            filter.add(row(i))
        loaded = rowbloom.MemFilter(saved=filter.save())
        self.assertTrue(all(loaded.may_contain(row(i)) for i in range(1000)))
        self.assertFalse(loaded.may_contain(b"absent"))
        with self.assertRaises(rowbloom.Error):
            rowbloom.MemFilter(saved=b"")


if __name__ == "__main__":
    unittest.main()
