"""Prints the relations that libclang finds, one per line, for `cargo xtask bench graph`.

usage: clang_edges.py ROOT [FLAG...] > edges.tsv

Needs the package `libclang`. Uses `compile_commands.json` in ROOT if it exists, or otherwise reads every C and C++ source below ROOT
with the given flags. Prints:

    file PATH                         for every file that was compiled without errors
    call PATH LINE PATH LINE NAME     for every call of a function, method, constructor or function-like macro
    base PATH LINE PATH LINE NAME     for every base class

A call is printed if it contains the name of its target, and if the definition of the target is below ROOT, or the declaration if there
is no definition. Line numbers start at 1.
"""

import functools
import json
import os
import pathlib
import re
import shlex
import sys

from clang.cindex import CursorKind, Index, TranslationUnit

SOURCES = {".c", ".cc", ".cpp", ".cxx"}
FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.DESTRUCTOR,
    CursorKind.CONVERSION_FUNCTION,
    CursorKind.FUNCTION_TEMPLATE,
}
TYPES = {CursorKind.CLASS_DECL, CursorKind.STRUCT_DECL, CursorKind.CLASS_TEMPLATE}


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    edges = Edges(root)
    for source, flags, directory in units(root, sys.argv[2:]):
        os.chdir(directory)
        unit = Index.create().parse(source, flags, options=TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        errors = [str(problem) for problem in unit.diagnostics if problem.severity >= 3]
        if errors:
            print(f"{source}: {len(errors)} errors, {errors[0]}", file=sys.stderr)
        edges.read(unit.cursor, is_complete=not errors)
    edges.write()


def is_written(node, target):
    """Whether the text of a call contains the name of its target, unlike operators, conversions, constructors of variables and calls
    inside macros."""
    if target.kind not in FUNCTIONS or target.spelling.startswith("operator"):
        return False
    name = target.spelling.split("<")[0]
    if target.kind == CursorKind.CONSTRUCTOR:
        text = re.split(r"[({]", text_of(node.extent))[0]
    else:
        callee = next(iter(node.get_children()), None)
        text = text_of(callee.extent) if callee is not None else ""
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


@functools.lru_cache(maxsize=64)
def bytes_of(path):
    return pathlib.Path(path).read_bytes()


def text_of(extent):
    if extent.start.file is None or extent.end.file is None or extent.start.file.name != extent.end.file.name:
        return ""
    return bytes_of(extent.start.file.name)[extent.start.offset : extent.end.offset].decode(errors="replace")


def is_macro_call(node):
    """Whether a macro is used with arguments."""
    end = node.extent.end
    return node.referenced is not None and end.file is not None and bytes_of(end.file.name)[end.offset - 1 : end.offset] == b")"


def units(root, flags):
    database = root / "compile_commands.json"
    if not database.exists():
        for source in sorted(root.rglob("*")):
            if source.suffix in SOURCES:
                yield str(source), flags, root
        return
    for command in json.loads(database.read_text()):
        arguments = command.get("arguments") or shlex.split(command["command"])
        kept = [one for one in arguments[1:] if one not in ("-c", command["file"])]
        if "-o" in kept:
            at = kept.index("-o")
            del kept[at : at + 2]
        yield command["file"], kept + flags, command["directory"]


class Edges:
    """Uses and locations of functions. They are matched at the end, because a definition may be in a unit that is read later."""

    def __init__(self, root):
        self.root, self.files, self.broken, self.uses = root, set(), set(), set()
        self.declared, self.defined = {}, {}

    def read(self, cursor, is_complete):
        # Not recursive, because a source file can make the tree arbitrarily deep.
        left = list(cursor.get_children())
        while left:
            node = left.pop()
            place = self.place(node)
            if place is None and node.location.file is not None:
                continue
            if place is not None:
                (self.files if is_complete else self.broken).add(place[0])
                self.note(node, place)
            left.extend(node.get_children())

    def note(self, node, place):
        if node.kind in FUNCTIONS | TYPES:
            places = self.defined if node.is_definition() else self.declared
            places.setdefault(node.get_usr(), place)
        target = node.referenced
        if node.kind == CursorKind.MACRO_INSTANTIATION and is_macro_call(node):
            self.use("call", place, target)
        elif node.kind == CursorKind.CALL_EXPR and target is not None and is_written(node, target):
            self.use("call", place, target)
        elif node.kind == CursorKind.CXX_BASE_SPECIFIER and node.type.get_declaration() is not None:
            self.use("base", place, node.type.get_declaration())

    def use(self, kind, place, target):
        template = target.specialized_template if hasattr(target, "specialized_template") else None
        for other in (target, template):
            if other is not None and self.place(other) is not None:
                is_definition = other.kind == CursorKind.MACRO_DEFINITION or other.is_definition()
                places = self.defined if is_definition else self.declared
                places.setdefault(other.get_usr(), self.place(other))
                self.uses.add((kind, place, other.get_usr(), other.spelling))
                return

    def place(self, node):
        """Returns the path below the root and the line. The location of code from a macro is where the macro is used."""
        location = node.location
        if location.file is None:
            return None
        path = pathlib.Path(location.file.name)
        path = (pathlib.Path.cwd() / path).resolve()
        return (str(path.relative_to(self.root)), location.line) if path.is_relative_to(self.root) else None

    def write(self):
        for path in sorted(self.files - self.broken):
            print("file", path, sep="\t")
        for kind, (path, line), usr, name in sorted(self.uses):
            target = self.defined.get(usr) or self.declared.get(usr)
            if target is not None:
                print(kind, path, line, *target, name.split("<")[0], sep="\t")


main()
