"""Tokenise the pairs of pairs.py and commits.py for the encoder.

usage: python3 -m contextual.examples --work WORK --model MODEL.bin     (in the directory above; writes WORK/contextual.npz)

MODEL.bin is the static model, whose tokens the encoder shares. Of each pair the beginnings of its texts, as rows of MODEL.bin; beside
them its language, its package and its class.
"""
import argparse
import json
import os
from multiprocessing import Pool

import numpy as np

from evaluate import read_model
from pairs import held_out
from tokenizer import Tokenizer

LIMITS = {"query": 24, "place": 10, "scopes": 10, "name": 10, "body": 96, "rest": 32}


class Examples:
    """Pairs by number: the rows of a text, and by language and package the numbers, of held-out packages or of all others."""

    def __init__(self, work):
        with np.load(os.path.join(work, "contextual.npz")) as saved:
            self.arrays = {name: saved[name] for name in saved.files}

    def rows(self, text, pair):
        start, end = self.arrays[text + "_starts"][pair:pair + 2]
        return self.arrays[text][start:end]

    def class_of(self, pair):
        return self.arrays["class"][pair]

    def groups(self, held):
        """{language: {package: numbers}} of the pairs whose query has two tokens at least."""
        apart, out = held_out(), {}
        lengths = np.diff(self.arrays["query_starts"])
        for pair, (language, package) in enumerate(zip(self.arrays["language"].tolist(), self.arrays["package"].tolist())):
            if (package in apart) == held and lengths[pair] >= 2:
                out.setdefault(language, {}).setdefault(package, []).append(pair)
        return out


def start(tokens):
    global TOKENIZER
    TOKENIZER = Tokenizer(tokens)


def tokenise(line):
    p = json.loads(line)
    place = "/".join(os.path.splitext(p["path"])[0].split("/")[-2:])
    texts = {"query": p["query"], "place": place, "scopes": p["scopes"], "name": p["name"], "body": p["body"][:4000], "rest": p["rest"][:600]}
    return (p["lang"], p["pkg"], p["path"] + "|" + (p["scopes"] or p["name"]),
            [np.array(TOKENIZER.encode(texts[text], most), np.uint16) for text, most in LIMITS.items()])


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("--work", "--model"):
        ap.add_argument(name, required=True)
    a = ap.parse_args()
    out = []
    with Pool(initializer=start, initargs=(read_model(a.model)[0],)) as pool:
        for name in ("pairs.jsonl", "pairs-commits.jsonl"):
            with open(os.path.join(a.work, name), encoding="utf-8") as lines:
                out += pool.imap(tokenise, lines, chunksize=500)
    arrays = {name: np.array([pair[at] for pair in out]) for at, name in enumerate(("language", "package", "class"))}
    for at, text in enumerate(LIMITS):
        rows = [pair[3][at] for pair in out]
        arrays[text], arrays[text + "_starts"] = np.concatenate(rows), np.cumsum([0, *map(len, rows)])
    np.savez(os.path.join(a.work, "contextual.npz"), **arrays)
    print(len(out), "pairs")


if __name__ == "__main__":
    main()
