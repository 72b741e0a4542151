#!/usr/bin/env python3
"""Averages trainings that differ only in their seeds: DIR/NAME.npz of each -> DIR/OUT.npz.

usage: average.py --work DIR --out NAME NAME...

All trainings start from the same table, so the mean of their parameters is a model of the same form, as in "Model soups: averaging
weights of multiple fine-tuned models improves accuracy without increasing inference time" (Wortsman et al., 2022). Word weights are
averaged as logarithms, because they are trained as logarithms.
"""
import argparse
import json
import os

import numpy as np


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--work", required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("names", nargs="+", metavar="NAME")
    a = ap.parse_args()
    trained = [np.load(os.path.join(a.work, name + ".npz")) for name in a.names]
    tokens, infos = trained[0]["tokens"], [json.loads(str(t["info"])) for t in trained]
    assert all(np.array_equal(t["tokens"], tokens) for t in trained), "the trainings have different vocabularies"
    seeds = [info["settings"].pop("seed") for info in infos]
    for info in infos:
        del info["settings"]["name"]
    assert all(info == infos[0] for info in infos), "the trainings differ in more than their seeds"
    infos[0]["settings"]["seeds"] = seeds
    E, A = (np.mean([t[part] for t in trained], 0, dtype=np.float32) for part in "EA")
    W = np.exp(np.mean([np.log(t["W"]) for t in trained], 0, dtype=np.float32))
    np.savez(os.path.join(a.work, a.out + ".npz"), E=E, A=A, W=W, tokens=tokens, info=json.dumps(infos[0]))


if __name__ == "__main__":
    main()
