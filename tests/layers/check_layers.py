#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the sources to the layer table of docs/architecture.md.

    check_layers.py [--picture] ROOT

Reads the #includes of every source file below ROOT and reports each one that
the table does not grant, rooms of src/ that include each other in a circle,
then the small rules that every file keeps: the SPDX line, include guards named
after the path, 80 columns, braces around a body on a line of its own, the
namespace of a private header, and comments whose sentences have a subject. Exit
code 0 when nothing is wrong, 1 with one line for each problem. With --picture
it prints the arrows among the rooms of src/, where a public header counts as
its room's, and how many floors they make.
"""

import re
import sys
from pathlib import Path

TABLE_HEADER = "| room | may include | public headers | libraries |"
# tests/ may look anywhere.
CODE_ROOTS = ("include", "src", "hosts", "rocksdb_plugin", "tools", "examples",
              "bench", "tests")
# The directories in which an #include is looked up, beside that of its file
# and the include/ of each library.
INCLUDE_DIRS = ("rocksdb_plugin", "src", "hosts", "tests", "")
PUBLIC = re.compile(r"(?:(hosts/\w+|rocksdb_plugin)/)?include/rowbloom/(.+)")

INCLUDE = re.compile(r'\s*#\s*include\s*(<([^>]+)>|"([^"]+)")')
# <vector>, <cstdint>; the C and POSIX headers in use; intrinsics.
SYSTEM = re.compile(
    r"[a-z_0-9]+|(std[a-z]+|dirent|dlfcn|errno|fcntl|glob|io|link|malloc|poll"
    r"|pthread|signal|string|time|unistd|(sys|linux)/[a-z]+|cpuid|arm_neon"
    r"|[a-z]*intrin|windows)\.h")
KERNEL_SOURCE = re.compile(r".*_(portable|sse42|avx2|avx512|neon)\.cc")
KERNEL_HEADER = re.compile(
    r"(.*_(kernel|lookup|solver)|gf2_lanes|filter_state|compiler|export)\.h")

SPDX = "SPDX-License-Identifier: Apache-2.0"
SPDX_NAMES = re.compile(
    r".*\.(h|cc|py|sh|cmake|cmake\.in|pc\.in)|CMakeLists\.txt")
MAX_COLUMNS = 80
# Private names of these folders are in rowbloom:: and the folder's name, those
# of rocksdb_plugin in rowbloom::plugin. The two files say why they are not.
NAMESPACED = ("src", "hosts", "rocksdb_plugin")
NAMESPACE = re.compile(r"namespace (?:ROWBLOOM_EXPORT )?(rowbloom\S*) *{?$")
IN_ROWBLOOM = ("rocksdb_plugin/rdb.h", "hosts/hfile/hfile_reader_impl.h")
# The head of a body, and literals, in which brackets do not count.
HEAD = re.compile(r"(\} )?(else )?(if|for|while) \(|(\} )?else$")
LITERAL = re.compile(r"""\"(\\.|[^"\\])*\"|'(\\.|[^'\\])'""")
# A sentence that begins so and is no question has usually lost its subject.
HEADLESS = re.compile(
    r"(?:^|[.:;] )(?:Of|What|Whatever|Whether|Those|Which)\b[^.?]*(?:[.]|$)")


class Room:
    def __init__(self, grants, public_headers, libraries):
        self.grants = {grant for grant in grants if not grant.endswith(".h")}
        self.lent = grants - self.grants
        self.public_headers = public_headers
        self.libraries = libraries


def read_table(path):
    """The rooms of the one table under TABLE_HEADER, by name."""
    rooms = {}
    lines = iter(path.read_text().splitlines())
    for line in lines:
        if line.replace("`", "") == TABLE_HEADER:
            next(lines)
            break
    for line in lines:
        if not line.startswith("|"):
            break
        cells = line.replace("`", "").strip("|").split("|")
        name, *lists = [cell.split() for cell in cells]
        rooms[name[0]] = Room(*[set(cell) - {"-"} for cell in lists])
    if not rooms:
        raise SystemExit(f"{path}: no table under '{TABLE_HEADER}'")
    for name, room in rooms.items():
        for grant in room.grants - rooms.keys() - {"public"}:
            raise SystemExit(f"{path}: {name} may include unknown '{grant}'")
    return rooms


def closure(rooms, name):
    """What `name` may include: itself, util, its grants and their grants."""
    reached, todo = set(), [name, "util"]
    while todo:
        room = todo.pop()
        if room not in reached and room in rooms:
            reached.add(room)
            todo += rooms[room].grants
    return reached


