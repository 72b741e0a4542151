"""Compares the definitions that Universal Ctags finds in directories with the definitions in chunks.

usage: ctags.py --aur PROGRAM [--ctags PROGRAM] [--list] DIR...

Prints a line for each directory: the number of names that Universal Ctags finds, the number of missed names, and their share in percent. A
name is missed if no chunk of the same file has the name. --list also prints each missed name, with its location, language and kind
according to Universal Ctags. Counts functions, types, macros, and constants outside functions, each name once per file. Needs Universal
Ctags with JSON output.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

# Long names of kinds in Universal Ctags.
KINDS = frozenset(
    "alias annotation class constant const define enum enumerator func function getter interface macro method object protocol setter"
    " singletonMethod struct structure subroutine trait type typealias typedef union".split()
)
# Kinds of tags that are not definitions in a language, but names bound by imports.
OTHER_KINDS = {("PHP", "alias"), ("C#", "typedef")}
# Kinds whose tags may be local although Universal Ctags gives no scope.
CONSTANTS = frozenset(["constant", "const"])
FUNCTIONS = frozenset("func function getter macro method object setter singletonMethod subroutine".split())
LANGUAGES = "C,C++,C#,Go,Java,JavaScript,Lua,ObjectiveC,Perl,PHP,PowerShell,Protobuf,Python,R,Ruby,Rust,Sh,TypeScript"
# Words that Universal Ctags sometimes mistakes for names.
KEYWORDS = frozenset(
    "as base catch class const default else export extends for function if import in interface new of return super switch this throw try"
    " type typeof var where while".split()
)
IDENTIFIER = re.compile(r"[\w$?!=~]+|operator\W.*")
# Number of files per run, because the length of a command line is limited.
FILES_PER_RUN = 200


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--aur", required=True, help="the program")
    parser.add_argument("--ctags", default="ctags", help="Universal Ctags")
    parser.add_argument("--list", action="store_true", help="print the names that are missed")
    parser.add_argument("directories", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    print("directory", "names", "missed", "percent", sep="\t")
    for directory in arguments.directories:
        expected = tags(arguments.ctags, directory)
        known = chunk_names(arguments.aur, directory, sorted(expected))
        missed = []
        total = 0
        for path in sorted(known):
            for name, tag in sorted(expected[path].items()):
                total += 1
                if name not in known[path]:
                    missed.append((path, tag))
        print(directory, total, len(missed), f"{100 * len(missed) / max(total, 1):.2f}", sep="\t")
        if arguments.list:
            for path, tag in missed:
                print(f"  {path}:{tag['line']}", tag["language"], tag["kind"], tag["name"], sep="\t")


def tags(ctags, directory):
    """Returns the tags of every file below a directory, by path and name."""
    command = [ctags, "--recurse", "--output-format=json", "--fields=+neKl", "--languages=" + LANGUAGES, "-f", "-", "."]
    run = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    by_path = collections.defaultdict(list)
    for line in run.stdout.decode(errors="replace").splitlines():
        try:
            tag = json.loads(line)
        except ValueError:
            continue
        if tag.get("_type") == "tag":
            by_path[tag["path"].removeprefix("./")].append(tag)
    found = {}
    for path, all_tags in by_path.items():
        lines = (directory / path).read_text(errors="replace").split("\n")
        functions = [(tag["line"], tag["end"]) for tag in all_tags if tag.get("kind") in FUNCTIONS and "end" in tag]
        enums = {simple(tag["name"]) for tag in all_tags if tag.get("kind") == "enum"}
        found[path] = {}
        for tag in all_tags:
            kind = (tag.get("language"), tag.get("kind"))
            is_local = any(first < tag["line"] <= last for first, last in functions)
            # Universal Ctags mistakes the items of an array for enumerators if their type is an enumeration.
            is_item = kind[1] == "enumerator" and simple(tag.get("scope", "")) not in enums
            if kind[1] in KINDS and kind not in OTHER_KINDS and not is_local and not is_item and not is_made_up(tag, lines):
                found[path].setdefault(simple(tag["name"]), tag)
    return found


def is_made_up(tag, lines):
    """Whether a tag is not a definition: its name is missing or invalid, or it is an include guard, a test of a macro or a local constant."""
    name, line = tag["name"], lines[tag["line"] - 1] if tag["line"] <= len(lines) else ""
    before = lines[tag["line"] - 2] if tag["line"] > 1 else ""
    is_guard = tag["kind"] == "macro" and before.split() == ["#ifndef", name] and line.split() == ["#define", name]
    has_scope = "scope" in tag and tag["language"] not in ("JavaScript", "TypeScript")
    is_indented = tag["kind"] in CONSTANTS and not has_scope and line[:1].isspace()
    is_call = tag["language"] == "C++" and tag["kind"] == "function" and name.isupper()
    is_parameter = tag["language"] == "C#" and re.search(rf"\bwhere\s+{re.escape(name)}\b", line)
    is_word = IDENTIFIER.fullmatch(simple(name)) and name not in KEYWORDS
    return name.startswith(("__anon", "Anonymous")) or is_guard or is_indented or is_call or bool(is_parameter) or not is_word


def simple(name):
    """Returns the last part of a name, without quotes and other decoration."""
    name = "".join(name.strip("`'\"").replace("\\", ".").replace("::", ".").split())
    return name if name.startswith("operator") else name.rsplit(".", 1)[-1] or name


def chunk_names(aur, directory, paths):
    """Returns, for every indexed file, the names of its chunks and the names that are defined inside the chunks."""
    found = {}
    for first in range(0, len(paths), FILES_PER_RUN):
        command = [aur, "pipeline", "run", "--dry", "--only", "chunk", "--format", "jsonl", "--root", "."]
        some = paths[first : first + FILES_PER_RUN]
        run = subprocess.run(command + ["./" + path for path in some], cwd=directory, stdout=subprocess.PIPE, check=False)
        if run.returncode == 2:
            sys.exit("the program failed; see the messages above")
        for line in run.stdout.decode(errors="replace").splitlines():
            report = json.loads(line)
            for stage in report["stages"]:
                wrote = stage.get("wrote") or {}
                names = set(wrote.get("chunk.name", {}).values())
                for inside in wrote.get("chunk.definitions", {}).values():
                    names.update(inside)
                if names:
                    found[report["path"].removeprefix("./")] = {simple(name) for name in names} | names
    return found


if __name__ == "__main__":
    main()
