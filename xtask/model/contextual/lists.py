"""Collect what a search finds: the first results of questions with known answers, as the encoder reads them.

usage: python3 -m contextual.lists --clones DIR --work WORK --model MODEL.bin --aur PROGRAM --out LISTS.npz [--only NAME,...]

Run in the directory above. DIR has bare clones of the repositories of ../ranking/repositories.tsv, none of which is barred. The
questions are the written ones and those that `aur mem eval mine` finds (documentation of definitions and of files, commits); PROGRAM answers them without a
reranker. A result is right as `aur mem eval` judges it.
"""
import argparse
import json
import os
import subprocess
import sys
from collections import Counter

import numpy as np

from evaluate import read_model
from tokenizer import Tokenizer

from .batches import DOC, PASSAGE, PLACE, QUERY, SCOPES, marked
from .network import Marks
from .train import LENGTH

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "ranking"))
import learn  # noqa: E402 (beside the questions)
from measure import repositories  # noqa: E402

MINED = ("docstring", "commit", "topics")


def passage(tokenizer, result):
    """As the engine's reranker reads a result (analysis/src/contextual/mod.rs)."""
    place = "/".join(os.path.splitext(result["file"])[0].split("/")[-3:])
    name, qualified = result["name"] or "", result["qualified_name"] or ""
    scopes = qualified[:-len(name)] if name and qualified.endswith(name) else qualified
    doc = tokenizer.encode(result.get("doc") or "", 256)
    left, body = Counter(doc), []
    for token in tokenizer.encode(result["content"], PASSAGE + len(doc)):
        if left[token]:
            left[token] -= 1
        else:
            body.append(token)
    return tokenizer.encode(place, 24)[-PLACE:] + tokenizer.encode(scopes, 24)[-SCOPES:] + doc[:DOC] + body


def answers(result, question):
    def is_met(answer):
        lines = answer.get("line_start") is None or result["line_start"] <= answer["line_end"] and result["line_end"] >= answer["line_start"]
        return answer["path"] == result["file"] and lines
    return any(is_met(answer) for answer in question["relevant"])


def ask(program, tree, questions):
    """The results of every question."""
    subprocess.run([program, "mem", "index", tree], check=True, capture_output=True)
    command = [program, "mem", "search", "--root", tree, "--stdin", "--format", "jsonl", "--limit", str(LENGTH), "--show-content", "--no-record",
               "--rerank", "off"]
    text = "".join(" ".join(question["query"].split()) + "\n" for question in questions)
    lines = subprocess.run(command, check=True, capture_output=True, text=True, input=text).stdout.splitlines()
    return [json.loads(line).get("results", []) for line in lines]


def questions_of(made):
    """(set, tree, questions) of a prepared directory."""
    with open(os.path.join(made, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    trees = {tree["name"]: os.path.join(made, tree["root"]) for tree in manifest["trees"]}
    for mined in filter(lambda mined: mined["questions"], manifest["sets"]):
        with open(os.path.join(made, mined["file"]), encoding="utf-8") as rows:
            yield mined["name"], trees[mined["tree"]], [json.loads(row) for row in rows]


def filled(rows, width, marks):
    rows = marked(rows, width, marks)
    return rows + [marks.fill] * (width - len(rows))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--clones", "--work", "--model", "--aur", "--out"):
        ap.add_argument(name, required=True)
    ap.add_argument("--only", default="")
    a = ap.parse_args()
    tokens, only = read_model(a.model)[0], set(filter(None, a.only.split(",")))
    tokenizer, marks = Tokenizer(tokens), Marks(tokens)
    out = {name: [] for name in ("set", "part", "query", "results", "passages", "right", "score", "exact")}
    wanted = [row for row in repositories() if not only or row[0] in only]
    for name, repository, commit, _, part in wanted:
        made = learn.prepare(a, name, repository, commit, MINED)
        for kind, tree, questions in questions_of(made) if made else ():
            for question, results in zip(questions, ask(a.aur, tree, questions), strict=True):
                if len(results) < 4:
                    continue
                best = max(result["score"] for result in results)
                out["set"].append(kind)
                out["part"].append(part)
                out["query"].append(filled(tokenizer.encode(question["query"]), QUERY, marks))
                out["results"].append(len(results))
                out["passages"] += [filled(passage(tokenizer, result), PASSAGE, marks) for result in results]
                out["right"] += [answers(result, question) for result in results]
                out["score"] += [result["score"] / max(best, 1e-9) for result in results]
                out["exact"] += [result["explanation"]["exact_identifier"] for result in results]
        print(name, len(out["set"]), flush=True)
    np.savez(a.out, **{name: np.array(values, np.float32 if name == "score" else None) for name, values in out.items()})


if __name__ == "__main__":
    main()
