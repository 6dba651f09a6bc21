# SPDX-License-Identifier: Apache-2.0
"""rowbloom for Python, over its C API: hosts/c/include/rowbloom/c.h has the
contract of each call.

    import rowbloom

    builder = rowbloom.FilterBuilder("compact:bits_per_key=10")
    builder.add(b"user17", b"email")
    filter = rowbloom.Filter(builder.finish())
    filter.may_contain(b"user17", b"phone")  # False

Keys are bytes or other buffers, which are not copied; without a qualifier a
call is about the row, and lookups of readers with the qualifier PREFIX are
about all rows that begin with it. Calls of many keys take sequences, or arrays
of numpy: of dtype S, whose keys end before their zero bytes, or of dtype V or
two-dimensional of uint8, whose keys have all bytes. From an array they return
an array. Mistakes and damage raise Error. Objects free what they hold when they
are collected, or by close() or a `with`, once no thread uses them; then lookups
answer "maybe". ctypes lets other threads run during a call.

Loads the library that `pip install` built into the package, or that
ROWBLOOM_LIBRARY names, or else librowbloom_c.so.1. In a directory where the
system does not look, LD_LIBRARY_PATH names the directory, since that one needs
others that are beside it.
"""

import array
import ctypes
import importlib
import itertools
import operator
import os
import threading
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_int32, c_size_t
from ctypes import c_double, c_uint32, c_uint64, c_void_p
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import (Any, Callable, Dict, Iterable, List, Optional, Sequence,
                    Tuple, TypeVar, Union)

ABI = 1
NO, MAYBE, NOT_IN_MEMORY = 0, 1, 2
COUNTERS = ("lookups", "negatives", "true_positives", "false_positives",
            "unloaded", "chunk_loads", "chunk_load_bytes", "load_errors",
            "open_errors", "prefix_lookups", "prefix_negatives")
UNKNOWN_BYTES = 2**64 - 1
_TO_END = 2**64 - 1  # The size of a block up to the end of its source.
USAGE = ("capacity_bytes", "usage_bytes", "pinned_bytes", "retired_bytes",
         "index_bytes_outside", "resident_bytes", "chunk_bytes", "index_bytes",
         "entries", "hits", "misses", "inserts", "evictions", "shrinks",
         "rejections")
# The properties of a block: numbers, and texts or bytes.
_NUMBERS = ("cells", "keys", "chunks", "filter_bytes", "prefix_length_bytes",
            "has_row_keys", "file_id", "is_within_capacity")
_TEXTS = ("bloom_type", "key_codec", "filter_spec", "writer")
_BYTES = ("first_row", "first_qualifier", "last_row", "last_qualifier")


class _Prefix:
    pass


PREFIX = _Prefix()  # The qualifier of a lookup whose row is a prefix.
Buffer = Union[bytes, bytearray, memoryview]  # Or mmap, array and others.
Qualifier = Union[Buffer, None, _Prefix]
# Sequences of buffers, or arrays of numpy.
Rows = Any
Qualifiers = Any

UNKNOWN, INVALID_ARGUMENT, OUT_OF_RANGE, INTERNAL = 2, 3, 11, 13


class Error(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _Error(ctypes.Structure):
    _fields_ = [("code", c_int32), ("message", c_char * 1020)]


class _Buffer(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t),
                ("capacity", c_size_t)]


class BlockInfo(ctypes.Structure):
    _fields_ = [("size_bytes", c_uint64), ("tail_size_bytes", c_uint64),
                ("key_count", c_uint64), ("chunk_count", c_uint64)]


class Load(ctypes.Structure):
    _fields_ = [("chunk", c_uint64), ("offset", c_uint64),
                ("size_bytes", c_uint64), ("steps", c_uint32)]


class _Bytes(ctypes.Structure):
    _fields_ = [("data", c_char_p), ("size", c_size_t)]


class _Key(ctypes.Structure):
    _fields_ = [("row", c_void_p), ("row_size", c_size_t),
                ("qualifier", c_void_p), ("qualifier_size", c_size_t)]


class _Question(ctypes.Structure):
    _fields_ = [("reader", c_void_p), ("key", c_size_t)]


class Run(ctypes.Structure):
    """A run of Budget.set_live(): absent_asks is -1 if it is not known."""
    _fields_ = [("key_count", c_uint64), ("block_miss_share", c_double),
                ("absent_asks", c_double)]


_Append = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t,
                           POINTER(_Error))
_Read = ctypes.CFUNCTYPE(c_int32, c_void_p, c_uint64, c_void_p, c_size_t,
                         POINTER(_Error))


class _Source(ctypes.Structure):
    _fields_ = [("read", _Read), ("context", c_void_p),
                ("size_bytes", c_uint64), ("name", c_char_p)]


