#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The C++ API of a source tree: each public declaration in one line.

    declarations.py ROOT    prints them

clang reads all public headers as one source; its module is of Debian's
python3-clang-14. Listed is what programs can use or override:
macros, and in namespace rowbloom, except rowbloom::internal, namespaces,
classes with their bases and template parameters, functions, variables, fields,
enumerators, and once more what is deprecated. Names of parameters, and values
of variables and fields, are left out: they may change.
"""

import re
import sys
from bisect import bisect_left
from pathlib import Path

from clang.cindex import (AccessSpecifier, AvailabilityKind, CursorKind, File,
                          Index, SourceLocation, SourceRange, TokenKind)

FOLDERS = ("include", "rocksdb_plugin/include", "hosts/*/include")
# One is in C, the others are of no use by themselves.
NO_API = ("c.h", "compiler.h", "filter_state.h")
CLASSES = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL,
           CursorKind.CLASS_TEMPLATE,
           CursorKind.CLASS_TEMPLATE_PARTIAL_SPECIALIZATION}
WITHOUT_RESULT = {CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
                  CursorKind.CONVERSION_FUNCTION}
FUNCTIONS = WITHOUT_RESULT | {CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD,
                              CursorKind.FUNCTION_TEMPLATE}
TEMPLATE_PARAMETERS = {CursorKind.TEMPLATE_TYPE_PARAMETER,
                       CursorKind.TEMPLATE_NON_TYPE_PARAMETER,
                       CursorKind.TEMPLATE_TEMPLATE_PARAMETER}


def headers(root):
    """Pairs of a public header's path and the name that programs include."""
    for pattern in FOLDERS:
        for folder in sorted(root.glob(pattern)):
            for path in sorted(folder.rglob("*.h")):
                if path.name not in NO_API:
                    yield path, str(path.relative_to(folder))


def macros(text):
    """The names of the macros that a header defines, without its guard."""
    return [name for name in re.findall(r"^# *define (\w+)", text, re.M)
            if not name.endswith("_H_")]


def joined(tokens):
    text = re.sub(r" ?(::|[<(\[]) ?", r"\1", " ".join(tokens))
    return re.sub(r" ([>,)\].&*])", r"\1", text)


