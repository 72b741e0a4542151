#!/usr/bin/env python3
"""Trains the static code model: DIR/pairs*.jsonl + MiniLM -> DIR/NAME.npz (vocabulary, table, weights of words and fields).

usage: train.py --work DIR --base MODEL_DIR --name NAME [--epochs 3] [--distilled-only]

MODEL_DIR contains vocab.txt and model.safetensors of all-MiniLM-L6-v2. The steps are: tokenise the fields of the pairs, choose the
vocabulary, embed every entry with MiniLM (mean-pooled, PCA, SIF-like weights), and train with in-batch negatives in both directions.

The vector of a query is unit(sum of its tokens). The vector of a passage is unit(sum over the fields of weight * unit(sum of the field's
tokens)); the weights are trained with the table. Half of the loss comes from the cosine alone, and half from a weighted sum of the cosine
and late interaction (late.py), which is how `aur` uses both. The forward and backward passes of a bag of tokens are two sparse products,
so numpy and scipy do most of the work, and numba finds maxima.
"""
import argparse
import json
import os
import pickle
import random
import re
import time
import zlib
from collections import Counter, defaultdict
from multiprocessing import Pool

import numpy as np
import scipy.sparse as sp

from base import base_table
from late import Words, distinct, through_unit, unit
from pairs import held_out
from tokenizer import Tokenizer, pieces

# The fields of a pair, and the maximum number of tokens that are read from each, as in analysis/src/static_model/mod.rs.
LIMITS = {"query": 256, "name": 24, "scopes": 24, "signature": 64, "body": 256, "path": 24, "rest": 256}
# The fields of a passage: weight before training, share of passages with the field, and share of token types that are omitted.
PASSAGE = {"name": (1, .97, 0), "scopes": (.3, .85, .1), "signature": (.7, .9, .15), "body": (1, .8, .25), "path": (.3, .8, .2),
           "rest": (.7, .35, .2)}
SEARCHED = ("name", "scopes", "signature", "body", "path")  # the fields that `aur` embeds; rest is only used in training
MOST_HELD_OUT = 250  # pairs of one package in one language
MOST_ROWS = 1 << 16  # the engine keeps a token's number in 16 bits
STOP = set("a an the of to in on for is are be and or if it its this that these those with from by as at into which will was when "
           "can has have not we you i how what where does do s t given all any each".split())


def load_pairs(work, per_lang, seed):
    """Returns the pairs for training, and the functions of the held-out packages. The training pairs are at most `per_lang` pairs of each
    language from documentation, and all pairs from commits."""
    apart, by_lang, test = held_out(), defaultdict(list), defaultdict(list)
    for p in read_pairs(os.path.join(work, "pairs.jsonl")):
        if p["pkg"] not in apart:
            by_lang[p["lang"]].append(p)
        elif p["kind"] in ("function", "method"):
            test[p["lang"], p["pkg"]].append(p)
    commits = os.path.join(work, "pairs-commits.jsonl")
    histories = read_pairs(commits) if os.path.exists(commits) else []
    train = []
    for lang, rows in sorted(by_lang.items()):
        random.Random(seed).shuffle(rows)
        train += rows[:per_lang]
    return train + histories, [p for _, rows in sorted(test.items()) for p in rows[:MOST_HELD_OUT]]