class _ReadOfMany(ctypes.Structure):
    _fields_ = [("context", c_void_p), ("offset", c_uint64), ("to", c_void_p),
                ("size", c_size_t), ("code", c_int32)]


_ReadMany = ctypes.CFUNCTYPE(None, c_void_p, POINTER(_ReadOfMany), c_size_t)


class _Group(ctypes.Structure):
    _fields_ = [("read_many", _ReadMany), ("context", c_void_p)]


def _library_path() -> str:
    own = Path(__file__).with_name("librowbloom_c.so")
    return os.environ.get("ROWBLOOM_LIBRARY") or (
        str(own) if own.exists() else f"librowbloom_c.so.{ABI}")


_library = ctypes.CDLL(_library_path())


def _function(name, result, *arguments):
    function = getattr(_library, "rowbloom_" + name)
    function.restype, function.argtypes = result, arguments
    return function


_KEY = (c_void_p, c_size_t, c_void_p, c_size_t)  # Row and qualifier.
_OUT = (POINTER(c_void_p), POINTER(_Error))
_FILL = (POINTER(_Buffer), POINTER(_Error))

_version = _function("version", c_char_p)
_abi = _function("abi", c_uint32)
_buffer_free = _function("buffer_free", None, POINTER(_Buffer))
_builder_new = _function("builder_new", c_int32, c_char_p, *_OUT)
_builder_add = _function("builder_add", None, c_void_p, *_KEY)
_builder_add_many = _function("builder_add_many", None, c_void_p, c_void_p,
                              c_size_t)
_builder_finish = _function("builder_finish", c_int32, c_void_p, *_FILL)
_filter_open = _function("filter_open", c_int32, c_void_p, c_size_t, *_OUT)
_filter_may_contain = _function("filter_may_contain", c_bool, c_void_p, *_KEY)
_filter_verify = _function("filter_verify", c_int32, c_void_p, c_size_t,
                           POINTER(_Error))
_writer_new = _function("writer_new", c_int32, c_char_p, _Append, c_void_p,
                        *_OUT)
_writer_new_warm = _function("writer_new_warm", c_int32, c_char_p, _Append,
                             c_void_p, c_void_p, *_OUT)
_writer_add = _function("writer_add", None, c_void_p, *_KEY)
_writer_add_many = _function("writer_add_many", None, c_void_p, c_void_p,
                             c_size_t)
_writer_finish = _function("writer_finish", c_int32, c_void_p,
                           POINTER(BlockInfo), POINTER(_Error))
_cache_new = _function("cache_new", c_int32, c_uint64, *_OUT)
_cache_set_capacity = _function("cache_set_capacity", None, c_void_p, c_uint64)
_cache_erase_file = _function("cache_erase_file", None, c_void_p, c_uint64)
_cache_usage = _function("cache_usage", c_int32, c_void_p, *_FILL)
_cache_numbers = _function("cache_numbers", c_size_t, c_void_p,
                           POINTER(c_uint64), c_size_t)
_stats_new = _function("stats_new", c_int32, *_OUT)
_stats_add = _function("stats_add", None, c_void_p, c_int32, c_uint64)
_stats_get = _function("stats_get", c_uint64, c_void_p, c_int32)
_stats_get_of_level = _function("stats_get_of_level", c_uint64, c_void_p,
                                c_int32, c_int32)
_stats_levels = _function("stats_levels", c_size_t, c_void_p, POINTER(c_int32),
                          c_size_t)
_stats_get_of_key_level = _function("stats_get_of_key_level", c_uint64,
                                    c_void_p, c_size_t, c_int32)
_stats_prometheus = _function("stats_prometheus", c_int32, c_void_p, *_FILL)
_reader_open = _function("reader_open", c_int32, POINTER(_Source), c_uint64,
                         c_uint64, c_char_p, c_void_p, c_void_p, *_OUT)
_reader_open_in_group = _function(
    "reader_open_in_group", c_int32, POINTER(_Source), POINTER(_Group),
    c_uint64, c_uint64, c_char_p, c_void_p, c_void_p, *_OUT)
_reader_may_contain = _function("reader_may_contain", c_bool, c_void_p, *_KEY)
_readers_may_contain = _function("readers_may_contain", None,
                                 POINTER(c_void_p), c_size_t, *_KEY,
                                 POINTER(c_bool))
_may_contain_many = _function("may_contain_many", None, c_void_p, c_size_t,
                              c_void_p, c_size_t, c_void_p)
_reader_get = _function("reader_get", c_uint64, c_void_p, c_int32)
_reader_number = _function("reader_number", c_int32, c_void_p, c_int32,
                           POINTER(c_uint64), POINTER(_Error))
