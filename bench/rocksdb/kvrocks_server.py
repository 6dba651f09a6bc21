#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What calls of Apache Kvrocks servers read, by their own counts.

    kvrocks_server.py stock=build/kvrocks 'bloom=ROWS=bloom build/kvrocks'

A contender is NAME=COMMAND, with variables of its environment before the
command. Those whose names are equal up to a '+' share the files that the first
of them wrote. Each server loads the same hashes, sets, sorted sets, lists and
streams of four fields on average, in trees of four runs (the last level, level
1 and two files of level 0), two (without level 0) and one, as after COMPACT.

Then each call is made on a server of its own that has just started (cold), and
after as many gets of the same keys and the same calls (warm). Counted are, for
each call: data blocks that were asked for, blocks that were read from files
(those of data, filters and indexes), by INFO rocksdb, and the bytes that the
process read, by /proc. Counts repeat, as long as the files are the same. Warm
ones in a small cache vary with the files, since RocksDB places their blocks in
the cache's shards by chance, and are means of --loads.

Each reply is compared with those of the other contenders, also those of
--compared commands that read, write, run scripts and transactions. Exit codes:
0, 1 if replies differ or a server fails, 2 usage.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import platform
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SEED = 17
SHARES = (0.75, 0.17, 0.05, 0.03)  # The runs have these, the deepest first.
BATCH = 200
START_SECONDS = 120


class Failure(Exception):
    pass


# ---- RESP ----

def encode(*words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        if not isinstance(word, bytes):
            word = str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=300)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""
        self.sent_bytes = 0

    def close(self):
        self.socket.close()

    def _more(self):
        chunk = self.socket.recv(1 << 18)
        if not chunk:
            raise Failure("the server closed the connection")
        self.buffer += chunk

    def _end(self, at):
        """Where the reply that begins at `at` ends."""
        pending = 1
        while pending:
            line = self.buffer.find(b"\r\n", at)
            while line < 0:
                self._more()
                line = self.buffer.find(b"\r\n", at)
            kind = self.buffer[at:at + 1]
            pending -= 1
            size = line + 2
            if kind == b"$":
                length = int(self.buffer[at + 1:line])
                size += length + 2 if length >= 0 else 0
                while len(self.buffer) < size:
                    self._more()
            elif kind in b"*~>":
                pending += max(0, int(self.buffer[at + 1:line]))
            elif kind == b"%":
                pending += 2 * int(self.buffer[at + 1:line])
            at = size
        return at

    def ask(self, commands):
        """The raw replies of encoded commands."""
        replies = []
        for first in range(0, len(commands), BATCH):
            batch = commands[first:first + BATCH]
            request = b"".join(batch)
            self.sent_bytes += len(request)
            self.socket.sendall(request)
            at = 0
            for _ in batch:
                end = self._end(at)
                replies.append(self.buffer[at:end])
                at = end
            self.buffer = self.buffer[at:]
        return replies

    def call(self, *words):
        return self.ask([encode(*words)])[0]


# ---- Servers ----

class Contender:
    def __init__(self, text):
        self.name, separator, command = text.partition("=")
        words = shlex.split(command)
        self.environment = {}
        while words and "=" in words[0].split("/")[0]:
            name, _, value = words.pop(0).partition("=")
            self.environment[name] = value
        if not separator or not self.name or not words:
            raise argparse.ArgumentTypeError(f"{text!r} is not NAME=COMMAND")
        self.command = words
        self.files = self.name.split("+")[0]


