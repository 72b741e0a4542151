"""Finds definitions line by line with the regular expressions of `cargo xtask bench exact`."""

import re
from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).resolve().parents[2] / "xtask/src/exact/patterns.tsv"
SHORTEST = 5


def patterns():
    """Returns the regular expressions by file extension."""
    by_extension = defaultdict(list)
    for row in TABLE.read_text().splitlines():
        if not row.startswith("#"):
            _, extensions, expression = row.split("\t")
            for extension in extensions.split(" "):
                by_extension[extension].append(re.compile(expression))
    return by_extension


def definitions(files):
    """Returns names that are defined in exactly one line of all files, ignoring case, with the file and the line number."""
    table, found = patterns(), defaultdict(list)
    for file in files:
        for number, line in enumerate(file.lines, 1):
            name = next((hit[1] for hit in (each.search(line) for each in table[file.extension]) if hit), None)
            if name:
                found[name.lower()].append((name, file, number))
    return [lines[0] for lines in found.values() if len(lines) == 1 and len(lines[0][0]) >= SHORTEST]
