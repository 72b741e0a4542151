#!/usr/bin/env python3
"""Measures a trained and quantised table on the held-out packages, and compares it with BM25 and with the table before training.

usage: evaluate.py --work DIR --name NAME [--against MODEL.bin]     (after train.py; writes DIR/NAME.figures.json)

The query is the first sentence of a doc comment. The pool consists of the functions and methods of the held-out
packages in the language of the query, without their own doc comments. The vector of a function is computed as in `aur`,
from name, scopes with the kind, signature, body and path. BM25 gets the same texts. A candidate with the same score as
the right answer counts as better.

With --against, the same questions are asked of an earlier model, used as in `aur`. Then the last column is the difference between both
models with late interaction, paired by question, with its standard error.
"""
import argparse
import json
import math
import os
import struct
from collections import Counter

import numpy as np

from tokenizer import pieces
from late import Words, unit
from train import PASSAGE, initial, matrices, passages, prepare, scaled, shown_tokens, texts


def quantise(E):
    """Quantises rows to int8, with one f32 scale per row."""
    scale = np.maximum(np.abs(E).max(1), 1e-12).astype(np.float32) / np.float32(127)
    return np.clip(np.round(E / scale[:, None]), -127, 127).astype(np.int8), scale


def bm25(docs, qs, k1=1.2, b=.75):
    """Returns the BM25 scores of all documents for all queries. The terms are the pieces of the tokenizer."""
    tf = [Counter(d) for d in docs]
    length = np.array([sum(c.values()) for c in tf], float)
    post = {}
    for i, c in enumerate(tf):
        for t, n in c.items():
            post.setdefault(t, []).append((i, n))
    S = np.zeros((len(qs), len(docs)), np.float32)
    norm = k1 * (1 - b + b * length / length.mean())
    for j, q in enumerate(qs):
        for t in set(q):
            if t in post:
                i, n = np.array(post[t]).T
                S[j, i] += math.log(1 + (len(docs) - len(i) + .5) / (len(i) + .5)) * n * (k1 + 1) / (n + norm[i])
    return S


def reciprocal(ranks):
    """Returns reciprocal ranks. The given ranks count from 0. The result is 0 beyond the first ten."""
    return np.where(ranks < 10, 1 / (ranks + 1), 0)


def figures(S, pkg):
    """Returns MRR@10, R@10 and R@1 over the pool, MRR@10 among the functions of the same package, and the reciprocal rank of every question."""
    own = S.diagonal()[:, None]
    better = (S >= own) & ~np.eye(len(S), dtype=bool)
    r = better.sum(1)
    rp = (better & (pkg[:, None] == pkg[None])).sum(1)
    return {"mrr10": round(float(reciprocal(r).mean()), 4), "r10": round(float((r < 10).mean()), 4), "r1": round(float((r == 0).mean()), 4),
            "mrr10_own_package": round(float(reciprocal(rp).mean()), 4), "each": reciprocal(r)}


def all_text(p):
    """Returns the fields of a function as one text. The body begins with the signature."""
    t = texts(p)
    return " ".join(t[field] for field in ("scopes", "name", "path", "body"))


def measure(test, first, model):
    """Returns results by language for BM25, the table before training, and the trained table, alone and with late interaction."""
    pkg, lang = (np.array([p[key] for p in test["pairs"]]) for key in ("pkg", "lang"))
    before, trained, words = cosines(test, *first), cosines(test, *model[:2]), late(test, model[0], model[2])
    out = {}
    for L in sorted(set(lang)):
        i = np.flatnonzero(lang == L)
        rows = [test["pairs"][j] for j in i]
        T = trained(i)
        scores = {"bm25": bm25([pieces(all_text(p)) for p in rows], [pieces(p["query"]) for p in rows]), "distilled": before(i), "trained": T,
                  "trained_7_words_3": .7 * scaled(T) + .3 * scaled(words(i))}
        out[L] = {"queries": len(i), "packages": len(set(pkg[i])), **{name: figures(S, pkg[i]) for name, S in scores.items()}}
    return out


