"""Prints the relations in a SCIP index, one per line, for `cargo xtask bench graph`.

usage: scip_edges.py INDEX.scip ROOT > edges.tsv

The output has these lines; line numbers start at 1:

    file PATH                            an indexed file
    call PATH LINE PATH LINE NAME        a reference that is followed by arguments, or that follows `new` or `@`
    base PATH LINE PATH LINE NAME        a type in the header of another type
    functions                            calls of constructors look like patterns, so only calls of functions are to be compared

The format of the index is defined in https://github.com/sourcegraph/scip/blob/main/scip.proto.
"""

import pathlib
import re
import sys

DEFINITION = 1
CALL = re.compile(r"\s*(?:::)?(<[\w\s,.\[\]|<>{}:'\"&]*>)?\s*(\?\.)?[(`]")
HEADER = re.compile(r"\b(class|interface)\s+\w+([^{};]*\b(extends|implements)\b[^{};]*|\s*\([^()=]*)$")
MARK = re.compile(r"(\bnew\s+([\w.]+\.)?|@([\w.]+\.)?)$")


def main():
    index = pathlib.Path(sys.argv[1]).read_bytes()
    root = pathlib.Path(sys.argv[2])
    documents = [document(part) for number, part in fields(index) if number == 2]
    definitions = {}
    # In Rust, patterns look like calls of tuple constructors.
    if any(symbol.startswith("rust-analyzer ") for _, occurrences in documents[:1] for _, _, _, symbol, _ in occurrences):
        print("functions")
    for path, occurrences in documents:
        for line, _, _, symbol, roles in occurrences:
            if roles & DEFINITION and not symbol.startswith("local "):
                definitions.setdefault(symbol, (path, line))
    for path, occurrences in documents:
        print("file", path, sep="\t")
        text = (root / path).read_text(errors="replace").split("\n")
        for line, start, end, symbol, roles in occurrences:
            if roles & DEFINITION or symbol not in definitions:
                continue
            source = text[line] if line < len(text) else ""
            rest = source[end:] + "\n" + "\n".join(text[line + 1 : line + 3])
            header = HEADER.search(" ".join(text[max(0, line - 4) : line] + [source[:start]]))
            if symbol.endswith("#") and header and not any(depth(header.group(), pair) for pair in ("<>", "[]")):
                print("base", path, line + 1, *place(definitions[symbol]), name_of(symbol), sep="\t")
            elif symbol.endswith("!") or CALL.match(rest) or MARK.search(source[:start]):
                print("call", path, line + 1, *place(definitions[symbol]), name_of(symbol), sep="\t")


def depth(text, pair):
    return text.count(pair[0]) - text.count(pair[1])


def place(definition):
    path, line = definition
    return path, line + 1


def name_of(symbol):
    # Symbols of rust-analyzer have the form impl#[`Type<T>`][Trait]method().
    symbol = re.sub(r"\[(`[^`]*`|[^\]]*)\]", "", symbol.rstrip("#.!").removesuffix("()"))
    name = re.split(r"[/#.]", symbol)[-1].strip("`")
    return "" if name.startswith("<") else re.sub(r"\(.*$", "", name)


def document(part):
    path, occurrences = "", []
    for number, value in fields(part):
        if number == 1:
            path = value.decode()
        elif number == 2:
            occurrences.append(occurrence(value))
    return path, occurrences


def occurrence(part):
    place, symbol, roles = [], "", 0
    for number, value in fields(part):
        if number == 1:
            place = list(packed(value)) if isinstance(value, bytes) else place + [value]
        elif number == 2:
            symbol = value.decode()
        elif number == 3:
            roles = value
    end = place[2] if len(place) == 3 else place[3]
    return place[0], place[1], end, symbol, roles


def fields(data):
    """Yields the fields of a protocol buffers message: number and value."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            size = 8 if tag & 7 == 1 else 4
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


def packed(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


main()
