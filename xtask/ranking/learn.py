"""Learns weights of the ranking from the questions in this directory and from mined documentation questions.

usage: learn.py --clones DIR --work WORK --aur PROGRAM --out FILE [--part training] [--only NAME,...] [--keys PREFIXES] [TUNE OPTION...]

Needs only Python's standard library. DIR is the same as for measure.py. For each repository, WORK gets a directory like those of `aur mem
eval mine`. It contains the tree at the commit, with the questions of this directory in two sets (described and terse), and the same tree
without documentation, with questions mined from the documentation (docstring). Then `aur mem tune` learns from all repositories together;
each set has the same weight. The result depends only on the commits, the questions and the program. FILE is a configuration file with
the learned weights, and with the cross-validated evidence in comments. Other options are passed to `aur mem tune`.

By default, weights of names, paths and penalties are not learned. The questions avoid the words of the code, and their answers are never
tests, examples or documents, so these weights would seem to be useless.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys

from measure import HERE, lay_out, repositories

KEYS = "rules.file_keywords,rules.file_coverage,rules.file_meaning,rules.file_docs,rules.doc_words,rules.repeated,hybrid.word_share,hybrid.weights"
MOST_MINED = 50


def prepare(a, name, repository, commit):
    """Returns the directory of a repository, which is created if necessary, or None if the commit is missing."""
    made = os.path.abspath(os.path.join(a.work, name))
    if os.path.exists(made):
        return made
    tree, part = made + ".tree", made + ".part"
    if not lay_out(a.clones, repository, commit, tree):
        print(f"{name}: commit {commit[:12]} of {repository} is missing", file=sys.stderr)
        return None
    shutil.rmtree(part, ignore_errors=True)
    mine = [a.aur, "mem", "eval", "mine", tree, "--held-out", "0", "--max", str(MOST_MINED), "--out", part]
    subprocess.run(mine, check=True, capture_output=True)
    with open(os.path.join(part, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    manifest["sets"] = [mined for mined in manifest["sets"] if mined["name"] == "docstring"]
    shutil.rmtree(os.path.join(tree, ".aurora"), ignore_errors=True)
    os.rename(tree, os.path.join(part, "trees", "whole"))
    manifest["trees"].append({"name": "whole", "root": "trees/whole", "commit": commit, "blanked": 0})
    forms = {"described": [], "terse": []}
    with open(os.path.join(HERE, "questions", name + ".jsonl"), encoding="utf-8") as rows:
        for row in rows:
            question = json.loads(row)
            form = "terse" if "-t" in question["id"].removeprefix(name) else "described"
            answers = [{"path": answer["path"]} for answer in question["relevant"]]
            forms[form].append({"id": question["id"], "query": question["query"], "set": form, "relevant": answers})
    for form, questions in forms.items():
        with open(os.path.join(part, form + ".jsonl"), "w", encoding="utf-8") as f:
            f.writelines(json.dumps(question) + "\n" for question in questions)
        manifest["sets"].append({"name": form, "file": form + ".jsonl", "tree": "whole", "questions": len(questions), "held_out": False})
    with open(os.path.join(part, "manifest.json"), "w", encoding="utf-8") as f:
        json.dump(manifest, f, indent=1)
    os.rename(part, made)  # only a complete directory has this name
    return made


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--clones", "--work", "--aur", "--out"):
        ap.add_argument(name, required=True)
    ap.add_argument("--part", choices=["training", "validation"], default="training")
    ap.add_argument("--only", default="")
    ap.add_argument("--keys", default=KEYS)
    a, rest = ap.parse_known_args()
    only = set(filter(None, a.only.split(",")))
    wanted = [row for row in repositories() if row[4] == a.part and (not only or row[0] in only)]
    made = [prepare(a, name, repository, commit) for name, repository, commit, _, _ in wanted]
    golden = [argument for directory in made if directory for argument in ("--golden", directory)]
    tune = [a.aur, "mem", "tune", *golden, "--config", "default", "--keys", a.keys, "--out", a.out, *rest]
    sys.exit(subprocess.run(tune).returncode)


if __name__ == "__main__":
    main()
