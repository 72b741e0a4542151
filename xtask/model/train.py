#!/usr/bin/env python3
"""Train the static code model: DIR/pairs.jsonl + MiniLM -> DIR/NAME.npz (vocabulary and float table).

usage: train.py --work DIR --base MODEL_DIR --name NAME [--epochs 4] [--distilled-only]

MODEL_DIR holds vocab.txt and model.safetensors of all-MiniLM-L6-v2. Steps: tokenise the pairs,
choose the vocabulary, embed every entry with MiniLM (mean-pooled, PCA to 256, SIF-like weights),
then in-batch negatives both ways. The forward and backward passes of a bag of tokens are two
sparse products, so numpy and scipy do the work; torch only runs the base model once.
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

from tokenizer import Tokenizer, pieces

DIMS, FULL, SHORT = 256, 256, 64
LANGS = ("python", "javascript", "typescript", "go", "java", "rust")
STOP = set("a an the of to in on for is are be and or if it its this that these those with from by as at into which will was when "
           "can has have not we you i how what where does do s t given all any each".split())


def load_pairs(work, per_lang, seed):
    """Pairs by split: held-out packages (small to middling ones) and the rest, capped a language."""
    by = defaultdict(list)
    for line in open(os.path.join(work, "pairs.jsonl"), encoding="utf-8"):
        p = json.loads(line)
        by[p["lang"], p["pkg"]].append(p)
    test, train = [], []
    for lang in LANGS:
        keys = sorted((k for k in by if k[0] == lang), key=lambda k: zlib.crc32(repr(k).encode()))
        total = sum(len(by[k]) for k in keys)
        want, got, rest = min(1500, total // 10), 0, []
        for k in keys:
            fns = [p for p in by[k] if p["head"].startswith(("function", "method"))]
            if got < want and 15 <= len(fns) <= 700:
                take = fns[:250]
                test += take
                got += len(take)
            else:
                rest += by[k]
        random.Random(seed).shuffle(rest)
        train += rest[:per_lang]
    return train, test


def base_table(model_dir, id_lists):
    """Mean-pooled MiniLM vectors of short token lists (tokens alone between CLS and SEP)."""
    import torch
    F = torch.nn.functional
    torch.set_num_threads(2)
    raw = open(os.path.join(model_dir, "model.safetensors"), "rb").read()
    n = int.from_bytes(raw[:8], "little")
    w = {k: torch.from_numpy(np.frombuffer(raw, np.float32, (v["data_offsets"][1] - v["data_offsets"][0]) // 4,
                                           8 + n + v["data_offsets"][0]).reshape(v["shape"]).copy())
         for k, v in json.loads(raw[8:8 + n]).items() if k != "__metadata__" and v["dtype"] == "F32"}

    def norm(x, name):
        return F.layer_norm(x, (384,), w[name + ".weight"], w[name + ".bias"], 1e-12)

    def lin(x, name):
        return F.linear(x, w[name + ".weight"], w[name + ".bias"])

    out = np.zeros((len(id_lists), 384), np.float32)
    groups = defaultdict(list)
    for i, ids in enumerate(id_lists):
        groups[len(ids)].append(i)
    with torch.no_grad():
        for size, members in groups.items():
            for at in range(0, len(members), 512):
                part = members[at:at + 512]
                ids = torch.tensor([[101] + list(id_lists[i]) + [102] for i in part])
                b, t = ids.shape
                x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][:t] \
                    + w["embeddings.token_type_embeddings.weight"][0]
                x = norm(x, "embeddings.LayerNorm")
                for layer in range(6):
                    p = f"encoder.layer.{layer}."
                    q, k, v = (lin(x, p + "attention.self." + s).view(b, t, 12, 32).transpose(1, 2) for s in ("query", "key", "value"))
                    a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, t, 384)
                    x = norm(x + lin(a, p + "attention.output.dense"), p + "attention.output.LayerNorm")
                    x = norm(x + lin(F.gelu(lin(x, p + "intermediate.dense")), p + "output.dense"), p + "output.LayerNorm")
                out[part] = x.mean(1).numpy()
    return out


def texts(p):
    """The texts of a pair: query, signature form, full form, rest of the doc, name words."""
    name = p["head"].split(" ", 1)[1]
    return p["query"], p["head"] + "\n" + p["sig"], p["head"] + "\n" + p["body"], p["rest"], re.split(r"[.:]+", name)[-1]


def _pieces_of(p):
    return [pieces(t[:2600]) for t in texts(p)]


def choose_vocabulary(vocab, docs, pkgs, rows, log):
    """ASCII entries of the base vocabulary that the corpus uses, and the words it uses most besides."""
    base = [t for t in vocab if t.isascii() and re.fullmatch(r"(##)?[a-z0-9]+", t)]
    tok = Tokenizer(base)
    count, where = Counter(), defaultdict(set)
    for d, g in zip(docs, pkgs):
        for part in d:
            count.update(part)
        for w in set(d[0]) | set(d[1]) | set(d[4]):
            if len(where[w]) < 4:
                where[w].add(g)
    fresh = [w for w, c in count.most_common() if c >= 10 and 3 <= len(w) <= 24 and w.isalpha() and w not in tok.first and len(where[w]) >= 3]
    used = Counter()
    for w, c in count.items():
        for i in tok.piece(w):
            used[i] += c
    keep = [t for i, t in enumerate(base) if used[i] >= 1 or len(t.lstrip("#")) == 1]
    fresh = fresh[:max(0, rows - len(keep))]
    log(f"vocabulary: {len(base)} ASCII base entries, {len(keep)} used, {len(fresh)} words added")
    return keep + fresh, len(keep)


def matrix(lists, vocab_size):
    """Token lists as a sparse count matrix."""
    off = np.zeros(len(lists) + 1, np.int64)
    off[1:] = np.cumsum([len(x) for x in lists])
    flat = np.fromiter((i for x in lists for i in x), np.int32, off[-1])
    m = sp.csr_matrix((np.ones(len(flat), np.float32), flat, off), (len(lists), vocab_size))
    m.sum_duplicates()
    return m


def prepare(a, log):
    """Tokenised data, vocabulary and initial table; kept in DIR/prepared.pkl for further runs."""
    path = os.path.join(a.work, "prepared.pkl")
    if os.path.exists(path) and not a.fresh:
        return pickle.load(open(path, "rb"))
    train, test = load_pairs(a.work, a.per_lang, a.seed)
    log(f"pairs: {dict(Counter(p['lang'] for p in train))}, held out {dict(Counter(p['lang'] for p in test))}")
    with Pool(2) as pool:
        docs = pool.map(_pieces_of, train, chunksize=500)
        tdocs = pool.map(_pieces_of, test, chunksize=500)
    vocab = [x.rstrip("\n") for x in open(os.path.join(a.base, "vocab.txt"), encoding="utf-8")]
    tokens, kept = choose_vocabulary(vocab, docs, [p["pkg"] for p in train], a.rows, log)
    tok = Tokenizer(tokens)
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

    def lists(ds, k, limit):
        return [[i for w in d[k] for i in tok.piece(w)][:limit] for d in ds]

    limits = (SHORT, SHORT, FULL, 128, 16)
    data = {"tokens": tokens, "vectors": vectors, "lang": [p["lang"] for p in train], "pkg": [p["pkg"] for p in train],
            "mats": [matrix(lists(docs, k, n), len(tokens)) for k, n in enumerate(limits)], "test": test,
            "test_mats": [matrix(lists(tdocs, k, n), len(tokens)) for k, n in enumerate(limits)]}
    pickle.dump(data, open(path, "wb"), protocol=4)
    log("tokenised")
    return data


def initial(data):
    """PCA of the base vectors to DIMS, weighted so that frequent tokens count less."""
    v = data["vectors"] - data["vectors"].mean(0)
    _, _, rot = np.linalg.svd(v, full_matrices=False)
    v = v @ rot[:DIMS].T
    freq = 1 + np.asarray(data["mats"][2].sum(0)).ravel() + np.asarray(data["mats"][0].sum(0)).ravel()
    weight = 1e-3 / (1e-3 + freq / freq.sum())
    return np.ascontiguousarray(v / np.linalg.norm(v, axis=1).mean() * weight[:, None], np.float32)


def unit(x):
    n = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
    return x / n, n


def evaluate(E, data, rng=None):
    """MRR@10 by language on the held-out packages: over the pool, and within a function's package."""
    q, s, f = (unit(m @ E)[0] for m in data["test_mats"][:3])
    d = unit(f + s)[0]
    lang = np.array([p["lang"] for p in data["test"]])
    pkg = np.array([zlib.crc32(p["pkg"].encode()) for p in data["test"]])
    out = {}
    for L in LANGS:
        i = np.flatnonzero(lang == L)
        S = q[i] @ d[i].T
        own = S.diagonal()[:, None]
        better = (S > own) | ((S == own) & ~np.eye(len(i), dtype=bool))
        r = better.sum(1)
        rp = (better & (pkg[i][:, None] == pkg[i][None])).sum(1)
        out[L] = {"mrr": float(np.where(r < 10, 1 / (r + 1), 0).mean()), "r10": float((r < 10).mean()),
                  "mrr_own_package": float(np.where(rp < 10, 1 / (rp + 1), 0).mean()), "n": len(i)}
    return out