class Server:
    """One run of a contender on a directory; a context manager."""

    def __init__(self, contender, directory, cache_mib=0, level_base=None,
                 level_multiplier=10):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        compacts = level_base is not None
        config = {
            "bind": "127.0.0.1", "port": self.port, "dir": directory,
            "log-dir": directory, "workers": 1, "daemonize": "no",
            "rocksdb.block_cache_size": cache_mib,
            "rocksdb.disable_auto_compactions": "no" if compacts else "yes",
            "rocksdb.level0_file_num_compaction_trigger": 1 if compacts else 99,
            "rocksdb.level0_slowdown_writes_trigger": 200,
            "rocksdb.level0_stop_writes_trigger": 300,
            "rocksdb.max_bytes_for_level_base": level_base or 1 << 28,
            "rocksdb.max_bytes_for_level_multiplier": level_multiplier,
        }
        path = Path(directory) / "kvrocks.conf"
        path.write_text("".join(f"{k} {v}\n" for k, v in config.items()),
                        encoding="utf-8")
        with open(Path(directory) / "output", "ab") as output:
            self.process = subprocess.Popen(
                [*contender.command, "-c", str(path)], stdout=output,
                stderr=output, env={**os.environ, **contender.environment})
        self.connection = None
        self._connect(contender, directory)

    def _connect(self, contender, directory):
        deadline = time.monotonic() + START_SECONDS
        while self.connection is None:
            try:
                self.connection = Connection(self.port)
            except OSError:
                if (self.process.poll() is not None or
                        time.monotonic() > deadline):
                    self.process.kill()
                    raise Failure(f"{contender.name} does not start; its logs "
                                  f"are in {directory}") from None
                time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def info(self):
        counts = {}
        for line in self.connection.call("INFO", "rocksdb").split(b"\r\n"):
            name, _, value = line.decode().partition(":")
            if value.isdigit():
                counts[name] = int(value)
        return counts

    def read_bytes(self):
        """That the process has read, but for what was sent to it."""
        io = Path(f"/proc/{self.process.pid}/io").read_text(encoding="ascii")
        return int(io.split()[1]) - self.connection.sent_bytes

    def wait_for_compactions(self):
        """Returns when no compaction has run for a second."""
        quiet = 0
        while quiet < 5:
            time.sleep(0.2)
            counts = self.info()
            is_busy = (counts["compaction_pending"] or
                       counts["num_running_compactions"] or
                       counts["num_running_flushes"])
            quiet = 0 if is_busy else quiet + 1


# ---- Data ----

KINDS = ("h", "s", "z", "l", "x")


class Data:
    """Keys of each kind, and the run of each of their fields."""

    def __init__(self, count):
        self.count = count
        rng = random.Random(SEED)
        self.runs = {}
        for kind in KINDS:
            self.runs[kind] = []
            for _ in range(count):
                runs = rng.choices(range(len(SHARES)), SHARES,
                                   k=rng.randint(1, 7))
                # Lists and streams are appended in this order.
                self.runs[kind].append(bytes(sorted(runs)))

    @staticmethod
    def key(kind, i):
        return b"%s:%08d" % (kind.encode(), i)

    @staticmethod
    def value(kind, i, j):
        return b"%016x" % (hash((ord(kind), i, j)) % (1 << 64)) * 2

    @staticmethod
    def field(kind, i, j):
        return b"%02x%d" % (hash((ord(kind), i)) % 251, j)

    def commands(self, run):
        """That write the fields of a run."""
        for kind in KINDS:
            for i, runs in enumerate(self.runs[kind]):
                fields = [j for j, at in enumerate(runs) if at == run]
                if fields:
                    yield from self._write(kind, i, fields)

    def _write(self, kind, i, fields):
        key = self.key(kind, i)
        if kind == "h":
            yield encode("HSET", key, *(word for j in fields for word in (
                self.field(kind, i, j), self.value(kind, i, j))))
        elif kind == "s":
            yield encode("SADD", key,
                         *(self.value(kind, i, j) for j in fields))
        elif kind == "z":
            yield encode("ZADD", key, *(word for j in fields for word in (
                j + 0.5, self.value(kind, i, j))))
        elif kind == "l":
            yield encode("RPUSH", key,
                         *(self.value(kind, i, j) for j in fields))
        else:
            for j in fields:
                yield encode("XADD", key, f"{j + 1}-1",
                             self.field(kind, i, j), self.value(kind, i, j))

    def last(self, kind, i):
        return len(self.runs[kind][i]) - 1


Call = collections.namedtuple("Call", "name kind make")
GETS = {"h": "HGET, present field", "s": "SISMEMBER, present", "z": "ZSCORE",
        "l": "LINDEX", "x": "XRANGE, one entry"}
UNCOUNTED = ("ZSCORE", "LINDEX", "XRANGE, one entry")


