"""Does a search for an identifier that only one file contains lead to that file and to the right lines?

    python3 identifiers.py --aur PROGRAM [--aur OTHER] DIRECTORY... [--sample 200] [--seed 1] [--misses] [--out FILE]

Each directory is a checked-out git repository. The commit at HEAD is copied for every program and indexed with the default pipeline.

Identifiers are words of at least five characters in source files. They have an underscore, a change of case or a digit, or they are
plain words that are not English. Exactly one of the indexed files contains the identifier, ignoring case. Names that exactly one line
defines, according to the table of `cargo xtask bench exact`, are searched as well.

The query is the identifier alone. A result is right if its lines contain an occurrence of the identifier; for a definition, the line of
the definition. If --aur is given twice, both programs are measured in the same run, for example the versions before and after a change.
"""

import argparse
import ast
import json
import random
import re
import sysconfig
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path

from definitions import definitions
from programs import Program, shown
from shares import print_head, print_row
from trees import Tree, is_question_file

WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
NAME = re.compile(r"[A-Za-z0-9]_[A-Za-z0-9]|[a-z][A-Z]|[A-Z][A-Z][a-z]|[A-Za-z][0-9]")
# Encoded data, such as keys and images, which contains no words.
DATA = re.compile(r"(?=[A-Za-z+/]*[0-9])(?=[^\s]*[A-Z])(?=[^\s]*[a-z])[A-Za-z0-9+/]{40,}")
NUMBER = re.compile(r"(?<![A-Za-z0-9_])[0-9][A-Za-z0-9_.]*")
ENDINGS = ("s", "es", "d", "ed", "ing", "r", "er", "ly", "al", "ion", "able", "ment", "ness", "ity", "ive")
# Comments, texts with spaces, and lines without code punctuation. Plain words in these are prose.
PROSE = re.compile(r"""^\s*(?:#|//|/\*|\*|--|%|;)|\s(?://|#)|/\*|["'`][^"'`]*\s[^"'`]*["'`]|^[^(){}\[\]=;:.<>]*$""")
MIN_CHARACTERS, MAX_CHARACTERS = 5, 80
# Maximum number of occurrences of an identifier in its file after the first.
MAX_PLACES = 200
WITHIN = (1, 10)


def english():
    """Returns English words, collected from the documentation of the Python standard library."""
    from pydoc_data import topics

    texts = list(topics.topics.values())
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        nodes = ast.walk(ast.parse(path.read_bytes()))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        texts += [ast.get_docstring(node) or "" for node in nodes if isinstance(node, documented)]
    return set(re.findall(r"[a-z]{3,}", " ".join(texts).lower()))


def is_english(word, known):
    """Whether a word, or a word from which the word is derived, is in the list of known words."""
    stems = [word] + [word.removesuffix(ending) for ending in ENDINGS if word.endswith(ending)]
    return any(form in known for stem in stems for form in (stem, stem + "e", stem.removesuffix(stem[-1:])))


def is_identifier(word, known):
    if not MIN_CHARACTERS <= len(word) <= MAX_CHARACTERS or not re.search("[A-Za-z]", word):
        return False
    return bool(NAME.search(word)) or (word.islower() and not is_english(word, known))


def candidates(files, known):
    """Returns identifiers that only one file contains, by group, with the file and lines. Excludes plain words of comments."""
    occurrences = defaultdict(list)
    for file in files:
        for number, line in enumerate(file.lines, 1):
            for word in WORD.findall(NUMBER.sub(" ", line)):
                seen = occurrences[word.lower()]
                if len(seen) <= MAX_PLACES:
                    seen.append((word, file, number))
    groups = defaultdict(list)
    for seen in occurrences.values():
        word, file, line = seen[0]
        is_alone = len(seen) <= MAX_PLACES and all(other == word and other_file is file for other, other_file, _ in seen)
        if is_alone and file.is_source and is_question_file(file.path) and is_identifier(word, known):
            lines = [file.lines[number - 1] for _, _, number in seen]
            if any(DATA.search(line) or (PROSE.search(line) and not NAME.search(word)) for line in lines):
                continue
            sides = {file.is_test(number) for _, _, number in seen}
            if len(sides) == 1:
                kind = "in one place" if len(seen) == 1 else "in one file"
                group = ("tests" if sides.pop() else "code") + ", " + kind
                groups[group].append({"query": word, "path": file.path, "lines": [number for _, _, number in seen]})
    for name, file, line in definitions(file for file in files if is_question_file(file.path)):
        if not file.is_test(line):
            groups["definitions"].append({"query": name, "path": file.path, "lines": [line]})
    return groups


