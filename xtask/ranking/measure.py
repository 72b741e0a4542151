"""Asks one or two programs the questions, and prints how high the answers rank.

usage: measure.py --clones DIR --work WORK --aur PROGRAM [--against PROGRAM] [--part training|validation] [--only NAME,...]

Needs only Python's standard library. DIR contains bare clones OWNER+NAME (or OWNER+NAME/repo) with the commits in repositories.tsv. Missing
clones are skipped with a warning. Each tree is written to WORK without its history, and indexed with the default pipeline. The output is
the mean nDCG@10 over questions, where the ranking consists of the distinct files of the first 40 results, and the difference from the other
program. Both are printed with half the width of their 95 % confidence interval.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))


def repositories():
    with open(os.path.join(HERE, "repositories.tsv"), encoding="utf-8") as rows:
        for row in rows:
            if not row.startswith("#"):
                name, repository, commit, language, _, part, _ = row.rstrip("\n").split("\t")
                yield name, repository, commit, language, part


def lay_out(clones, repository, commit, tree):
    """Writes the files of a commit to a new directory, except files that the clone lacks. Returns False if there is no such clone."""
    flat = os.path.join(clones, repository.replace("/", "+"))
    clone = next((path for path in (os.path.join(flat, "repo"), flat) if os.path.exists(os.path.join(path, "HEAD"))), None)
    if not clone:
        return False
    shutil.rmtree(tree, ignore_errors=True)
    os.makedirs(tree)
    index = tree + ".index"
    env = {**os.environ, "GIT_INDEX_FILE": index, "GIT_WORK_TREE": tree}
    read = subprocess.run(["git", "-C", clone, "read-tree", commit], env=env, stderr=subprocess.DEVNULL)
    if read.returncode == 0:
        subprocess.run(["git", "-C", clone, "checkout-index", "--all", "--quiet"], env=env, stderr=subprocess.DEVNULL)
        os.remove(index)
    return read.returncode == 0


def ask(program, tree, questions):
    """Returns nDCG@10 of every question, computed over files."""
    subprocess.run([program, "mem", "index", tree], check=True, capture_output=True)
    command = [program, "mem", "search", "--stdin", "--format", "jsonl", "--limit", "40", "--no-record", "--root", tree]
    lines = "".join(question["query"] + "\n" for question in questions)
    answers = subprocess.run(command, check=True, capture_output=True, text=True, input=lines).stdout.splitlines()
    return [ndcg(question, json.loads(answer)) for question, answer in zip(questions, answers, strict=True)]


def ndcg(question, answer):
    wanted = {answer["path"] for answer in question["relevant"]}
    files = list(dict.fromkeys(result["file"] for result in answer.get("results", [])))[:10]
    gain = sum(1 / math.log2(rank + 2) for rank, file in enumerate(files) if file in wanted)
    return gain / sum(1 / math.log2(rank + 2) for rank in range(len(wanted)))


def mean(values):
    return sum(values) / len(values)


def half_width(values):
    """Returns half the width of the 95 % confidence interval of the mean."""
    middle = mean(values)
    variance = sum((value - middle) ** 2 for value in values) / max(len(values) - 1, 1)
    return 1.96 * math.sqrt(variance / len(values))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--clones", "--work", "--aur"):
        ap.add_argument(name, required=True)
    ap.add_argument("--against")
    ap.add_argument("--part", choices=["training", "validation"])
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    only, groups = set(filter(None, a.only.split(","))), defaultdict(list)
    for name, repository, commit, language, part in repositories():
        if (a.part and part != a.part) or (only and name not in only):
            continue
        tree = os.path.abspath(os.path.join(a.work, name))
        if not lay_out(a.clones, repository, commit, tree):
            print(f"{name}: commit {commit[:12]} of {repository} is missing", file=sys.stderr)
            continue
        with open(os.path.join(HERE, "questions", name + ".jsonl"), encoding="utf-8") as rows:
            questions = [json.loads(row) for row in rows]
        after = ask(a.aur, tree, questions)
        before = ask(a.against, tree, questions) if a.against else after
        for question, *pair in zip(questions, before, after):
            form = "terse" if "-t" in question["id"].removeprefix(name) else "described"
            for group in ("all", "part " + part, "form " + form, "kind " + question["kind"], "language " + language):
                groups[group].append(pair)
        shutil.rmtree(tree)
    for group, pairs in sorted(groups.items()):
        after, change = [after for _, after in pairs], [after - before for before, after in pairs]
        changed = f"{mean(change):+.3f} ±{half_width(change):.3f}" if a.against else ""
        print(f"{group:24}{len(pairs):6}   {mean(after):.3f} ±{half_width(after):.3f}   {changed}")


if __name__ == "__main__":
    main()