_reader_bytes = _function("reader_bytes", c_int32, c_void_p, c_int32, *_FILL)
_reader_ask = _function("reader_ask", c_int32, c_void_p, *_KEY, POINTER(Load))
_reader_offer = _function("reader_offer", c_int32, c_void_p, POINTER(Load),
                          c_int32, c_void_p, c_size_t, *_KEY)
_reader_tell_outcome = _function("reader_tell_outcome", None, c_void_p,
                                 c_bool, c_uint64)
_reader_verify = _function("reader_verify", c_int32, c_void_p, POINTER(_Error))
_codec_new = _function("codec_new", c_int32, c_char_p, *_OUT)
_codec_encode = _function("codec_encode", c_int32, c_void_p, *_KEY, *_FILL)
_codec_decode = _function("codec_decode", c_int32, c_void_p, c_char_p,
                          c_size_t, POINTER(_Buffer), *_FILL)
_codec_bounds = _function("codec_bounds", c_int32, c_void_p, c_char_p,
                          c_size_t, POINTER(_Buffer), *_FILL)
_codec_prefix_sizes = _function("codec_prefix_sizes", None, c_void_p, c_char_p,
                              c_size_t, POINTER(c_size_t), POINTER(c_size_t))
_codec_segment_count = _function("codec_segment_count", c_size_t, c_void_p)
_SEGMENTS = (POINTER(_Bytes), c_size_t)
_codec_encode_segments = _function("codec_encode_segments", c_int32, c_void_p,
                                   *_SEGMENTS, *_FILL)
_codec_encode_prefix = _function("codec_encode_prefix", c_int32, c_void_p,
                                 *_SEGMENTS, *_FILL)
_codec_decode_segments = _function("codec_decode_segments", c_int32, c_void_p,
                                   c_char_p, c_size_t, POINTER(_Buffer),
                                   c_size_t, POINTER(_Error))
_codec_bounds_of_segments = _function("codec_bounds_of_segments", c_int32,
                                      c_void_p, *_SEGMENTS, POINTER(_Buffer),
                                      *_FILL)
_codec_key_levels = _function("codec_key_levels", c_size_t, c_void_p, c_char_p,
                              c_size_t, POINTER(c_size_t), c_size_t)
_memo_new = _function("memo_new", c_int32, c_uint64, *_OUT)
_memo_denies = _function("memo_denies", c_bool, c_void_p, c_uint64, *_KEY)
_memo_remember = _function("memo_remember", None, c_void_p, c_uint64, *_KEY)
_memo_erase_file = _function("memo_erase_file", None, c_void_p, c_uint64)
_budget_new = _function("budget_new", c_int32, c_char_p, *_OUT)
_budget_set_live = _function("budget_set_live", c_int32, c_void_p, c_char_p,
                             POINTER(Run), c_size_t, POINTER(_Error))
_budget_for_file = _function("budget_for_file", c_int32, c_void_p, c_char_p,
                             *_FILL)
_memfilter_new = _function("memfilter_new", c_int32, c_char_p, *_OUT)
_memfilter_load = _function("memfilter_load", c_int32, c_void_p, c_size_t,
                            *_OUT)
_memfilter_add = _function("memfilter_add", c_int32, c_void_p, *_KEY,
                           POINTER(c_bool), POINTER(_Error))
_memfilter_may_contain = _function("memfilter_may_contain", c_bool, c_void_p,
                                   *_KEY)
_memfilter_save = _function("memfilter_save", c_int32, c_void_p, *_FILL)

if _abi() != ABI:
    raise ImportError(f"librowbloom_c has ABI {_abi()}, not {ABI}")


def version() -> str:
    return _version().decode()