class Checker:
    def __init__(self, root):
        self.root = root
        self.rooms = read_table(root / "docs/architecture.md")
        self.owners = {header: name for name, room in self.rooms.items()
                       for header in room.public_headers}
        self.include_dirs = [
            path.relative_to(root) for pattern in (
                "include", "hosts/*/include", "rocksdb_plugin/include")
            for path in sorted(root.glob(pattern))
        ] + list(map(Path, INCLUDE_DIRS))
        self.guards = {}
        # The rooms that each room of src/ includes.
        self.arrows = {}
        self.problems = []

    def report(self, path, line, text):
        self.problems.append(f"{path}:{line}: {text}")

    def files(self):
        """The project's files, relative to its root, without build trees."""
        for top in sorted(self.root.iterdir()):
            if top.name.startswith("build") or top.name == ".git":
                continue
            for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
                if path.is_file():
                    yield path.relative_to(self.root)

    def room_of(self, path):
        """The table's name for the room that holds `path`; None in tests/."""
        public = PUBLIC.fullmatch(path.as_posix())
        if public and not public[1]:
            owner = self.owners.get(public[2])
            if owner is None:
                self.report(path, 1, "public header missing from the table")
            return owner
        if path.parts[0] == "src":
            return path.parts[1]
        if path.parts[0] == "hosts":
            return "/".join(path.parts[:2])
        return None if path.parts[0] == "tests" else path.parts[0]

    def resolve(self, path, target):
        """The project file that an #include names, or None."""
        for base in (path.parent, *self.include_dirs):
            if (self.root / base / target).is_file():
                return base / target
        return None

    def check_includes(self, path, lines):
        room = self.room_of(path)
        if room is None:
            return
        if room not in self.rooms:
            self.report(path, 1, f"room '{room}' is not in the table")
            return
        if path.parts[0] in ("include", "src"):
            self.arrows.setdefault(room, set())
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            problem = self.include_problem(path, room, match[2], match[3])
            if problem:
                self.report(path, number, problem)

    def include_problem(self, path, room, angled, quoted):
        target = self.resolve(path, angled or quoted)
        is_system = bool(angled and SYSTEM.fullmatch(angled))
        if (KERNEL_SOURCE.fullmatch(path.name)
                or KERNEL_HEADER.fullmatch(path.name)):
            # C headers have no inline functions, C++ headers do.
            leaf = (KERNEL_HEADER.fullmatch(target.name) if target
                    else is_system and angled.endswith(".h"))
            return None if leaf else (
                "a kernel includes only kernel headers, intrinsics and C "
                "headers")
        if is_system:
            return None
        if target is None:
            library = re.split(r"[/.]", angled or quoted)[0]
            if library in self.rooms[room].libraries:
                return None
            return f"'{library}' is not among the libraries of {room}"
        return self.arrow_problem(path, room, target)

    def arrow_problem(self, path, room, target):
        is_public = PUBLIC.fullmatch(target.as_posix())
        if PUBLIC.fullmatch(path.as_posix()) and not is_public:
            return "a public header includes only public headers"
        target_room = self.room_of(target)
        grants = self.rooms[room].grants
        if target_room == room or target.as_posix() in self.rooms[room].lent:
            return None
        is_library = path.parts[0] in ("include", "src", "hosts")
        if not is_public and not is_library:
            return f"{room} sees only public headers, not {target}"
        if is_public and not is_public[1] and "public" in grants:
            return None
        if target_room in closure(self.rooms, room):
            if room in self.arrows:
                self.arrows[room].add(target_room)
            return None
        return f"{room} may not include {target_room or 'tests'}"

    def floors(self):
        """The rooms of src/ from the lowest floor up; then those in circles."""
        below, floors = set(), []
        while True:
            floor = sorted(room for room, arrows in self.arrows.items()
                           if room not in below and arrows <= below)
            if not floor:
                return floors, sorted(self.arrows.keys() - below)
            floors.append(floor)
            below.update(floor)

    def picture(self):
        floors, circle = self.floors()
        lines = [f"{room:7} -> {' '.join(sorted(arrows))}"
                 for room, arrows in sorted(self.arrows.items()) if arrows]
        count = sum(map(len, self.arrows.values()))
        back = sum(len(self.arrows[room] & set(circle)) for room in circle)
        return "\n".join(lines + [
            f"{len(self.arrows)} rooms, {count} arrows, {len(floors)} floors, "
            f"{back} arrows back"])

    def check_guard(self, path, lines):
        public = PUBLIC.fullmatch(path.as_posix())
        inside = public[2] if public else re.sub(
            r"^(src|hosts)/", "", path.as_posix())
        guard = "ROWBLOOM_" + re.sub(r"[/.]", "_", inside).upper() + "_"
        directives = [line for line in lines if line.startswith("#")]
        if directives[:2] != [f"#ifndef {guard}", f"#define {guard}"]:
            self.report(path, 1, f"the include guard is not {guard}")
        other = self.guards.setdefault(guard, path)
        if other != path:
            self.report(path, 1, f"{other} has the same include guard")

    def check_namespace(self, path, lines):
        if path.parts[0] == "include":
            for number, line in enumerate(lines, 1):
                opened = NAMESPACE.match(line)
                if opened and opened[1].split("::")[1:2] not in ([],
                                                                 ["internal"]):
                    self.report(path, number, "a user's name may be the same: "
                                "declare it in rowbloom::internal")
        if (path.parts[0] not in NAMESPACED or PUBLIC.fullmatch(path.as_posix())
                or path.as_posix() in IN_ROWBLOOM):
            return
        room = ("plugin" if path.parts[0] == "rocksdb_plugin"
                else path.parts[1])
        for number, line in enumerate(lines, 1):
            opened = NAMESPACE.match(line)
            if not opened:
                continue
            # `internal` is for rooms that a public header names.
            names = opened[1].split("::")
            if names[1:2] == ["internal"]:
                del names[1]
            if names[:2] != ["rowbloom", room]:
                self.report(path, number,
                            f"private names belong in rowbloom::{room}")

    def check_columns(self, path, lines):
        for number, line in enumerate(lines, 1):
            breakable = "://" not in line and not INCLUDE.match(line)
            if len(line) > MAX_COLUMNS and breakable:
                self.report(path, number, f"more than {MAX_COLUMNS} columns")

    def check_braces(self, path, lines):
        depth, is_head = 0, False
        for number, line in enumerate(lines):
            code = LITERAL.sub("", line).split("//")[0].strip()
            if not is_head:
                depth, is_head = 0, bool(HEAD.match(code))
                if not is_head:
                    continue
            depth += code.count("(") - code.count(")")
            if depth > 0:
                continue
            is_head = False
            body = lines[number + 1:number + 2] or [""]
            if (code.endswith((")", "else"))
                    and body[0].strip() not in ("", "{")):
                self.report(path, number + 2, "a body without braces")

    def check_comments(self, path, lines):
        mark = "//" if path.suffix in (".h", ".cc") else "#"
        paragraph, first = [], 0
        for number, line in enumerate(lines + [""], 1):
            text = line.strip()
            words = text[len(mark):].strip()
            if text.startswith(mark) and words and SPDX not in words:
                first = first or number
                paragraph.append(words)
                continue
            trailing = text.rpartition(f" {mark} ")
            found = [(first, " ".join(paragraph)),
                     (number, trailing[2] if trailing[1] else "")]
            for place, comment in found:
                headless = HEADLESS.search(comment)
                if headless:
                    self.report(path, place, "a sentence has no subject: "
                                f"\"{headless[0].strip('.: ')}\"")
            paragraph, first = [], 0

    def check_spdx(self, path, lines):
        first = 1 if lines and lines[0].startswith("#!") else 0
        if SPDX not in "".join(lines[first:first + 1]):
            self.report(path, first + 1, f"the first line is not '{SPDX}'")

    def run(self):
        for path in self.files():
            if not SPDX_NAMES.fullmatch(path.name):
                continue
            lines = (self.root / path).read_text().splitlines()
            self.check_spdx(path, lines)
            self.check_columns(path, lines)
            self.check_comments(path, lines)
            if path.parts[0] not in CODE_ROOTS:
                continue
            if path.suffix in (".h", ".cc"):
                self.check_includes(path, lines)
                self.check_braces(path, lines)
            if path.suffix == ".h":
                self.check_guard(path, lines)
                self.check_namespace(path, lines)
        circle = self.floors()[1]
        if circle:
            self.report("docs/architecture.md", 1,
                        f"rooms in a circle: {' '.join(circle)}")
        for header in self.owners:
            if not (self.root / "include/rowbloom" / header).is_file():
                self.report("docs/architecture.md", 1,
                            f"{header} is in the table but not in the tree")
        return self.problems


def main(argv):
    if len(argv) not in (2, 3) or argv[1:-1] not in ([], ["--picture"]):
        print(__doc__, file=sys.stderr)
        return 2
    checker = Checker(Path(argv[-1]).resolve())
    problems = checker.run()
    if len(argv) == 3:
        print(checker.picture())
    else:
        print("\n".join(problems) or "layers: nothing wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