def compare(test, model):
    """Returns results by language for another model. `test` is tokenised with the vocabulary of that model."""
    pkg, lang = (np.array([p[key] for p in test["pairs"]]) for key in ("pkg", "lang"))
    trained, words, out = cosines(test, *model[:2]), late(test, model[0], model[2]), {}
    for L in sorted(set(lang)):
        i = np.flatnonzero(lang == L)
        T = trained(i)
        out[L] = {"trained": figures(T, pkg[i]), "trained_7_words_3": figures(.7 * scaled(T) + .3 * scaled(words(i)), pkg[i])}
    return out


def cosines(test, table, weights):
    """Returns a function that maps question numbers to the cosines of these questions with the passages of the same numbers."""
    q, d = unit(test["mats"]["query"] @ table)[0], passages(table, weights, test["mats"])
    return lambda i: q[i] @ d[i].T


def late(test, table, word_weights):
    """Returns a function like `cosines`, but for the scores of late interaction."""
    code, questions = shown_tokens(test["mats"].values(), test["mats"]), test["mats"]["query"].tocsr()
    return lambda i: np.concatenate([Words(questions[part], code[i], table, word_weights).scores for part in np.array_split(i, 4)])


def read_model(path):
    """Reads a model file (export.py). Returns the tokens, the table, the field weights and the word weights."""
    with open(path, "rb") as f:
        raw = f.read()
    dims, rows, length = struct.unpack_from("<III", raw, 8)
    fields, at, tokens = json.loads(raw[20:20 + length])["fields"], 20 + length, []
    for _ in range(rows):
        size = int.from_bytes(raw[at:at + 2], "little")
        tokens.append(raw[at + 2:at + 2 + size].decode())
        at += 2 + size
    at += -at % 64
    scale, weight = np.frombuffer(raw, "<f4", 2 * rows, at).reshape(2, rows)
    table = np.frombuffer(raw, np.int8, rows * dims, at + 8 * rows).reshape(rows, dims) * scale[:, None]
    return tokens, (table, np.array([fields.get(field, 0) for field in PASSAGE], np.float32), weight)


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--work", required=True)
    ap.add_argument("--name", required=True)
    ap.add_argument("--against", help="the file of an earlier model")
    a = ap.parse_args()
    a.fresh = False
    data = prepare(a, print)
    got = np.load(os.path.join(a.work, a.name + ".npz"))
    assert list(got["tokens"]) == data["tokens"], "the table has another vocabulary; run train.py with --fresh, or name another table"
    q8, scale = quantise(got["E"])
    table = q8 * scale[:, None]
    out = measure({"pairs": data["test"], "mats": data["test_mats"]}, initial(data, table.shape[1]), (table, got["A"], got["W"]))
    if a.against:
        tokens, model = read_model(a.against)
        for L, v in compare({"pairs": data["test"], "mats": matrices(data["test"], tokens)}, model).items():
            out[L]["earlier"] = v
    print("| language | queries | BM25 MRR@10 / R@10 | distilled | trained, int8 | with late interaction | earlier model | with late interaction | difference |")
    print("|---" * 9 + "|")
    for L, v in out.items():
        both = [v[k] for k in ("bm25", "distilled", "trained", "trained_7_words_3")] + list(v.get("earlier", {}).values())
        cells = [f"{f['mrr10']:.3f} / {f['r10']:.3f}" for f in both]
        if a.against:
            gain = v["trained_7_words_3"]["each"] - v["earlier"]["trained_7_words_3"]["each"]
            cells.append(f"{gain.mean():+.3f} ± {gain.std() / math.sqrt(len(gain)):.3f}")
        print(f"| {L} | {v['queries']} | " + " | ".join(cells) + " |")
        for f in both:
            del f["each"]
    with open(os.path.join(a.work, a.name + ".figures.json"), "w") as f:
        json.dump(out, f, indent=1)


if __name__ == "__main__":
    main()