def line(ev):
    return " ".join(f"{L[:4]} {v['mrr']:.3f}/{v['r10']:.3f}/{v['mrr_own_package']:.3f}" for L, v in ev.items())


def batches(lang, pkg, size, group, rng):
    """Row numbers by batch: one language, runs of `group` rows from one package (hard negatives)."""
    by = defaultdict(list)
    for i in rng.permutation(len(lang)):
        by[lang[i], pkg[i]].append(i)
    chunks = defaultdict(list)
    for (L, _), rows in by.items():
        for at in range(0, len(rows), group):
            chunks[L].append(rows[at:at + group])
    out = []
    for L, cs in chunks.items():
        order = rng.permutation(len(cs))
        flat = np.array([i for c in order for i in cs[c]])
        out += [flat[at:at + size] for at in range(0, len(flat) - size // 2, size)]
    return [out[i] for i in rng.permutation(len(out))]


def thin(m, drop, rng):
    """Leave out each token type of a row with the row's chance `drop`."""
    rows = np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))
    m.data = m.data * (rng.random(len(m.data)) >= drop[rows])
    return m


def queries(mats, idx, stop, rng):
    """Query bags: as they are, without stop words, a few content words, or the name's words."""
    q = mats[0][idx]
    mode = rng.random(len(idx))
    rows = np.repeat(np.arange(len(idx)), np.diff(q.indptr))
    is_stop = stop[q.indices]
    content = np.bincount(rows, ~is_stop, len(idx))
    keep = np.where(mode < .5, .9, np.where(mode < .7, .9, np.minimum(1, rng.integers(3, 9, len(idx)) / np.maximum(content, 1))))
    gone = (rng.random(len(rows)) >= keep[rows]) | (is_stop & (mode[rows] >= .5))
    name = mode[rows] > .9
    q.data = q.data * ~(gone | name)
    n = mats[4][idx]
    n.data = n.data * (mode > .9)[np.repeat(np.arange(len(idx)), np.diff(n.indptr))]
    return (q + n).tocsr()