def sample_groups(groups, size, seed):
    """Draws a sample of every group. The seed determines the choice and the order."""
    for group in sorted(groups):
        questions = sorted(groups[group], key=lambda question: (question["query"], question["path"]))
        chance = random.Random(f"{seed} {group}")
        for question in chance.sample(questions, min(size, len(questions))):
            yield {**question, "group": group, "shape": "name" if NAME.search(question["query"]) else "plain word"}


def rank(question, results):
    """Returns the rank of the first result that contains an occurrence."""
    for position, result in enumerate(results, 1):
        lines = range(result["line_start"] or 0, (result["line_end"] or 0) + 1)
        if result["file"] == question["path"] and any(line in lines for line in question["lines"]):
            return position
    return None


def is_below(path, skipped):
    parts = path.split("/")
    return any("/".join(parts[:end]) in skipped for end in range(1, len(parts) + 1))


def measure(directory, known, a):
    """Returns the questions about a directory, each with its rank and first result for every program."""
    with ExitStack() as stack:
        programs = [stack.enter_context(Program(path, directory)) for path in a.aur]
        # Files that no program indexes are excluded.
        skipped = set.intersection(*(program.skipped() for program in programs))
        tree = Tree(programs[0].tree)
        files = [file for file in tree.files if not is_below(file.path, skipped)]
        questions = list(sample_groups(candidates(files, known), a.sample, a.seed))
        for question in questions:
            question |= {"directory": tree.name, "ranks": [], "first": []}
        for program in programs:
            for question, results in zip(questions, program.ask([question["query"] for question in questions], WITHIN[-1])):
                question["ranks"].append(rank(question, results))
                question["first"].append(shown(results[0]) if results else "nothing")
        return questions


def print_group(what, questions):
    if questions:
        print_row(what, list(zip(*(question["ranks"] for question in questions))), WITHIN)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--aur", action="append", required=True, metavar="PROGRAM", help="the program; give it twice to compare two programs")
    ap.add_argument("directories", nargs="+", metavar="DIRECTORY")
    ap.add_argument("--sample", type=int, default=200, help="identifiers of each group and directory")
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--misses", action="store_true", help="print every miss of the first program with the first result")
    ap.add_argument("--out", help="write every question with its ranks to this file, as JSON")
    a = ap.parse_args()
    if len(a.aur) > 2:
        ap.error("--aur may be given twice")
    print_head(a.aur, WITHIN)
    everything, known = [], english()
    for directory in a.directories:
        questions = measure(directory, known, a)
        everything += questions
        for group in sorted({question["group"] for question in questions}):
            print_group(f"{questions[0]['directory']}: {group}", [question for question in questions if question["group"] == group])
    for key in ("group", "shape"):
        for value in sorted({question[key] for question in everything}):
            print_group(f"all: {value}", [question for question in everything if question[key] == value])
    print_group("all", everything)
    for question in everything:
        if a.misses and question["ranks"][0] != 1:
            place = f"{question['directory']}/{question['path']}:{','.join(map(str, question['lines'][:5]))}"
            print(f"missed [{question['group']}] {question['query']} at {place}, rank {question['ranks'][0]}, first was {question['first'][0]}")
    if a.out:
        with open(a.out, "w", encoding="utf-8") as out:
            json.dump({"programs": a.aur, "questions": everything}, out, indent=1)


if __name__ == "__main__":
    main()