def _text(text):
    """A text for C, where it ends at a zero byte."""
    if not isinstance(text, str):
        raise TypeError(f"a str is needed, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError(f"a zero byte in {text!r}")
    return text.encode()


def _number(name, number):
    """A number for C, which takes others modulo 2**64."""
    try:
        number = operator.index(number)
    except TypeError:
        raise TypeError(f"{name} is an int, not {type(number).__name__}"
                        ) from None
    if not 0 <= number < 2**64:
        raise Error(INVALID_ARGUMENT,
                    f"{name}={number} is not 0 to 2**64 - 1")
    return number


_kept: Dict[int, BaseException] = {}  # By thread.


def _keep(exception):
    """Keeps what may not leave a callback, and no handler of errors catches:
    KeyboardInterrupt, for example. The call of C raises it when it returns.
    What Python raises before a callback's first line, ctypes prints instead."""
    if exception is not None and not isinstance(exception, Exception):
        _kept.setdefault(threading.get_ident(), exception)


def _raise_kept():
    exception = _kept.pop(threading.get_ident(), None)
    if exception is not None:
        raise exception


def _call(function, *arguments):
    error = _Error()
    code = function(*arguments, byref(error))
    if _kept:
        _raise_kept()
    if code != 0:
        raise Error(error.code, error.message.decode(errors="replace"))


def _fill(function, *arguments, count=1):
    """The bytes of the `count` buffers that the function fills."""
    buffers = [_Buffer() for _ in range(count)]
    try:
        _call(function, *arguments, *map(byref, buffers))
        return [ctypes.string_at(b.data, b.size) for b in buffers]
    finally:
        for buffer in buffers:
            _buffer_free(byref(buffer))


class _PyBuffer(ctypes.Structure):
    """Python's Py_buffer."""
    _fields_ = [("buf", c_void_p), ("obj", ctypes.py_object),
                ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", c_char_p), ("shape", c_void_p),
                ("strides", c_void_p), ("suboffsets", c_void_p),
                ("internal", c_void_p)]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = (ctypes.py_object, POINTER(_PyBuffer), ctypes.c_int)
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = (POINTER(_PyBuffer),)
_release_buffer.restype = None


class _View:
    """The memory of a buffer, which stays where it is as long as this lives."""

    _buffer = None

    def __init__(self, data):
        buffer = _PyBuffer()
        _get_buffer(data, byref(buffer), 0)
        self._buffer = buffer
        # C's NULL is no empty qualifier.
        self._as_parameter_ = c_void_p(buffer.buf) if buffer.buf else b""

    def __len__(self):
        return self._buffer.len

    def __del__(self):
        if self._buffer is not None:
            _release_buffer(byref(self._buffer))


def _view(data):
    """What C can be passed; its len() is the size."""
    return data if type(data) is bytes else _View(data)


def _key(row, qualifier):
    row = _view(row)
    if qualifier is None:
        return row, len(row), None, 0
    if qualifier is PREFIX:
        return row, len(row), None, c_size_t(-1).value
    qualifier = _view(qualifier)
    return row, len(row), qualifier, len(qualifier)


def _columns(numpy, keys):
    """The addresses and sizes of an array's keys, and what has them."""
    keys = numpy.ascontiguousarray(keys)
    if keys.dtype.kind in "SV" and keys.ndim == 1:
        width = keys.dtype.itemsize
    elif keys.dtype == numpy.uint8 and keys.ndim == 2:
        width = keys.shape[1]
    else:
        raise TypeError(f"an array of keys has dtype S or V, or two dimensions "
                        f"of uint8, not {keys.ndim} of {keys.dtype}")
    places = numpy.uint64(keys.ctypes.data) + numpy.arange(
        len(keys), dtype=numpy.uint64) * numpy.uint64(width)
    sizes = (numpy.char.str_len(keys).astype(numpy.uint64)
             if keys.dtype.kind == "S" else width)
    return places, sizes, keys


def _keys(rows, qualifiers):
    """The address of C's keys, their number, and what keeps them."""
    has_each = qualifiers is not None and qualifiers is not PREFIX
    if has_each and len(qualifiers) != len(rows):
        raise ValueError(f"{len(rows)} rows have {len(qualifiers)} qualifiers")
    if hasattr(rows, "__array_interface__"):
        numpy = importlib.import_module("numpy")
        keys = numpy.zeros((len(rows), 4), numpy.uint64)
        keys[:, 0], keys[:, 1], kept = _columns(numpy, rows)
        if qualifiers is PREFIX:
            keys[:, 3] = numpy.uint64(c_size_t(-1).value)
        elif has_each:
            keys[:, 2], keys[:, 3], more = (
                _columns(numpy, qualifiers)
                if hasattr(qualifiers, "__array_interface__")
                else _joined(qualifiers))
            kept = kept, more
        return c_void_p(keys.ctypes.data), len(keys), (keys, kept)
    keys = array.array("Q", bytes(32 * len(rows)))
    keys[0::4], keys[1::4], kept = _joined(rows)
    if qualifiers is PREFIX:
        keys[3::4] = array.array("Q", [c_size_t(-1).value]) * len(rows)
    elif has_each:
        keys[2::4], keys[3::4], more = _joined(qualifiers)
        kept = kept, more
    return c_void_p(keys.buffer_info()[0]), len(rows), (keys, kept)


def _joined(keys):
    """As _columns(), of a sequence, whose bytes are copied."""
    keys = [key if type(key) is bytes else memoryview(key).cast("B")
            for key in keys]
    data = b"".join(keys)
    sizes = array.array("Q", map(len, keys))
    first = ctypes.cast(data, c_void_p).value
    places = array.array("Q", itertools.accumulate(sizes, initial=first))
    return places[:-1], sizes, data


_T = TypeVar("_T", bound="_Object")


class _Object:
    """A handle, freed by the library's function NAME_free."""

    _handle: Any = None

    def _make(self, name, function, *arguments):
        self._free = _function(name + "_free", None, c_void_p)
        self._handle = c_void_p()
        _call(function, *arguments, byref(self._handle))

    def close(self) -> None:
        """Frees it; no thread may be in a call of it."""
        handle, self._handle = self._handle, None
        if handle:
            self._free(handle)

    def __enter__(self: _T) -> _T:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _open_handle(owner):
    """NULL for None, but not for a closed object."""
    if owner is not None and not owner._handle:
        raise ValueError(f"the {type(owner).__name__} is closed")
    return owner and owner._handle


def _address(reader):
    return reader._handle.value if reader._handle else 0


class FilterBuilder(_Object):
    def __init__(self, spec: str) -> None:
        self._make("builder", _builder_new, _text(spec))

    def add(self, row: Buffer, qualifier: Qualifier = None) -> None:
        _builder_add(self._handle, *_key(row, qualifier))

    def add_many(self, rows: Rows, qualifiers: Qualifiers = None) -> None:
        keys, count, kept = _keys(rows, qualifiers)
        _builder_add_many(self._handle, keys, count)

    def finish(self) -> bytes:
        return _fill(_builder_finish, self._handle)[0]


class Filter(_Object):
    """A view of the bytes, which must not change. Opening it compares all
    checksums. With verify=False it does not: the caller has compared checksums
    of the bytes already. Otherwise damage may answer "no" for a key that was
    added."""

    def __init__(self, data: Buffer, *, verify: bool = True) -> None:
        self._data = _view(data)
        if verify:
            self.verify()
        self._make("filter", _filter_open, self._data, len(self._data))

    def may_contain(self, row: Buffer, qualifier: Qualifier = None) -> bool:
        return _filter_may_contain(self._handle, *_key(row, qualifier))

    def verify(self) -> None:
        """Compares all checksums."""
        _call(_filter_verify, self._data, len(self._data))


def _known(code):
    """The code of an error for C, which takes others modulo 2**32: to 0, even,
    which is none."""
    number = operator.index(code)
    return number if 1 <= number <= 16 else UNKNOWN


def _code(exception):
    if not isinstance(exception, Error):
        return INTERNAL
    try:
        return _known(exception.code)
    except Exception:  # It is no int, or there is none.
        return UNKNOWN


def _code_of(error, exception):
    """Tells the library what a callback raised."""
    try:
        message = str(exception)
        if not isinstance(exception, Error):
            message = f"{type(exception).__name__}: {message}"
    except Exception:  # Its __str__ fails.
        message = type(exception).__name__
    _keep(exception)
    error[0].message = message.encode(errors="replace")[:1019]
    return _code(exception)


class BlockWriter(_Object):
    """`append` takes the bytes of the block, piece by piece. If it returns an
    int, as the write() of files does, that is how many it took: fewer fail the
    block. With a cache, and the file_id of its reader in the options, its first
    lookups read nothing."""

    def __init__(self, options: str, append: Callable[[bytes], object],
                 cache: Optional["Cache"] = None) -> None:
        self._taken = total = [0]  # Bytes.

        def call(_, data, size, error):
            try:
                taken = append(ctypes.string_at(data, size))
                if type(taken) is int and taken != size:
                    raise Error(INTERNAL,
                                f"append took {taken} of {size} bytes")
                total[0] += size
                return 0
            except BaseException as exception:
                return _code_of(error, exception)

        self._append = _Append(call)
        if cache is None:
            self._make("writer", _writer_new, _text(options), self._append,
                       None)
        else:
            self._make("writer", _writer_new_warm, _text(options),
                       self._append, None, _open_handle(cache))

    def add(self, row: Buffer, qualifier: Qualifier = None) -> None:
        _writer_add(self._handle, *_key(row, qualifier))
        if _kept:
            _raise_kept()

    def add_many(self, rows: Rows, qualifiers: Qualifiers = None) -> None:
        """Cells in order, as for add()."""
        keys, count, kept = _keys(rows, qualifiers)
        _writer_add_many(self._handle, keys, count)
        _raise_kept()

    def finish(self) -> BlockInfo:
        info = BlockInfo()
        _call(_writer_finish, self._handle, byref(info))
        # The result of an interrupted callback is whatever was in memory.
        if self._taken[0] != info.size_bytes:
            raise Error(INTERNAL, f"append took {self._taken[0]} of "
                        f"{info.size_bytes} bytes")
        return info


class Cache(_Object):
    def __init__(self, capacity_bytes: int) -> None:
        self._make("cache", _cache_new,
                   _number("capacity_bytes", capacity_bytes))

    def set_capacity(self, capacity_bytes: int) -> None:
        _cache_set_capacity(self._handle,
                            _number("capacity_bytes", capacity_bytes))

    def erase_file(self, file_id: int) -> None:
        _cache_erase_file(self._handle, _number("file_id", file_id))

    def usage(self) -> str:
        return _fill(_cache_usage, self._handle)[0].decode()

    def numbers(self) -> Dict[str, int]:
        """The usage as a dict of USAGE."""
        numbers = (c_uint64 * len(USAGE))()
        _cache_numbers(self._handle, numbers, len(USAGE))
        return dict(zip(USAGE, numbers))


def _check_level(name, level, first, last):
    """Refuses what C would take for another level."""
    if not first <= level <= last:
        raise ValueError(f"{name}={level} is not {first} to {last}")


class Stats(_Object):
    def __init__(self) -> None:
        self._make("stats", _stats_new)

    def add(self, counter: str, delta: int = 1) -> None:
        _stats_add(self._handle, COUNTERS.index(counter),
                   _number("delta", delta))

    def get(self, counter: str, level: Optional[int] = None,
            key_level: Optional[int] = None) -> int:
        """Of all files, of one level, or of one key level of prefixes."""
        index = COUNTERS.index(counter)
        if key_level is not None:
            _check_level("key_level", key_level, 0, c_size_t(-1).value)
            return _stats_get_of_key_level(self._handle, key_level, index)
        if level is not None:
            _check_level("level", level, -2**31, 2**31 - 1)
            return _stats_get_of_level(self._handle, level, index)
        return _stats_get(self._handle, index)

    def levels(self) -> List[int]:
        """The levels that were counted; -1 is the unknown one."""
        levels = (c_int32 * _stats_levels(self._handle, None, 0))()
        count = _stats_levels(self._handle, levels, len(levels))
        return levels[:count]

    def prometheus(self) -> str:
        return _fill(_stats_prometheus, self._handle)[0].decode()


def _bytes_of(read, at, count):
    """What a source reads, if that is all."""
    data = read(at, count)
    if len(data) != count:
        raise Error(OUT_OF_RANGE,
                    f"read {len(data)} of {count} bytes at offset {at}")
    return data


def _copy_to(to, count, data):
    """Passes bytes of a source to C."""
    memoryview((c_char * count).from_address(to)).cast("B")[:] = data


class ReadGroup:
    """Lets the reads of its readers run at once, up to `limit`, each in a
    thread, when calls of many keys need many. Its sources may not ask its
    readers: their reads could wait for each other."""

    def __init__(self, limit: int) -> None:
        self._pool = ThreadPoolExecutor(limit)
        self._sources: Dict[int, Callable[[int, int], Buffer]] = {}

        def read_many(_, reads, count):
            started = []
            try:
                for i in range(count):
                    started.append(self._pool.submit(
                        self._read, reads[i].context, reads[i].offset,
                        reads[i].size))
            except BaseException as exception:
                _keep(exception)  # The reads that were not started have failed.
            # An interrupt may come before submit() returns, of whose read
            # nothing is known then. It has no memory of C's, which goes when
            # this returns: the bytes are copied here.
            while started:
                try:
                    wait(started)
                    for i, read in enumerate(started):
                        self._end(reads[i], read)
                    started = []
                except BaseException as exception:
                    _keep(exception)

        self._c = _Group(_ReadMany(read_many), id(self))

    def _read(self, context, offset, size):
        return _bytes_of(self._sources[context], offset, size)

    def _end(self, read, future):
        exception = future.exception()
        if exception is None:
            try:
                _copy_to(read.to, read.size, future.result())
                read.code = 0
                return
            except Exception as failure:  # The source read no bytes.
                exception = failure
        read.code = _code(exception)
        _keep(exception)


class BlockReader(_Object):
    """`read(offset, size)` returns bytes, on any thread. The block lies at
    `offset`; without a size it ends with the source."""

    _group = None

    def __init__(self, read: Callable[[int, int], Buffer], source_size: int,
                 *, name: str = "source", offset: int = 0,
                 size: Optional[int] = None, options: str = "",
                 cache: Optional[Cache] = None,
                 stats: Optional[Stats] = None,
                 group: Optional[ReadGroup] = None) -> None:
        def call(_, at, to, count, error):
            try:
                _copy_to(to, count, _bytes_of(read, at, count))
                return 0
            except BaseException as exception:
                return _code_of(error, exception)

        self._read = _Read(call)
        source_size = _number("source_size", source_size)
        source = _Source(self._read, None, source_size, _text(name))
        arguments = (_number("offset", offset),
                     _TO_END if size is None else _number("size", size),
                     _text(options), _open_handle(cache),
                     _open_handle(stats))
        if group is None:
            self._make("reader", _reader_open, byref(source), *arguments)
            return
        source.context = id(self)
        group._sources[id(self)] = read
        self._group = group
        self._make("reader", _reader_open_in_group, byref(source),
                   byref(group._c), *arguments)

    def close(self) -> None:
        super().close()
        if self._group is not None:
            self._group._sources.pop(id(self), None)

    def may_contain_many(self, rows: Rows,
                         qualifiers: Qualifiers = None) -> Any:
        """may_contain_every() of this reader."""
        return may_contain_every([self], rows, qualifiers)[0]

    def may_contain(self, row: Buffer, qualifier: Qualifier = None) -> bool:
        answer = _reader_may_contain(self._handle, *_key(row, qualifier))
        if _kept:
            _raise_kept()
        return answer

    def ask(self, row: Buffer, qualifier: Qualifier = None) -> Tuple[int, Load]:
        """The answer, and the load that it needs if it is NOT_IN_MEMORY."""
        load = Load()
        answer = _reader_ask(self._handle, *_key(row, qualifier), byref(load))
        return answer, load

    def offer(self, load: Load, data: Buffer, row: Buffer,
              qualifier: Qualifier = None, code: int = 0) -> int:
        view = _view(data)
        return _reader_offer(self._handle, byref(load), code and _known(code),
                             view, len(view), *_key(row, qualifier))

    def get(self, counter: str) -> int:
        return _reader_get(self._handle, COUNTERS.index(counter))

    def properties(self) -> Dict[str, Union[int, str, bytes]]:
        """A dict: sizes and counts, texts, and the first and last key."""
        found: Dict[str, Union[int, str, bytes]] = {}
        for i, name in enumerate(_NUMBERS):
            number = c_uint64()
            _call(_reader_number, self._handle, i, byref(number))
            found[name] = number.value
        for i, name in enumerate(_TEXTS + _BYTES):
            data = _fill(_reader_bytes, self._handle, 100 + i)[0]
            found[name] = data.decode() if name in _TEXTS else data
        return found

    def tell_outcome(self, *, key_was_there: bool,
                     read_bytes: int = UNKNOWN_BYTES) -> None:
        _reader_tell_outcome(self._handle, key_was_there,
                             _number("read_bytes", read_bytes))

    def verify(self) -> None:
        _call(_reader_verify, self._handle)


def may_contain_each(readers: Sequence[BlockReader], row: Buffer,
                     qualifier: Qualifier = None) -> List[bool]:
    """One key in many SSTs, by one call: the answers in order."""
    handles = (c_void_p * len(readers))(*(r._handle for r in readers))
    answers = (c_bool * len(readers))()
    _readers_may_contain(handles, len(readers), *_key(row, qualifier), answers)
    _raise_kept()
    return list(answers)


def may_contain_many(
        questions: Iterable[Tuple[BlockReader, bytes, Qualifier]]
) -> List[bool]:
    """Many keys in many SSTs, by one call, which hashes each key once: the
    answers to questions (reader, row, qualifier), in order."""
    places: Dict[Tuple[bytes, Qualifier], int] = {}
    asked = []
    for reader, row, qualifier in questions:
        place = places.setdefault((row, qualifier), len(places))
        asked.append(_Question(reader._handle, place))
    keys = (_Key * len(places))(*(
        _Key(ctypes.cast(row, c_void_p), row_size,
             ctypes.cast(qualifier, c_void_p), qualifier_size)
        for row, row_size, qualifier, qualifier_size in (
            _key(*key) for key in places)))
    answers = (c_bool * len(asked))()
    _may_contain_many(keys, len(keys), (_Question * len(asked))(*asked),
                      len(asked), answers)
    _raise_kept()
    return list(answers)


def may_contain_every(readers: Sequence[BlockReader], rows: Rows,
                      qualifiers: Qualifiers = None) -> Any:
    """Every key in every SST, by one call: answers[reader][key]."""
    keys, count, kept = _keys(rows, qualifiers)
    total = count * len(readers)
    if hasattr(rows, "__array_interface__"):
        numpy = importlib.import_module("numpy")
        questions = numpy.empty((len(readers), count, 2), numpy.uint64)
        for i, reader in enumerate(readers):
            questions[i, :, 0] = _address(reader)
        questions[:, :, 1] = numpy.arange(count)
        answers = numpy.ones((len(readers), count), numpy.bool_)
        _may_contain_many(keys, count, c_void_p(questions.ctypes.data), total,
                          c_void_p(answers.ctypes.data))
        _raise_kept()
        return answers
    asked = array.array("Q", bytes(16 * total))
    asked[1::2] = array.array("Q", range(count)) * len(readers)
    for i, reader in enumerate(readers):
        asked[2 * i * count:2 * (i + 1) * count:2] = array.array(
            "Q", [_address(reader)]) * count
    found = (c_bool * total)()
    _may_contain_many(keys, count, c_void_p(asked.buffer_info()[0]), total,
                      found)
    _raise_kept()
    return [found[i:i + count] for i in range(0, total, count or 1)] or [
        [] for _ in readers]


def _segments(segments):
    return (_Bytes * len(segments))(
        *(_Bytes(s, len(s)) for s in segments)), len(segments)


class KeyCodec(_Object):
    def __init__(self, text: str) -> None:
        self._make("codec", _codec_new, _text(text))

    def encode_segments(self, segments: Sequence[bytes]) -> bytes:
        return _fill(_codec_encode_segments, self._handle,
                     *_segments(segments))[0]

    def encode_prefix(self, segments: Sequence[bytes]) -> bytes:
        """The prefix of all keys that begin with the segments."""
        return _fill(_codec_encode_prefix, self._handle,
                     *_segments(segments))[0]

    def decode_segments(self, key: bytes) -> List[bytes]:
        count = _codec_segment_count(self._handle)
        buffers = (_Buffer * count)()
        try:
            _call(_codec_decode_segments, self._handle, key, len(key), buffers,
                  count)
            return [ctypes.string_at(b.data, b.size) for b in buffers]
        finally:
            for buffer in buffers:
                _buffer_free(byref(buffer))

    def bounds_of_segments(self,
                           segments: Sequence[bytes]) -> Tuple[bytes, bytes]:
        first, end = _fill(_codec_bounds_of_segments, self._handle,
                           *_segments(segments), count=2)
        return first, end

    def key_levels(self, key: bytes) -> List[int]:
        """The sizes of the key's prefixes, the shortest first."""
        sizes = (c_size_t * 8)()
        count = _codec_key_levels(self._handle, key, len(key), sizes, 8)
        return sizes[:count]

    def encode(self, row: bytes, qualifier: bytes = b"") -> bytes:
        return _fill(_codec_encode, self._handle, *_key(row, qualifier))[0]

    def decode(self, key: bytes) -> Tuple[bytes, bytes]:
        row, qualifier = _fill(_codec_decode, self._handle, key, len(key),
                               count=2)
        return row, qualifier

    def bounds(self, row: bytes) -> Tuple[bytes, bytes]:
        first, end = _fill(_codec_bounds, self._handle, row, len(row), count=2)
        return first, end

    def prefix_sizes(self, key: bytes) -> Tuple[int, int]:
        row, column = c_size_t(), c_size_t()
        _codec_prefix_sizes(self._handle, key, len(key), byref(row),
                          byref(column))
        return row.value, column.value


class Memo(_Object):
    """Remembers false positives, of files that never change."""

    def __init__(self, capacity_bytes: int) -> None:
        self._make("memo", _memo_new,
                   _number("capacity_bytes", capacity_bytes))

    def denies(self, file_id: int, row: Buffer,
               qualifier: Qualifier = None) -> bool:
        return _memo_denies(self._handle, _number("file_id", file_id),
                            *_key(row, qualifier))

    def remember(self, file_id: int, row: Buffer,
                 qualifier: Qualifier = None) -> None:
        """Only if the file has no cell of the key, not even a tombstone."""
        _memo_remember(self._handle, _number("file_id", file_id),
                       *_key(row, qualifier))

    def erase_file(self, file_id: int) -> None:
        _memo_erase_file(self._handle, _number("file_id", file_id))


class Budget(_Object):
    """The filter_spec of each SST of a tree, by a budget for all of them."""

    def __init__(self, options: str = "") -> None:
        self._make("budget", _budget_new, _text(options))

    def set_live(self, options: str, runs: Sequence[Run] = ()) -> None:
        _call(_budget_set_live, self._handle, _text(options),
              (Run * len(runs))(*runs), len(runs))

    def for_file(self, options: str = "") -> str:
        return _fill(_budget_for_file, self._handle,
                     _text(options))[0].decode()


class MemFilter(_Object):
    def __init__(self, options: str = "",
                 saved: Optional[Buffer] = None) -> None:
        if saved is None:
            self._make("memfilter", _memfilter_new, _text(options))
        else:
            view = _view(saved)
            self._make("memfilter", _memfilter_load, view, len(view))

    def add(self, row: Buffer, qualifier: Qualifier = None) -> bool:
        added = c_bool()
        _call(_memfilter_add, self._handle, *_key(row, qualifier),
              byref(added))
        return added.value

    def may_contain(self, row: Buffer, qualifier: Qualifier = None) -> bool:
        return _memfilter_may_contain(self._handle, *_key(row, qualifier))

    def save(self) -> bytes:
        return _fill(_memfilter_save, self._handle)[0]