def codes(mats, idx, rng, drop):
    """Code bags: signature alone (30 %), or the full text, with the rest of its doc now and then."""
    mode = rng.random(len(idx))
    out = None
    for m, on in ((mats[1], mode < .3), (mats[2], mode >= .3), (mats[3], mode >= .75)):
        x = m[idx]
        x.data = x.data * on[np.repeat(np.arange(len(idx)), np.diff(x.indptr))]
        x.eliminate_zeros()
        out = x if out is None else out + x
    return thin(out.tocsr(), np.full(len(idx), drop), rng)


def train(data, a, log):
    rng = np.random.default_rng(a.seed)
    E = initial(data)
    log("distilled  " + line(evaluate(E, data)))
    if a.distilled_only:
        return E
    stop = np.array([t in STOP for t in data["tokens"]])
    m1, m2 = np.zeros_like(E), np.zeros_like(E)
    step, plan = 0, [batches(data["lang"], data["pkg"], a.batch, a.group, rng) for _ in range(a.epochs)]
    total, start = sum(map(len, plan)), time.time()
    log(f"{total} steps")
    for epoch, todo in enumerate(plan):
        losses = []
        for idx in todo:
            X, Y = queries(data["mats"], idx, stop, rng), codes(data["mats"], idx, rng, a.drop)
            (q, qn), (d, dn) = unit(X @ E), unit(Y @ E)
            S = q @ d.T / a.temperature
            n = np.arange(len(idx))
            P = np.exp(S - S.max(1, keepdims=True)); P /= P.sum(1, keepdims=True)
            R = np.exp(S - S.max(0, keepdims=True)); R /= R.sum(0, keepdims=True)
            losses.append(-np.log(np.maximum(P[n, n], 1e-9)).mean())
            G = P + R
            G[n, n] -= 2
            G /= 2 * len(idx) * a.temperature
            gq, gd = G @ d, G.T @ q
            gq = (gq - q * (gq * q).sum(1, keepdims=True)) / qn
            gd = (gd - d * (gd * d).sum(1, keepdims=True)) / dn
            g = X.T @ gq.astype(np.float32) + Y.T @ gd.astype(np.float32)
            step += 1
            lr = a.lr * min(1, step / 30) * max(0.02, 1 - step / total)
            m1 *= .9; m1 += .1 * g
            np.multiply(g, g, out=g); g *= .001
            m2 *= .999; m2 += g
            np.sqrt(m2, out=g); g /= np.float32(np.sqrt(1 - .999 ** step)); g += 1e-8
            np.divide(m1, g, out=g); g *= np.float32(lr / (1 - .9 ** step))
            E -= g
            if step in (1, 10, 50):
                log(f"step {step} loss {losses[-1]:.3f} {time.time() - start:.0f} s")
        log(f"epoch {epoch + 1} loss {np.mean(losses):.3f} {time.time() - start:.0f} s  " + line(evaluate(E, data)))
    return E


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--work", required=True)
    ap.add_argument("--base", required=True)
    ap.add_argument("--name", required=True)
    ap.add_argument("--fresh", action="store_true", help="prepare the data anew")
    ap.add_argument("--distilled-only", action="store_true")
    for name, kind, value in (("epochs", int, 4), ("batch", int, 1024), ("group", int, 32), ("lr", float, 1e-3), ("drop", float, .3),
                              ("temperature", float, .05), ("seed", int, 1), ("per-lang", int, 60000), ("rows", int, 32500)):
        ap.add_argument("--" + name, type=kind, default=value)
    a = ap.parse_args()
    t0 = time.time()

    def log(text):
        print(f"[{time.time() - t0:5.0f}] {text}", flush=True)

    data = prepare(a, log)
    E = train(data, a, log)
    settings = {k: v for k, v in vars(a).items() if k not in ("work", "base", "fresh")}
    info = {"pairs": dict(Counter(data["lang"])), "settings": settings}
    np.savez(os.path.join(a.work, a.name + ".npz"), E=E, tokens=np.array(data["tokens"]), info=json.dumps(info))
    log("written")


if __name__ == "__main__":
    main()
