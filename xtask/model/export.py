#!/usr/bin/env python3
"""Writes the model file that `aur` loads, and reference vectors for testing it.

usage: export.py --work DIR --name NAME --out MODEL.bin [--reference ALL.json] [--small FEW.json]

The file is little-endian: "AURSTAT3" | u32 dims | u32 rows | u32 json_len | json | rows x (u16 length + UTF-8 token) | zeros up to a
multiple of 64 | rows x f32 scale | rows x f32 weight of the token as a query word | rows x dims i8.

The vector of a token is i8 * scale. The vector of a text is the L2-normalised sum of its tokens' vectors, or zero for a text without
tokens. "fields" in the JSON text are the weights of the fields of a passage.
"""
import argparse
import json
import os
import random
import struct

import numpy as np

from evaluate import quantise
from tokenizer import RULES, Tokenizer
from train import LIMITS, MOST_ROWS, PASSAGE, SEARCHED

ODD = ["", "   \n\t", "!!! ??? ...", "naïve café", "getÜberData", "日本語のコメント", "parse_json(データ)", "it’s a “quoted” word — really…", "x" * 64,
       "y" * 65, "aB" * 80, "HTTPSConnectionPool", "URLs and IDs", "getURLsFrom", "XMLHttpRequest2Factory", "base64", "sha256sum", "utf8ToUtf16le",
       "__init__", "__dunder__method__", "$scope.$apply", "a", "A", "1", "0xDEADBEEF", "1234567890123456789", "snake_case_name",
       "SCREAMING_SNAKE_CASE", "kebab-case-name", "Ωmega Привет мир", "ﬁle ligature", "emoji 🎉 between🎉words", "tab\tseparated\nnew\r\nlines",
       "µ-service ×2 ÷3 °C", "e\u0301 combining", "\u200bzero\u200bwidth", "ABCs", "ABCsD", "ABCd", "AsyncIO", "iOSApp", "v2Beta3RC1", "ＦＵＬＬwidth１２",
       "how do I open a file for reading and decode its text", "where is the retry limit checked?", "What holds back a task?",
       "fn main() { println!(\"hello\"); }", "def f(*args, **kwargs): return args", "qwrtzxcvbnmlkjhgfd", "NUL\u0000byte"]


def references(pairs_path, count, seed=7):
    """Returns at most `count` texts: the unusual texts above, then texts from the pairs (in turn a question, a signature and a body)."""
    out = list(ODD)
    rng = random.Random(seed)
    lines = []
    with open(pairs_path, encoding="utf-8") as f:
        for i, line in enumerate(f):  # reservoir sampling
            if len(lines) < 200:
                lines.append(line)
            elif (j := rng.randrange(i + 1)) < 200:
                lines[j] = line
    for k, line in enumerate(lines):
        p = json.loads(line)
        out.append((p["query"], f"{p['kind']} {p['scopes']}{p['name']}\n{p['sig']}", p["scopes"] + p["name"] + "\n" + p["body"])[k % 3])
    return out[:count]


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("work", "name", "out"):
        ap.add_argument("--" + name, required=True)
    ap.add_argument("--reference")
    ap.add_argument("--small")
    a = ap.parse_args()
    got = np.load(os.path.join(a.work, a.name + ".npz"))
    tokens, info = [str(t) for t in got["tokens"]], json.loads(str(got["info"]))
    q8, scale = quantise(got["E"])
    rows, dims = q8.shape
    assert rows <= MOST_ROWS, f"the model has {rows} rows, but `aur` reads at most {MOST_ROWS}"
    weights = dict(zip(PASSAGE, got["A"]))
    figures = os.path.join(a.work, a.name + ".figures.json")
    head = json.dumps({
        "name": "static-code", "version": 4, "dimensions": dims, "fields": {field: round(float(weights[field]), 5) for field in SEARCHED},
        "limits": {field: LIMITS[field] for field in SEARCHED}, "tokenizer": RULES,
        "text": "L2-normalised sum of token vectors (i8 * scale); zero vector without tokens",
        "passage": "L2-normalised sum over the fields of weight * text vector of the field",
        "training": {"base": "all-MiniLM-L6-v2 (Apache-2.0): vocabulary and initial vectors", "pairs": info["pairs"],
                     "start_shown_dropped": PASSAGE, **info["settings"]},
        "evaluation": json.load(open(figures)) if os.path.exists(figures) else {},
    }, ensure_ascii=False).encode()
    blob = b"AURSTAT3" + struct.pack("<III", dims, rows, len(head)) + head
    blob += b"".join(struct.pack("<H", len(t.encode())) + t.encode() for t in tokens)
    blob += bytes(-len(blob) % 64)
    blob += scale.astype("<f4").tobytes() + got["W"].astype("<f4").tobytes() + q8.tobytes()
    with open(a.out, "wb") as f:
        f.write(blob)
    print(a.out, len(blob), "bytes,", rows, "rows")

    tok, table, ref = Tokenizer(tokens), q8 * scale[:, None].astype(np.float32), []
    for text in references(os.path.join(a.work, "pairs.jsonl"), 200):
        ids = tok.encode(text, RULES["max_tokens"])
        v = table[ids].sum(0, dtype=np.float64) if ids else np.zeros(dims)
        n = float(np.linalg.norm(v))
        ref.append({"text": text, "ids": ids, "tokens": [tokens[i] for i in ids], "norm": n, "vector": [float(x) for x in v / (n or 1)]})
    if a.reference:
        with open(a.reference, "w", encoding="utf-8") as f:
            json.dump(ref, f, ensure_ascii=False)
    if a.small:
        few = [ref[i] for i in (0, 3, 7, 11, 12, 14, 15, 43, 46, 50, 51, 52)]
        few = [{"text": r["text"], "ids": r["ids"], "tokens": r["tokens"], "norm": r["norm"], "vector8": r["vector"][:8]} for r in few]
        with open(a.small, "w", encoding="utf-8") as f:
            json.dump(few, f, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