def calls_of(data):
    def call(name, kind, make):
        return Call(name, kind, lambda i: encode(*make(data.key(kind, i), i)))

    def field(i, j):
        return data.field("h", i, j)

    def member(kind, i, j):
        return data.value(kind, i, j)

    return [
        call("HGET, present field", "h",
             lambda k, i: ("HGET", k, field(i, i % (data.last("h", i) + 1)))),
        call("HGET, absent field", "h",
             lambda k, i: ("HGET", k, field(i, 3) + b"x")),
        call("HGET, absent key", "h",
             lambda k, i: ("HGET", k + b"x", field(i, 0))),
        call("HMGET", "h", lambda k, i: ("HMGET", k, field(i, 0), field(i, 9))),
        call("HGETALL", "h", lambda k, i: ("HGETALL", k)),
        call("HSCAN", "h", lambda k, i: ("HSCAN", k, "0", "COUNT", "100")),
        call("HRANGEBYLEX, REV", "h",
             lambda k, i: ("HRANGEBYLEX", k, "+", "-", "REV")),
        call("SISMEMBER, present", "s",
             lambda k, i: ("SISMEMBER", k,
                           member("s", i, i % (data.last("s", i) + 1)))),
        call("SISMEMBER, absent", "s",
             lambda k, i: ("SISMEMBER", k, member("s", i, 99))),
        call("SMEMBERS", "s", lambda k, i: ("SMEMBERS", k)),
        call("ZSCORE", "z", lambda k, i: ("ZSCORE", k, member("z", i, 0))),
        call("ZRANGE", "z", lambda k, i: ("ZRANGE", k, "0", "-1")),
        call("ZREVRANGE", "z", lambda k, i: ("ZREVRANGE", k, "0", "-1")),
        call("LINDEX", "l", lambda k, i: ("LINDEX", k, data.last("l", i))),
        call("LRANGE", "l", lambda k, i: ("LRANGE", k, "0", "-1")),
        call("XRANGE, one entry", "x",
             lambda k, i: ("XRANGE", k, "1-1", "1-1")),
        call("XRANGE", "x", lambda k, i: ("XRANGE", k, "-", "+")),
    ]


LUA = ("return {redis.call('HGETALL', KEYS[1]),"
       " redis.call('SMEMBERS', KEYS[2]),"
       " redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]),"
       " redis.call('ZRANGE', KEYS[3], 0, -1), redis.call('HGETALL', KEYS[1])}")