class Declarations:
    """The declarations of one translation unit in the files `paths`."""

    def __init__(self, unit, paths):
        self._unit = unit
        self._tokens = {path: self._tokens_of(path) for path in paths}

    def lines(self):
        for child in self._unit.cursor.get_children():
            if (child.kind, child.spelling) == (CursorKind.NAMESPACE,
                                                "rowbloom"):
                yield from self._inside(child, "")

    # A cursor that begins with a macro gives no tokens by itself.
    def _tokens_of(self, path):
        file = File.from_name(self._unit, path)
        ends = (SourceLocation.from_offset(self._unit, file, offset)
                for offset in (0, Path(path).stat().st_size))
        return [(token.extent.start.offset, token.spelling)
                for token in self._unit.get_tokens(
                    extent=SourceRange.from_locations(*ends))
                if token.kind != TokenKind.COMMENT]

    def _between(self, cursor, begin, end):
        tokens = self._tokens[str(cursor.location.file)]
        first, last = (bisect_left(tokens, (at, "")) for at in (begin, end))
        return [spelling for _, spelling in tokens[first:last]]

    def _words(self, cursor):
        return self._between(cursor, cursor.extent.start.offset,
                             cursor.extent.end.offset)

    def _template(self, cursor):
        parameters = [joined(self._words(child))
                      for child in cursor.get_children()
                      if child.kind in TEMPLATE_PARAMETERS]
        return f"template <{', '.join(parameters)}> " if parameters else ""

    def _around(self, function):
        """Its tokens before its name, and those from the end of its parameters
        to its initializers or its body."""
        end = function.extent.end.offset
        for child in function.get_children():
            if child.kind == CursorKind.COMPOUND_STMT:
                end = child.extent.start.offset
        name = function.location.offset
        before = self._between(function, function.extent.start.offset, name)
        behind = self._between(function, name, end)
        at = behind.index("(", 3 if function.spelling == "operator()" else 0)
        depth = 0
        while True:
            depth += {"(": 1, ")": -1}.get(behind[at], 0)
            at += 1
            if depth == 0:
                break
        behind = behind[at:]
        return before, behind[:behind.index(":")] if ":" in behind else behind

    def _parameter(self, cursor):
        words = self._words(cursor)
        if "=" not in words:
            return cursor.type.spelling
        return f"{cursor.type.spelling} = " + joined(
            words[words.index("=") + 1:])

    def _function(self, cursor, name):
        before, behind = self._around(cursor)
        parts = [word for word in ("explicit", "static", "virtual", "constexpr")
                 if word in before]
        if cursor.kind not in WITHOUT_RESULT:
            parts.append(cursor.type.get_result().spelling)
        parameters = [self._parameter(child) for child in cursor.get_children()
                      if child.kind == CursorKind.PARM_DECL]
        if cursor.type.is_function_variadic():
            parameters.append("...")
        parts.append(f"{name}({', '.join(parameters)})")
        return self._template(cursor) + " ".join(parts + behind)

    def _is_private(self, cursor):
        if cursor.access_specifier != AccessSpecifier.PRIVATE:
            return False
        can_be_overridden = (cursor.kind == CursorKind.CXX_METHOD and
                             cursor.is_virtual_method() and
                             "override" not in self._around(cursor)[1])
        return not can_be_overridden

    def _class(self, cursor, scope):
        words = self._words(cursor)
        final = " final" if "final" in words[:words.index("{")] else ""
        bases = [joined(self._words(base)) for base in cursor.get_children()
                 if base.kind == CursorKind.CXX_BASE_SPECIFIER]
        return (f"{self._template(cursor)}class {scope}{cursor.displayname}"
                f"{final}{' : ' if bases else ''}{', '.join(bases)}")

    def _inside(self, parent, scope):
        for child in parent.get_children():
            if (str(child.location.file) not in self._tokens or
                    self._is_private(child)):
                continue
            for line in self._one(child, scope, scope + child.spelling):
                line = re.sub(r"\browbloom::", "", line)
                yield line
                if child.availability == AvailabilityKind.DEPRECATED:
                    yield f"deprecated {line}"

    def _one(self, cursor, scope, name):
        kind = cursor.kind
        if kind == CursorKind.NAMESPACE:
            if cursor.spelling != "internal":
                yield f"namespace {name}"
                yield from self._inside(cursor, f"{name}::")
        elif kind in CLASSES:
            # Others are declared ahead, or instantiate a template.
            if "{" in self._words(cursor):
                yield self._class(cursor, scope)
                yield from self._inside(cursor, f"{name}::")
        elif kind == CursorKind.ENUM_DECL:
            yield f"enum {name} : {cursor.enum_type.spelling}"
            for value in cursor.get_children():
                if value.kind == CursorKind.ENUM_CONSTANT_DECL:
                    yield f"{name}::{value.spelling} = {value.enum_value}"
        elif kind in FUNCTIONS:
            yield self._function(cursor, name)
        elif kind in (CursorKind.TYPE_ALIAS_DECL, CursorKind.TYPEDEF_DECL):
            yield f"using {name} = {cursor.underlying_typedef_type.spelling}"
        elif kind == CursorKind.FIELD_DECL:
            yield f"field {cursor.type.spelling} {name}"
        elif kind == CursorKind.VAR_DECL:
            yield f"variable {cursor.type.spelling} {name}"
        elif kind == CursorKind.FRIEND_DECL:
            for friend in cursor.get_children():
                if friend.kind in FUNCTIONS:
                    yield "friend " + self._function(friend, friend.spelling)
        elif kind in (CursorKind.USING_DECLARATION,
                      CursorKind.TYPE_ALIAS_TEMPLATE_DECL):
            yield f"{joined(self._words(cursor))} in {scope}"


def declarations(root):
    """The lines of the tree at `root`, in the order of its headers."""
    found = list(headers(Path(root)))
    source = "".join(f'#include "{name}"\n' for _, name in found)
    folders = sorted({str(path)[:-len(name)] for path, name in found})
    unit = Index.create().parse(
        "api.cc", args=["-std=c++17", *(f"-I{folder}" for folder in folders)],
        unsaved_files=[("api.cc", source)])
    errors = [str(problem) for problem in unit.diagnostics
              if problem.severity >= problem.Error]
    if errors:
        raise ValueError("\n".join(errors))
    lines = [f"macro {name}" for path, _ in found
             for name in macros(path.read_text())]
    lines += Declarations(unit, [str(path) for path, _ in found]).lines()
    return list(dict.fromkeys(lines))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print("\n".join(declarations(sys.argv[1])))
