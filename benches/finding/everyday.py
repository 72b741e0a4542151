"""Do everyday questions lead to the one place that answers them?

    python3 everyday.py --aur PROGRAM [--aur OTHER] DIRECTORY... [--count 200] [--seed 1] [--questions FILE] [--misses] [--out FILE]

The directories are checked-out git repositories. For comparable results, they must be the repositories in `repositories.tsv` at the
commits in that table; --any allows others. There are eight kinds of questions in equal shares (after the colon: the results that are
right).

    path        a path, its last two components, or a file name that is unique: any result in the file
    path:line   the same with a line: a result that contains the line
    key         a key with hyphens or dots in a literal or a configuration file that occurs once
    literal     a number, a short text or an environment variable that occurs once
    word        a word that occurs once and not inside another word
    error       four to eight words of a message that occur once
    constant    `const NAME`, `where is NAME defined`, `NAME value`: the definition
    test        `test for NAME`, `NAME test`: a call of the function in the only test file that mentions it

draw.py draws the questions from the text of the trees, without an index; the seed determines the choice. --questions FILE writes them
as one JSON object per line, or reads them if the file exists; `aur mem eval` also accepts such a file. If --aur is given twice, both
programs are measured in the same run, for example the versions before and after a change.
"""

import argparse
import hashlib
import json
import os
import random
import sys
from pathlib import Path

from draw import KINDS, Corpus, candidates
from programs import Program, shown
from shares import print_head, print_row
from trees import Tree, git

REPOSITORIES = Path(__file__).resolve().parent / "repositories.tsv"
WITHIN = (1, 3)
# Digest of the 200 questions that seed 1 gives for the commits in `repositories.tsv`. Results for other questions are
# not comparable.
FROZEN = "2293078f4d40bf3b1da2ed031b022276ba9b38b5068d82ffb40c5c32b5e6489a"


def pinned():
    """Returns the commit of every repository by name, and the directory of the repository that is excluded from questions."""
    rows = (row.split("\t") for row in REPOSITORIES.read_text().splitlines() if not row.startswith("#"))
    return {name: (commit, copies) for name, _, commit, _, copies in rows}


def draw(trees, count, seed):
    """Draws `count` questions, evenly over kinds and trees as far as there are enough candidates."""
    pools = {}
    for tree in trees:
        corpus = Corpus(tree)
        for kind in KINDS:
            pools[kind, tree.name] = candidates(corpus, kind, random.Random(f"{seed} {tree.name} {kind}"))
    questions, given = [], {tree.name: 0 for tree in trees}
    for kind in KINDS:
        wanted, open_trees = count // len(KINDS), [tree.name for tree in trees]
        while wanted and open_trees:
            # Trees with the fewest questions so far come first.
            for name in sorted(open_trees, key=given.get)[:wanted]:
                found = next(pools[kind, name], None)
                if found is None:
                    open_trees.remove(name)
                    continue
                questions.append({"id": f"{name}-{kind.replace(':', '-')}-{len(questions)}", "repository": name, **found})
                given[name] += 1
                wanted -= 1
    return questions


def rank(question, results):
    """Returns the rank of the first result in the file of an answer that contains one of its lines."""
    for position, result in enumerate(results, 1):
        for answer in question["relevant"]:
            line = answer.get("line_start")
            if result["file"] == answer["path"] and (line is None or (result["line_start"] or 0) <= line <= (result["line_end"] or 0)):
                return position
    return None


def print_group(what, questions):
    if questions:
        print_row(what, list(zip(*(question["ranks"] for question in questions))), WITHIN)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--aur", action="append", default=[], metavar="PROGRAM", help="the program; give it twice to compare two programs")
    ap.add_argument("directories", nargs="+", metavar="DIRECTORY")
    ap.add_argument("--count", type=int, default=200)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--any", action="store_true", help="allow repositories and commits that are not in repositories.tsv")
    ap.add_argument("--questions", help="write the questions to this file, or read them if it exists")
    ap.add_argument("--misses", action="store_true", help="print every miss of the first program with its first three results")
    ap.add_argument("--out", help="write every question with its ranks to this file, as JSON")
    a = ap.parse_args()
    if len(a.aur) > 2:
        ap.error("--aur may be given twice")
    trees, known = [], pinned()
    for directory in a.directories:
        commit, copies = known.get(Path(directory).resolve().name, (None, "-"))
        tree = Tree(directory, copies)
        is_pinned = commit == tree.commit and not git(directory, "diff", "--name-only", "--diff-filter=M", "HEAD")
        if not a.any and not is_pinned:
            sys.exit(f"{tree.directory} is not a pinned repository, is at another commit, or has changes; use --any to allow it")
        trees.append(tree)
    # The order of the trees decides which questions are drawn.
    order = list(known)
    trees.sort(key=lambda tree: order.index(tree.name) if tree.name in known else len(order))
    if a.questions and os.path.exists(a.questions):
        with open(a.questions, encoding="utf-8") as rows:
            questions = [json.loads(row) for row in rows]
    else:
        questions = draw(trees, a.count, a.seed)
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    if a.questions and not os.path.exists(a.questions):
        Path(a.questions).write_text(lines, encoding="utf-8")
    digest = hashlib.sha256(lines.encode()).hexdigest()
    print(f"{len(questions)} questions, SHA-256 {digest}, {'' if digest == FROZEN else 'not '}the frozen ones")
    if not a.aur:
        return
    for question in questions:
        question |= {"ranks": [], "first": []}
    for tree in trees:
        of_tree = [question for question in questions if question["repository"] == tree.name]
        for path in a.aur:
            with Program(path, tree.directory) as program:
                for question, results in zip(of_tree, program.ask([question["query"] for question in of_tree], 10)):
                    question["ranks"].append(rank(question, results))
                    question["first"].append([shown(result) for result in results[:3]])
    questions = [question for question in questions if question["ranks"]]
    print_head(a.aur, WITHIN)
    for key, values in (("kind", KINDS), ("repository", [tree.name for tree in trees])):
        for value in values:
            print_group(f"{key} {value}", [question for question in questions if question[key] == value])
    print_group("all", questions)
    for question in questions:
        if a.misses and question["ranks"][0] != 1:
            places = [f"{answer['path']}:{answer.get('line_start', '')}".rstrip(":") for answer in question["relevant"][:3]]
            print(f"missed [{question['kind']}] {question['repository']}: {question['query']}")
            print(f"    answer {', '.join(places)}, rank {question['ranks'][0]}; results: {'; '.join(question['first'][0]) or 'none'}")
    if a.out:
        with open(a.out, "w", encoding="utf-8") as out:
            json.dump({"programs": a.aur, "questions": questions}, out, indent=1)


if __name__ == "__main__":
    main()
