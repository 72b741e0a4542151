#!/usr/bin/env python3
"""Measure a trained table, as quantised, on the held-out packages; BM25 and plain distillation beside it.

usage: evaluate.py --work DIR --name NAME      (after train.py; writes DIR/NAME.figures.json)

Query: the first sentence of a doc comment. Pool: the functions and methods of the held-out packages of
that language, their own doc comments removed. A function's vector is made of name, scopes with the kind,
signature, body and path, as the engine makes it; BM25 sees the same texts. A candidate with an equal
score counts as better.
"""
import argparse
import json
import math
import os
from collections import Counter

import numpy as np

from tokenizer import pieces
from late import Words, unit
from train import LANGS, initial, passages, prepare, scaled, shown_tokens, texts


def quantise(E):
    """int8 rows with one f32 scale each."""
    scale = np.maximum(np.abs(E).max(1), 1e-12).astype(np.float32) / np.float32(127)
    return np.clip(np.round(E / scale[:, None]), -127, 127).astype(np.int8), scale


def bm25(docs, qs, k1=1.2, b=.75):
    """Scores of all documents for all queries; terms are the tokenizer's pieces."""
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


def figures(S, pkg):
    """MRR@10, R@10, R@1 over the pool and MRR@10 among the functions of the same package."""
    own = S.diagonal()[:, None]
    better = (S >= own) & ~np.eye(len(S), dtype=bool)
    r = better.sum(1)
    rp = (better & (pkg[:, None] == pkg[None])).sum(1)
    return {"mrr10": round(float(np.where(r < 10, 1 / (r + 1), 0).mean()), 4), "r10": round(float((r < 10).mean()), 4),
            "r1": round(float((r == 0).mean()), 4), "mrr10_own_package": round(float(np.where(rp < 10, 1 / (rp + 1), 0).mean()), 4)}


def all_text(p):
    """A function as one text; its body begins with the signature."""
    t = texts(p)
    return " ".join(t[field] for field in ("scopes", "name", "path", "body"))


def measure(data, table, weights, word_weights):
    """Figures by language of BM25, the distilled table, the trained one alone and with its late interaction."""
    pkg = np.array([p["pkg"] for p in data["test"]])
    lang = np.array([p["lang"] for p in data["test"]])

    def vectors(E, A):
        return unit(data["test_mats"]["query"] @ E)[0], passages(E, A, data["test_mats"])

    code = shown_tokens(data["test_mats"].values(), data["test_mats"])
    questions = data["test_mats"]["query"].tocsr()
    first, trained = vectors(*initial(data, table.shape[1])), vectors(table, weights)
    out = {}
    for L in LANGS:
        i = np.flatnonzero(lang == L)
        rows = [data["test"][j] for j in i]
        B = bm25([pieces(all_text(p)) for p in rows], [pieces(p["query"]) for p in rows])
        D, T = first[0][i] @ first[1][i].T, trained[0][i] @ trained[1][i].T
        words = np.concatenate([Words(questions[part], code[i], table, word_weights).scores for part in np.array_split(i, 4)])
        out[L] = {"queries": len(i), "packages": len(set(pkg[i])), "bm25": figures(B, pkg[i]), "distilled": figures(D, pkg[i]),
                  "trained": figures(T, pkg[i]), "trained_7_words_3": figures(.7 * scaled(T) + .3 * scaled(words), pkg[i])}
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--work", required=True)
    ap.add_argument("--name", required=True)
    a = ap.parse_args()
    a.fresh = False
    data = prepare(a, print)
    got = np.load(os.path.join(a.work, a.name + ".npz"))
    assert list(got["tokens"]) == data["tokens"], "another vocabulary: prepare anew or name another table"
    q8, scale = quantise(got["E"])
    out = measure(data, q8 * scale[:, None], got["A"], got["W"])
    with open(os.path.join(a.work, a.name + ".figures.json"), "w") as f:
        json.dump(out, f, indent=1)
    print("| language | queries | BM25 MRR@10 / R@10 | distilled | trained, int8 | with late interaction |\n|---|---|---|---|---|---|")
    for L, v in out.items():
        cells = (f"{v[k]['mrr10']:.3f} / {v[k]['r10']:.3f}" for k in ("bm25", "distilled", "trained", "trained_7_words_3"))
        print(f"| {L} | {v['queries']} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
