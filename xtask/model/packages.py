#!/usr/bin/env python3
"""Writes the list of packages and how each was used: DIR/packages-KIND.tsv + DIR/prepared.pkl -> OUT.

usage: packages.py --work DIR --out packages.tsv      (after train.py)
"""
import argparse
import glob
import os
import pickle
from collections import Counter


def rows(work, trained, held_out):
    """Yields kind, package, version, licence, use, number of trained pairs and number of held-out pairs. A crate with several versions has one row."""
    seen = set()
    for path in sorted(glob.glob(os.path.join(work, "packages-*.tsv"))):
        for line in open(path, encoding="utf-8"):
            kind, name, version, licence, use = line.rstrip("\n").split("\t")
            key = f"{kind}:{name.replace('/', '+')}"
            if key in seen:
                continue
            seen.add(key)
            a, b = trained[key], held_out[key]
            assert use == "used" or not a + b, f"{key} was {use} and has pairs"
            if use == "used":
                use = "trained" if a else "held out" if b else "no pairs"
            yield kind, name, version, licence, use, str(a), str(b)
    unknown = (trained.keys() | held_out.keys()) - seen
    assert not unknown, f"pairs of packages without an audit: {sorted(unknown)}"


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--work", required=True)
    ap.add_argument("--out", required=True)
    a = ap.parse_args()
    with open(os.path.join(a.work, "prepared.pkl"), "rb") as f:
        data = pickle.load(f)
    trained, held_out = Counter(pkg for pkg in data["pkg"] if not pkg.startswith("git:")), Counter(p["pkg"] for p in data["test"])
    found = list(rows(a.work, trained, held_out))
    with open(a.out, "w", encoding="utf-8") as f:
        for row in [("kind", "package", "version", "licence", "use", "pairs trained", "pairs held out"), *found]:
            f.write("\t".join(row) + "\n")
    print(dict(Counter(row[4] for row in found)), sum(trained.values()), "pairs trained,", sum(held_out.values()), "held out")


if __name__ == "__main__":
    main()
