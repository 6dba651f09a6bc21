#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""options.py LIBRARY DB OPTIONS: RocksDB's C API by ctypes.

LIBRARY is librowbloom_rocksdb_preload.so. Loading it loads the librocksdb that
it was built for and registers rowbloom's policies there, so LD_PRELOAD is not
needed. Does what options.c does.
"""

import ctypes
import re
import sys

ROWS = 50000


def load(path):
    lib = ctypes.CDLL(path)
    pointers = (
        "options_create options_statistics_get_string open get "
        "readoptions_create writeoptions_create flushoptions_create")
    for name in pointers.split():
        getattr(lib, "rocksdb_" + name).restype = ctypes.c_void_p
    return lib


class Database:
    """A new database. Keys and values are bytes."""

    def __init__(self, lib, path, text):
        self.lib = lib
        self.options = ctypes.c_void_p(lib.rocksdb_options_create())
        defaults = ctypes.c_void_p(lib.rocksdb_options_create())
        lib.rocksdb_options_set_create_if_missing(defaults, 1)
        self.call("get_options_from_string", defaults, text, self.options)
        lib.rocksdb_options_destroy(defaults)
        lib.rocksdb_options_enable_statistics(self.options)
        self.db = ctypes.c_void_p(self.call("open", self.options, path))
        self.read = ctypes.c_void_p(lib.rocksdb_readoptions_create())
        self.write = ctypes.c_void_p(lib.rocksdb_writeoptions_create())

    def call(self, name, *arguments):
        """Calls a function whose last argument takes an error."""
        error = ctypes.c_char_p()
        result = getattr(self.lib, "rocksdb_" + name)(
            *arguments, ctypes.byref(error))
        if error.value is not None:
            raise RuntimeError(f"{name}: {error.value.decode()}")
        return result

    def put(self, key, value):
        self.call("put", self.db, self.write, key,
                  ctypes.c_size_t(len(key)), value,
                  ctypes.c_size_t(len(value)))

    def flush(self):
        options = ctypes.c_void_p(self.lib.rocksdb_flushoptions_create())
        self.call("flush", self.db, options)
        self.lib.rocksdb_flushoptions_destroy(options)

    def exists(self, key):
        size = ctypes.c_size_t()
        value = self.call("get", self.db, self.read, key,
                          ctypes.c_size_t(len(key)), ctypes.byref(size))
        self.lib.rocksdb_free(ctypes.c_void_p(value))
        return value is not None

    def filtered(self):
        """How many files the filters kept gets from reading."""
        text = ctypes.c_void_p(
            self.lib.rocksdb_options_statistics_get_string(self.options))
        count = re.search(rb"rocksdb\.bloom\.filter\.useful COUNT : (\d+)",
                          ctypes.string_at(text)).group(1)
        self.lib.rocksdb_free(text)
        return int(count)

    def close(self):
        self.lib.rocksdb_readoptions_destroy(self.read)
        self.lib.rocksdb_writeoptions_destroy(self.write)
        self.lib.rocksdb_close(self.db)
        self.lib.rocksdb_options_destroy(self.options)


def main():
    if len(sys.argv) != 4:
        print("usage: options.py LIBRARY DB OPTIONS", file=sys.stderr)
        return 2
    db = Database(load(sys.argv[1]), sys.argv[2].encode(),
                  sys.argv[3].encode())
    for i in range(ROWS):
        db.put(b"user%06d/name" % (2 * i), b"value")
    db.flush()
    lost = wrong = 0
    for i in range(ROWS):
        lost += not db.exists(b"user%06d/name" % (2 * i))
        wrong += db.exists(b"user%06d/mail" % (2 * i))
        wrong += db.exists(b"user%06d/name" % (2 * i + 1))
    filtered = db.filtered()
    print(f"lost {lost}, filtered {filtered}")
    db.close()
    return lost > 0 or wrong > 0 or filtered < 2 * ROWS * 0.98


if __name__ == "__main__":
    sys.exit(main())