def mixed_commands(data, count):
    """Reads and writes of all kinds. No reply depends on the time."""
    rng = random.Random(SEED + 1)
    reads = [call.make for call in calls_of(data)]
    key, value = data.key, data.value

    def write(i, n):
        j = rng.randint(0, 8)
        return rng.choice((
            ("HSET", key("h", i), data.field("h", i, j), value("h", i, n)),
            ("HDEL", key("h", i), data.field("h", i, j)),
            ("SADD", key("s", i), value("s", i, j)),
            ("SREM", key("s", i), value("s", i, j)),
            ("ZADD", key("z", i), n % 9, value("z", i, j)),
            ("ZREM", key("z", i), value("z", i, j)),
            ("ZPOPMIN", key("z", i)), ("RPUSH", key("l", i), value("l", i, n)),
            ("LPOP", key("l", i)), ("LREM", key("l", i), -1, value("l", i, 1)),
            ("XADD", key("x", i), f"{n + 100}-1", "f", n),
            ("XDEL", key("x", i), "2-1"), ("DEL", key(rng.choice("hszlx"), i)),
        ))

    def scan(i):
        h, s, z, x = (key(kind, i) for kind in "hszx")
        field, member = data.field("h", i, 2), value("z", i, 2)
        return rng.choice((
            ("HRANGEBYLEX", h, "+", "-", "REV"),
            ("HRANGEBYLEX", h, b"[" + field, "-", "REV"),
            ("HRANGEBYLEX", h, b"(" + field, "+", "LIMIT", 0, 2),
            ("ZREVRANGEBYLEX", z, "+", "-"),
            ("ZREVRANGEBYLEX", z, b"[" + member, "-"),
            ("ZRANGEBYLEX", z, "-", b"(" + member),
            ("ZRANGEBYSCORE", z, 1, 3), ("ZREVRANGEBYSCORE", z, 3, 1),
            ("ZRANK", z, member), ("ZREVRANK", z, member), ("HKEYS", h),
            ("HVALS", h), ("SINTER", s, key("s", i + 1)),
            ("SDIFF", s, h + b"x"),
            ("ZSCAN", z, "0", "COUNT", 100), ("SSCAN", s, "0", "COUNT", 100),
            ("XREVRANGE", x, "+", "-"),
            ("XREVRANGE", x, "3-1", "-", "COUNT", 1),
            ("XRANGE", x, "(1-1", "+", "COUNT", 2), ("XLEN", x),
            ("LPOS", key("l", i), value("l", i, 1), "RANK", -1),
            ("EXISTS", h, x), ("TYPE", z), ("HLEN", h),
        ))

    for n in range(count):
        i = rng.randrange(data.count + data.count // 50)  # Some are absent.
        i_there = i % data.count
        kind = rng.random()
        if kind < 0.45:
            yield rng.choice(reads)(i_there)
        elif kind < 0.75:
            yield encode(*scan(i))
        elif kind < 0.93:
            yield encode(*write(i, n))
        elif kind < 0.96:
            yield encode("EVAL", LUA, 3, key("h", i), key("s", i), key("z", i),
                         data.field("h", i, 1), n)
        else:
            yield encode("MULTI")
            yield encode(*write(i, n))
            yield rng.choice(reads)(i_there)
            yield encode(*scan(i))
            yield encode("EXEC")


# ---- Trees ----

class Trees:
    """The directories of each contender's files, by load and runs."""

    def __init__(self, options, data):
        self.options = options
        self.data = data
        self.facts = f"{data.count} {SEED} {SHARES}"
        self.loaded = {}
        self.locks = collections.defaultdict(threading.Lock)
        self.first = {}  # The contender that writes the files of a name.
        for contender in options.contenders:
            self.first.setdefault(contender.files, contender)

    def directory(self, contender, load, runs):
        which = contender.files, load
        with self.locks[which]:
            if which not in self.loaded:
                self.loaded[which] = self._load(self.first[contender.files],
                                                load)
        return self.loaded[which][runs]

    def _load(self, contender, load):
        top = Path(self.options.directory) / contender.files / str(load)
        made = {runs: top / str(runs) for runs in (4, 2, 1)}
        if all((path / "done").exists() for path in made.values()):
            # By a run before, with --directory.
            for path in made.values():
                if (path / "done").read_text(encoding="ascii") != self.facts:
                    raise Failure(f"{path} has other data; give another "
                                  "--directory, or the same --hashes")
            return made
        shutil.rmtree(top, ignore_errors=True)
        base = top / "base"
        base.mkdir(parents=True)
        self._write(contender, base, [0], level_base=1, level_multiplier=1)
        for runs in (4, 2):
            shutil.copytree(base, made[runs])
        self._write(contender, made[4], [1], level_base=1 << 30)
        self._write(contender, made[4], [2])
        self._write(contender, made[4], [3])
        self._write(contender, made[2], [1, 2, 3], level_base=1 << 30)
        shutil.copytree(made[2], made[1])
        with Server(contender, made[1]) as server:
            server.connection.call("COMPACT")
            time.sleep(1)
            server.wait_for_compactions()
        shutil.rmtree(base)
        for path in made.values():
            (path / "done").write_text(self.facts, encoding="ascii")
        return made

    def _write(self, contender, directory, runs, **levels):
        """Loads; the next start makes a file of level 0 of what the log has,
        and with levels compacts it."""
        with Server(contender, directory) as server:
            for run in runs:
                commands = list(self.data.commands(run))
                for reply in server.connection.ask(commands):
                    if reply[:1] == b"-":
                        raise Failure(f"{contender.name}: {reply.decode()}")
        with Server(contender, directory, **levels) as server:
            server.wait_for_compactions()


# ---- Measuring ----

MISSES = ("block_cache_data_miss", "block_cache_filter_miss",
          "block_cache_index_miss")


class Bench:
    def __init__(self, options):
        self.options = options
        self.data = Data(options.hashes)
        self.trees = Trees(options, self.data)
        self.calls = [call for call in calls_of(self.data)
                      if call.name in (options.only or [call.name]) and
                      call.name not in UNCOUNTED]
        self.gets = {call.kind: call.make for call in calls_of(self.data)
                     if call.name == GETS[call.kind]}
        self.replies = {}
        self.compared = 0
        self.differences = 0
        self.lock = threading.Lock()

    def _check(self, contender, which, commands, replies):
        """Compares replies with those of the contender that came first."""
        hashes = [hash(reply) for reply in replies]
        with self.lock:
            first, other = self.replies.setdefault(
                which, (contender.name, hashes))
            if first != contender.name:
                self.compared += len(hashes)
            for command, reply, one, another in zip(commands, replies, hashes,
                                                    other):
                if one != another:
                    self.differences += 1
                    if self.differences <= 20:
                        print(f"{contender.name} differs: {command!r} "
                              f"{reply!r}", file=sys.stderr)

    def measure(self):
        tasks = [(contender, load, runs)
                 for load in range(self.options.loads)
                 for runs in self.options.runs
                 for contender in self.options.contenders]
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            parts = list(pool.map(lambda task: self._measure_tree(*task),
                                  tasks))
        totals = {}
        for part in parts:
            for cell, counts in part:
                total = totals.setdefault(cell, collections.Counter())
                total.update(counts)
        return [self._result(cell, total) for cell, total in totals.items()]

    def _measure_tree(self, contender, load, runs):
        directory = self.trees.directory(contender, load, runs)
        # Contenders that share files may run at the same time.
        copy = Path(tempfile.mkdtemp(dir=self.options.directory))
        shutil.copytree(directory, copy, dirs_exist_ok=True)
        part = []
        for cache in self.options.caches:
            for call in self.calls:
                for state in ("cold", "warm"):
                    # The other counts are the same for each load.
                    if load == 0 or (cache and state == "warm"):
                        cell = (contender.name, runs, cache, call.name, state)
                        part.append((cell, self._count(
                            contender, copy, runs, cache, call, state)))
        shutil.rmtree(copy)
        print(f"{contender.name}, load {load}, {runs} runs", file=sys.stderr)
        return part

    def _count(self, contender, directory, runs, cache, call, state):
        rng = random.Random(SEED + 2)
        keys = [rng.randrange(self.data.count)
                for _ in range(self.options.calls)]
        commands = [call.make(i) for i in keys]
        with Server(contender, directory, cache) as server:
            if state == "warm":
                server.connection.ask([self.gets[call.kind](i) for i in keys])
                server.connection.ask(commands)
            before, read_before = server.info(), server.read_bytes()
            replies = server.connection.ask(commands)
            read = server.read_bytes() - read_before
            after = server.info()
        for reply in replies:
            if reply[:1] == b"-":
                raise Failure(f"{contender.name}, {call.name}: "
                              f"{reply.decode()}")
        self._check(contender, (runs, call.name), commands, replies)
        counts = {name: after[name] - before[name]
                  for name in ("block_cache_data_hit", *MISSES)}
        return {**counts, "bytes": read, "calls": len(commands),
                "cache_bytes": after["block_cache_usage"], "servers": 1}

    @staticmethod
    def _result(cell, total):
        calls = total["calls"]
        return {
            **dict(zip(("contender", "runs", "cache_mib", "call", "state"),
                       cell)),
            "asked": (total["block_cache_data_hit"] +
                      total["block_cache_data_miss"]) / calls,
            "read": sum(total[name] for name in MISSES) / calls,
            **{name: total[name] / calls for name in MISSES},
            "bytes": total["bytes"] / calls,
            "cache_bytes": total["cache_bytes"] / total["servers"],
        }

    def compare(self):
        """Mixed commands on a copy of the files of each contender."""
        commands = list(mixed_commands(self.data, self.options.compared))
        for contender in self.options.contenders:
            directory = self.trees.directory(contender, 0, 4)
            copy = Path(self.options.directory) / "compared"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(directory, copy)
            with Server(contender, copy, self.options.caches[-1]) as server:
                replies = server.connection.ask(commands)
            self._check(contender, "mixed", commands, replies)
            print(f"{contender.name}: {len(commands)} mixed commands",
                  file=sys.stderr)
        shutil.rmtree(copy)


# ---- Output ----

def by_cell(results):
    return {(r["contender"], r["runs"], r["cache_mib"], r["call"],
             r["state"]): r for r in results}


def print_tables(options, results):
    names = [contender.name for contender in options.contenders]
    cells = by_cell(results)
    calls = list(dict.fromkeys(r["call"] for r in results))

    def table(title, quantity, cache, state, form):
        print(f"\n{title}\n\n| call | runs | {' | '.join(names)} |")
        print("|---|---|" + "---|" * len(names))
        for call in calls:
            for at, runs in enumerate(options.runs):
                numbers = [form(cells[name, runs, cache, call, state][quantity])
                           for name in names]
                print(f"| {'' if at else call} | {runs} | "
                      f"{' | '.join(numbers)} |")

    table("Data blocks asked for by a call", "asked", options.caches[-1],
          "warm", "{:.3f}".format)
    for cache in options.caches:
        for state in ("cold", "warm"):
            label = f"a cache of {cache} MiB" if cache else "Kvrocks' cache"
            table(f"Blocks read from files by a call, {state}, {label}", "read",
                  cache, state, "{:.3f}".format)
            if state == "cold":
                table(f"KB read by a call, {state}, {label}", "bytes", cache,
                      state, lambda n: f"{n / 1000:.1f}")


def dearer(options, results):
    """Cells in which a contender reads more than 2% more than the first."""
    cells = by_cell(results)
    first = options.contenders[0].name
    for r in results:
        other = cells[first, r["runs"], r["cache_mib"], r["call"], r["state"]]
        # Less than a block in 200 calls is not counted.
        if r["read"] > max(other["read"] * 1.02, other["read"] + 0.005):
            yield r, other


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("contenders", nargs="+", type=Contender, metavar="NAME=COMMAND")
    add("--hashes", type=int, default=100000,
        help="and as many keys of the other kinds (default %(default)s)")
    add("--calls", type=int, default=4000, help="default %(default)s")
    add("--caches", type=lambda text: [int(n) for n in text.split(",")],
        default=[0, 16], metavar="MIB,...",
        help="block caches, 0 for Kvrocks' default of 4 GiB (default 0,16)")
    add("--runs", type=lambda text: [int(n) for n in text.split(",")],
        default=[4, 2, 1], metavar="RUNS,...", help="default 4,2,1")
    add("--only", action="append", metavar="CALL",
        help="count only this call; may be repeated")
    add("--loads", type=int, default=3, help="default %(default)s")
    add("--jobs", type=int, default=1, help="servers at a time")
    add("--compared", type=int, default=200000,
        help="mixed commands of each contender (default %(default)s)")
    add("--directory", help="keep the files there, and take those that are "
        "there already")
    add("--json", metavar="FILE")
    return parser.parse_args()


def machine():
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    cpu = re.search(r"model name\s*: (.*)", text)
    commit = subprocess.run(
        ["git", "-C", Path(__file__).parent, "describe", "--always", "--dirty"],
        stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    arguments = [re.sub(r"^(\w[\w+]*)=.*", r"\1=...", word, flags=re.S)
                 for word in sys.argv[1:]]
    return {"cpu": cpu[1] if cpu else "unknown", "cores": os.cpu_count(),
            "os": f"{platform.system()} {platform.release()}",
            "commit": commit or "unknown",
            "command": " ".join(["kvrocks_server.py", *arguments])}


def measure(options):
    bench = Bench(options)
    results = bench.measure()
    if options.compared:
        bench.compare()
    print_tables(options, results)
    print()
    for r, other in dearer(options, results):
        print(f"dearer: {r['contender']}, {r['call']}, {r['runs']} runs, "
              f"{r['cache_mib']} MiB, {r['state']}: {r['read']:.4f} instead of "
              f"{other['read']:.4f}")
    print(f"\n{bench.compared} replies compared, {bench.differences} differ")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"format_version": 1, "machine": machine(),
                       "keys": options.hashes, "calls": options.calls,
                       "loads": options.loads, "compared": bench.compared,
                       "differences": bench.differences, "runs": results},
                      file)
    return 1 if bench.differences else 0


def main():
    options = parse()
    try:
        if options.directory:
            return measure(options)
        with tempfile.TemporaryDirectory() as directory:
            options.directory = directory
            return measure(options)
    except Failure as failure:
        print(f"kvrocks_server.py: {failure}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
