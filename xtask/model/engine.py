"""Runs the parser of `aur` as a command: the example `definitions` of the crate aurora-languages, which supports all languages."""
import functools
import json
import os
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
BUILD = ["cargo", "build", "--quiet", "--release", "-p", "aurora-languages", "--example", "definitions", "--message-format=json"]


@functools.cache
def extensions():
    """Returns the extensions of files in programming languages, including the dot."""
    return tuple("." + e for e in _run(["--extensions"], "").split())


def definitions(paths, documented=False):
    """Returns the language and the definitions of each file, as the example prints them. Files of other kinds have the language ""."""
    out = _run(["--documented"] if documented else [], "".join(p + "\n" for p in paths)).splitlines()
    assert len(out) == len(paths), "the example must print one line for each file"
    return [(found.get("language", ""), found["definitions"]) for found in map(json.loads, out)]


@functools.cache
def _program():
    out = subprocess.run(BUILD, stdout=subprocess.PIPE, check=True, cwd=ROOT, encoding="utf-8").stdout
    made = (json.loads(line).get("executable") for line in out.splitlines() if line.startswith("{"))
    return next(path for path in made if path)


def _run(arguments, text):
    return subprocess.run([_program(), *arguments], input=text, stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