def read_pairs(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def texts(p):
    """Returns the texts of a pair by field, with the same fields as a passage in `aur`."""
    place = "/".join(os.path.splitext(p["path"])[0].split("/")[-3:])
    return {"query": p["query"], "name": p["name"], "scopes": p["kind"] + " " + p["scopes"], "signature": p["sig"], "body": p["body"], "path": place,
            "rest": p["rest"]}


def class_of(p):
    """Returns a key that the methods of one class have in common: file and enclosing scopes."""
    return p["path"] + "|" + (p["scopes"] or p["name"])


def count_words(p):
    """Returns the frequency of each word in a pair, and the words outside of body, path and rest."""
    words = {field: pieces(text) for field, text in texts(p).items()}
    return Counter(w for ws in words.values() for w in ws), {w for field in ("query", "name", "scopes", "signature") for w in words[field]}


def token_ids(p):
    """Returns the token ids of a pair by field. use_tokens must have set TOKENIZER in this process."""
    t = texts(p)
    return [np.array(TOKENIZER.encode(t[field], limit), np.int32) for field, limit in LIMITS.items()]


def use_tokens(tokens):
    """Sets the vocabulary for token_ids in this process."""
    global TOKENIZER
    TOKENIZER = Tokenizer(tokens)


def choose_vocabulary(vocab, pairs, rows, log):
    """Returns the ASCII entries of the base vocabulary that the corpus uses, and the most frequent other words."""
    base = [t for t in vocab if t.isascii() and re.fullmatch(r"(##)?[a-z0-9]+", t)]
    tok = Tokenizer(base)
    count, where = Counter(), defaultdict(set)
    with Pool(2) as pool:
        for p, (words, telling) in zip(pairs, pool.imap(count_words, pairs, chunksize=500)):
            count.update(words)
            for w in telling:
                if len(where[w]) < 3:
                    where[w].add(p["pkg"])
    fresh = [w for w, c in count.most_common() if c >= 12 and 3 <= len(w) <= 24 and w.isalpha() and w not in tok.first and len(where[w]) >= 3]
    used = Counter()
    for w, c in count.items():
        for i in tok.piece(w):
            used[i] += c
    keep = [t for i, t in enumerate(base) if used[i] >= 2 or len(t.lstrip("#")) == 1]
    fresh = fresh[:max(0, rows - len(keep))]
    log(f"vocabulary: {len(base)} ASCII base entries, {len(keep)} used, {len(fresh)} words added")
    return keep + fresh, len(keep)


def matrices(pairs, tokens):
    """Returns the fields of the pairs as sparse count matrices."""
    with Pool(2, initializer=use_tokens, initargs=(tokens,)) as pool:
        rows = list(pool.imap(token_ids, pairs, chunksize=500))
    out = {}
    for k, field in enumerate(LIMITS):
        off = np.zeros(len(rows) + 1, np.int64)
        off[1:] = np.cumsum([len(r[k]) for r in rows])
        flat = np.concatenate([r[k] for r in rows])
        out[field] = sp.csr_matrix((np.ones(len(flat), np.float32), flat, off), (len(rows), len(tokens)))
        out[field].sum_duplicates()
    return out


def prepare(a, log):
    """Returns tokenised data, vocabulary and base vectors. They are stored in DIR/prepared.pkl for later runs."""
    path = os.path.join(a.work, "prepared.pkl")
    if os.path.exists(path) and not a.fresh:
        return pickle.load(open(path, "rb"))
    train, test = load_pairs(a.work, a.per_lang, a.seed)
    log(f"pairs: {dict(Counter(p['lang'] for p in train))}, held out {dict(Counter(p['lang'] for p in test))}")
    vocab = [x.rstrip("\n") for x in open(os.path.join(a.base, "vocab.txt"), encoding="utf-8")]
    tokens, kept = choose_vocabulary(vocab, train, a.rows, log)
    base = Tokenizer([t if t.isascii() else "##" for t in vocab])
    at = {t: i for i, t in enumerate(vocab)}
    cache_path = os.path.join(a.work, "base.pkl")
    known = pickle.load(open(cache_path, "rb")) if os.path.exists(cache_path) else {}
    todo = [(i, t) for i, t in enumerate(tokens) if t not in known]
    if todo:
        known.update(zip((t for _, t in todo), base_table(a.base, [[at[t]] if i < kept else base.piece(t) for i, t in todo])))
        pickle.dump(known, open(cache_path, "wb"), protocol=4)
    vectors = np.stack([known[t] for t in tokens])
    log("base model done")
    data = {"tokens": tokens, "vectors": vectors, "lang": [p["lang"] for p in train], "pkg": [p["pkg"] for p in train],
            "class": [class_of(p) for p in train],
            "question": np.array([zlib.crc32((p["pkg"] + "\0" + p["query"]).encode()) for p in train]), "mats": matrices(train, tokens), "test": test, "test_mats": matrices(test, tokens)}
    pickle.dump(data, open(path, "wb"), protocol=4)
    log("tokenised")
    return data


def initial(data, dims):
    """Returns the table and the field weights before training. The table is a PCA of the base vectors, in which frequent tokens have less weight."""
    v = data["vectors"] - data["vectors"].mean(0)
    _, _, rot = np.linalg.svd(v, full_matrices=False)
    v = v @ rot[:dims].T
    freq = 1 + sum(np.asarray(data["mats"][field].sum(0)).ravel() for field in ("query", "body"))
    weight = 1e-3 / (1e-3 + freq / freq.sum())
    table = np.ascontiguousarray(v / np.linalg.norm(v, axis=1).mean() * weight[:, None], np.float32)
    return table, np.array([start for start, _, _ in PASSAGE.values()], np.float32)


def passages(E, A, mats):
    """Returns the vectors of passages as `aur` computes them, from the table E and the field weights A."""
    return unit(sum(A[k] * unit(mats[field] @ E)[0] for k, field in enumerate(PASSAGE) if field in SEARCHED))[0]


def scaled(S):
    """Scales the scores of each query to 0..1."""
    low, high = S.min(1, keepdims=True), S.max(1, keepdims=True)
    return (S - low) / np.maximum(high - low, 1e-9)


def evaluate(E, A, W, data):
    """Returns MRR@10 by language among the held-out functions of the same package: for the cosine, for the words, and for both with weights .7 and .3."""
    q, d = unit(data["test_mats"]["query"] @ E)[0], passages(E, A, data["test_mats"])
    queries, code = data["test_mats"]["query"].tocsr(), shown_tokens(data["test_mats"].values(), data["test_mats"])
    lang = np.array([p["lang"] for p in data["test"]])
    pkg = np.array([zlib.crc32(p["pkg"].encode()) for p in data["test"]])
    out = {}
    for L in sorted(set(lang)):
        i = np.flatnonzero(lang == L)
        cosines = q[i] @ d[i].T
        words = np.concatenate([Words(queries[part], code[i], E, W).scores for part in np.array_split(i, 4)])
        mrr = []
        for S in (cosines, words, .7 * scaled(cosines) + .3 * scaled(words)):
            better = (S > S.diagonal()[:, None]) & (pkg[i][:, None] == pkg[i][None])
            rank = better.sum(1)
            mrr.append(float(np.where(rank < 10, 1 / (rank + 1), 0).mean()))
        out[L] = mrr
    return out


def line(ev):
    mean = np.mean(list(ev.values()), 0)
    return "cosine {:.4f} words {:.4f} both {:.4f}  ".format(*mean) + " ".join(f"{L[:4]} {v[2]:.3f}" for L, v in ev.items())


def batches(data, a, rng):
    """Returns the row numbers of each batch. A batch has one language, and runs of `group` rows from one package (hard negatives).

    The pairs of a language with fewer than `least` pairs are repeated up to four times. In a share `byclass` of the packages, the rows of one
    class follow each other, so that methods of the same class are in the same batch.
    """
    by = defaultdict(list)
    for i in rng.permutation(len(data["lang"])):
        by[data["lang"][i], data["pkg"][i]].append(i)
    chunks = defaultdict(list)
    for (L, _), rows in by.items():
        if rng.random() < a.byclass:
            siblings = defaultdict(list)
            for i in rows:
                siblings[data["class"][i]].append(i)
            groups = list(siblings.values())
            rows = [i for g in rng.permutation(len(groups)) for i in groups[g]]
        for at in range(0, len(rows), a.group):
            chunks[L].append(rows[at:at + a.group])
    out = []
    for L, cs in chunks.items():
        size = sum(map(len, cs))
        for _ in range(min(4, max(1, round(a.least / size)))):
            flat = np.array([i for c in rng.permutation(len(cs)) for i in cs[c]])
            out += [flat[at:at + a.batch] for at in range(0, max(1, size - a.batch // 2), a.batch)]
    return [out[i] for i in rng.permutation(len(out))]


def entry_rows(m):
    """Returns the row of every stored value of a sparse matrix."""
    return np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))


def queries(mats, idx, stop, a, rng):
    """Returns bags of query tokens, and whether each was drawn from the rest of the doc comment.

    A bag contains the sentence, the sentence without stop words, a few of its content words, some words of the rest of the doc comment,
    or the words of the name.
    """
    mode = rng.random(len(idx))
    rest = mats["rest"][idx]
    drawn = (mode < a.rest) & (rest.getnnz(1) >= 5)
    q = (sp.diags((~drawn).astype(np.float32)) @ mats["query"][idx] + sp.diags(drawn.astype(np.float32)) @ rest).tocsr()
    mode = np.where(drawn, .6, rng.random(len(idx)))
    rows = entry_rows(q)
    is_stop = stop[q.indices]
    content = np.bincount(rows, ~is_stop, len(idx))
    few = np.where(drawn, rng.integers(5, 13, len(idx)), rng.integers(3, 9, len(idx)))
    keep = np.where((mode < .7) & ~drawn, .9, np.minimum(1, few / np.maximum(content, 1)))
    gone = (rng.random(len(rows)) >= keep[rows]) | (is_stop & (mode[rows] >= .5))
    q.data = q.data * ~(gone | (mode[rows] > .9))
    n = mats["name"][idx]
    n.data = n.data * (mode > .9)[entry_rows(n)]
    bags = (q + n).tocsr()
    bags.eliminate_zeros()
    return bags, drawn


def shown_fields(mats, idx, drawn, rng):
    """Returns bags of the passages' fields, without some fields and token types, and without rest if the question was drawn from it (`drawn`)."""
    out = []
    for field, (_, shown, dropped) in PASSAGE.items():
        x = mats[field][idx]
        on = (rng.random(len(idx)) < shown) & ((field != "rest") | ~drawn)
        x.data = x.data * (on[entry_rows(x)] & (rng.random(len(x.data)) >= dropped))
        x.eliminate_zeros()
        out.append(x)
    return out


def shown_tokens(bags, names):
    """Returns the distinct tokens of passages in the fields that `aur` uses, from the bags of the fields `names`."""
    return distinct(sum(bag for name, bag in zip(names, bags) if name in SEARCHED))


def contrast(S, question):
    """Returns the loss of in-batch negatives in both directions, and its gradient with respect to the logits `S`.

    If a question has several passages (a commit that changed several functions), they are not negatives for each other.
    """
    n = np.arange(len(S))
    S = np.where((question[:, None] == question[None]) & (n[:, None] != n[None]), np.float32(-1e9), S)
    P = np.exp(S - S.max(1, keepdims=True)); P /= P.sum(1, keepdims=True)
    R = np.exp(S - S.max(0, keepdims=True)); R /= R.sum(0, keepdims=True)
    loss = -np.log(np.maximum(P[n, n], 1e-9)).mean()
    G = P + R
    G[n, n] -= 2
    return loss, G / (2 * len(S))


class Adam:
    """Adam (Kingma and Ba, 2015) for one array, which is changed in place."""

    def __init__(self, x):
        self.x, self.m1, self.m2, self.t = x, np.zeros_like(x), np.zeros_like(x), 0

    def step(self, g, lr):
        self.t += 1
        self.m1 *= .9; self.m1 += .1 * g
        np.multiply(g, g, out=g); g *= .001
        self.m2 *= .999; self.m2 += g
        np.sqrt(self.m2, out=g); g /= np.float32(np.sqrt(1 - .999 ** self.t)); g += 1e-8
        np.divide(self.m1, g, out=g); g *= np.float32(lr / (1 - .9 ** self.t))
        self.x -= g


class Model:
    """All trained parameters: the table, the field weights, the logarithms of the word weights, and the weights of cosine and words
    in the joint loss."""

    def __init__(self, data, a):
        self.E, self.A = initial(data, a.dims)
        self.logW = np.log(np.maximum(np.linalg.norm(self.E, axis=1), 1e-3)).astype(np.float32)
        self.mix = np.array([10, 10], np.float32)
        # Each parameter, its optimiser, and its learning rate relative to the table.
        self.parts = [(x, Adam(x), speed) for x, speed in ((self.E, 1), (self.A, 5), (self.logW, 5), (self.mix, 100))]

    def continue_from(self, path, tokens):
        """Copies the table and the weights of an earlier training. Tokens that are new in the vocabulary keep their initial values."""
        got = np.load(path)
        earlier = {token: row for row, token in enumerate(got["tokens"])}
        rows = [row for row, token in enumerate(tokens) if token in earlier]
        from_rows = [earlier[tokens[row]] for row in rows]
        self.E[rows], self.logW[rows] = got["E"][from_rows], np.log(got["W"][from_rows])
        self.A[:] = got["A"]

    def words(self):
        return np.exp(self.logW)

    def figures(self, data):
        return line(evaluate(self.E, self.A, self.words(), data))

    def step(self, gradients, lr):
        for (_, adam, speed), g in zip(self.parts, gradients):
            adam.step(g, speed * lr)

    def gradients(self, X, Ys, question, a):
        """Returns the losses of a batch (cosine and joint) and the gradients of all parameters. `X` are the queries, `question` their numbers,
        and `Ys` the fields of the passages."""
        (q, qn), parts = unit(X @ self.E), [unit(Y @ self.E) for Y in Ys]
        d, dn = unit(sum(w * u for w, (u, _) in zip(self.A, parts)))
        loss, G = contrast(q @ d.T / a.temperature, question)
        G *= (1 - a.joint) / a.temperature
        table, logW, mix, joint = np.zeros_like(self.E), np.zeros_like(self.logW), np.zeros_like(self.mix), []
        code, W = shown_tokens(Ys, PASSAGE), self.words()
        for at in range(0, len(q), a.block):
            k = slice(at, min(at + a.block, len(q)))
            cosines, words = q[k] @ d[k].T, Words(X[k], code[k], self.E, W)
            one, g = contrast(self.mix[0] * cosines + self.mix[1] * words.scores, question[k])
            joint.append(one)
            g *= a.joint * (k.stop - k.start) / len(q)
            mix += (g * cosines).sum(), (g * words.scores).sum()
            G[k, k] += self.mix[0] * g
            words.add_gradients(self.mix[1] * g, table, logW)
        logW *= W
        gd = through_unit(G.T @ q, d, dn)
        fields = np.array([(gd * u).sum() for u, _ in parts], np.float32)
        table += X.T @ through_unit(G @ d, q, qn)
        for Y, w, (u, un) in zip(Ys, self.A, parts):
            table += Y.T @ through_unit(w * gd, u, un)
        return (loss, np.mean(joint)), (table, fields, logW, mix)


def train(data, a, log):
    """Trains the model. It is written after every epoch, so that an interrupted run leaves a model."""
    rng = np.random.default_rng(a.seed)
    model = Model(data, a)
    if a.start:
        model.continue_from(os.path.join(a.work, a.start + ".npz"), data["tokens"])
    log("start  " + model.figures(data))
    if a.distilled_only:
        return model
    stop = np.array([t in STOP for t in data["tokens"]])
    step, plan = 0, [batches(data, a, rng) for _ in range(a.epochs)]
    total, start = sum(map(len, plan)), time.time()
    log(f"{total} steps")
    for epoch, todo in enumerate(plan):
        losses = []
        for idx in todo:
            X, drawn = queries(data["mats"], idx, stop, a, rng)
            Ys = shown_fields(data["mats"], idx, drawn, rng)
            loss, gradients = model.gradients(X, Ys, data["question"][idx], a)
            losses.append(loss)
            step += 1
            model.step(gradients, a.lr * min(1, step / 30) * max(0.02, 1 - step / total))
            if step in (1, 10, 50) or step % 100 == 0:
                log(f"step {step} losses {np.round(losses[-1], 3)} mix {np.round(model.mix, 1)} {time.time() - start:.0f} s")
        shares = " ".join(f"{field} {w:.2f}" for field, w in zip(PASSAGE, model.A))
        log(f"epoch {epoch + 1} losses {np.round(np.mean(losses, 0), 3)} {time.time() - start:.0f} s  {shares}  " + model.figures(data))
        write(model, data, a)
    return model


def write(model, data, a):
    """Writes DIR/NAME.npz."""
    settings = {k: v for k, v in vars(a).items() if k not in ("work", "base", "fresh", "distilled_only")}
    info = {"pairs": dict(Counter(data["lang"])), "settings": settings}
    np.savez(os.path.join(a.work, a.name + ".npz"), E=model.E, A=model.A, W=model.words(), tokens=np.array(data["tokens"]), info=json.dumps(info))


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--work", required=True)
    ap.add_argument("--base", required=True)
    ap.add_argument("--name", required=True)
    ap.add_argument("--fresh", action="store_true", help="prepare the data again")
    ap.add_argument("--distilled-only", action="store_true")
    ap.add_argument("--start", default="", help="name of an earlier training to continue")
    for name, kind, value in (("epochs", int, 3), ("batch", int, 1024), ("group", int, 32), ("byclass", float, .5), ("least", int, 6000), ("lr", float, 1e-3),
                              ("temperature", float, .05), ("joint", float, .5), ("block", int, 256), ("rest", float, .15), ("dims", int, 256), ("seed", int, 1), ("per-lang", int, 25000),
                              ("rows", int, 40000)):
        ap.add_argument("--" + name, type=kind, default=value)
    a = ap.parse_args()
    if a.rows > MOST_ROWS:
        ap.error(f"--rows is at most {MOST_ROWS}")
    t0 = time.time()

    def log(text):
        print(f"[{time.time() - t0:5.0f}] {text}", flush=True)

    data = prepare(a, log)
    model = train(data, a, log)
    write(model, data, a)
    log("written")


if __name__ == "__main__":
    main()
