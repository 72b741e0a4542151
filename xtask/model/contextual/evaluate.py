"""Measure the encoder on the held-out packages, beside the static model with its late interaction.

usage: python3 -m contextual.evaluate --work WORK --model MODEL.bin --base MODEL NAME...        (in the directory above)

A pool is a batch of 64 pairs of one language, many of them neighbours. Printed is the mean reciprocal rank of a query's passage in
it: of the static model (.7 cosine + .3 late interaction), of the encoder, and of both with a weight, all scaled to variance 1.
"""
import argparse
import os
import random
from collections import defaultdict

import jax
import numpy as np

import late
from evaluate import read_model

from . import network
from .batches import PASSAGE, PLACE, QUERY, SCOPES, PairBatches, filled, marked
from .examples import Examples
from .train import BATCH, pair_scores

POOLS, SIGNATURE = 40, 24
FIELDS = {"name": 0, "scopes": 1, "body": 3, "place": 4}  # their places among the weights of the static model
WEIGHTS = (.2, .4, .7)


class HeldOut(PairBatches):
    """Pairs of held-out packages, whole."""

    def __init__(self, examples, tokens, marks, rng):
        super().__init__(examples, tokens, marks, BATCH, rng)
        self.groups = examples.groups(held=True)

    def batch(self, pairs):
        return pairs, super().batch(pairs)[2]


def static_scores(examples, pairs, table, fields, weights):
    """Of every query (row) with every passage, by the static model."""
    directions = late.unit(table)[0]

    def direction(rows):
        return late.unit(table[rows].sum(0)[None])[0][0] if len(rows) else np.zeros(table.shape[1])

    passages = [sum(fields[at] * direction(examples.rows(text, pair)) for text, at in FIELDS.items())
                + fields[2] * direction(examples.rows("body", pair)[:SIGNATURE]) for pair in pairs]
    queries = np.stack([direction(examples.rows("query", pair)) for pair in pairs])
    words = np.zeros((len(pairs), len(pairs)))
    for column, pair in enumerate(pairs):
        held = directions[np.unique(np.concatenate([examples.rows(text, pair) for text in FIELDS]))]
        for row, other in enumerate(pairs):
            asked = np.unique(examples.rows("query", other))
            weight = np.maximum(weights[asked], 0)
            words[row, column] = (directions[asked] @ held.T).max(1).clip(0) @ weight / max(weight.sum(), 1e-9)
    return .7 * scaled(queries @ late.unit(np.stack(passages))[0].T) + .3 * scaled(words)


def scaled(scores):
    return (scores - scores.mean(1, keepdims=True)) / scores.std(1, keepdims=True)


def reciprocal(scores, same):
    own = scores.diagonal()[:, None]
    return float((1 / (1 + ((scores > own) & ~same).sum(1))).mean())


def encoder_scores(p, examples, pairs, marks):
    queries = filled([marked(list(examples.rows("query", pair)), QUERY, marks) for pair in pairs], (QUERY,), marks)
    passages = [[*examples.rows("place", pair)[-PLACE:], *examples.rows("scopes", pair)[-SCOPES:], *examples.rows("body", pair)] for pair in pairs]
    passages = filled([marked(passage, PASSAGE, marks) for passage in passages], (PASSAGE,), marks)
    return np.asarray(SCORES(p, queries, passages, marks.fill)[2])


SCORES = jax.jit(pair_scores, static_argnames="fill")


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--work", "--model", "--base"):
        ap.add_argument(name, required=True)
    ap.add_argument("names", nargs="+", metavar="NAME")
    a = ap.parse_args()
    tokens, (table, fields, weights) = read_model(a.model)
    examples, marks = Examples(a.work), network.Marks(tokens)
    initial = network.initial(tokens, a.base)
    models = {name: network.load(initial, os.path.join(a.work, name + ".npz")) for name in a.names}
    found = defaultdict(list)
    for _, (pairs, same) in zip(range(POOLS), HeldOut(examples, tokens, marks, random.Random(5))):
        static = static_scores(examples, pairs, table, fields, weights)
        found["static"].append(reciprocal(static, same))
        for name, p in models.items():
            scores = encoder_scores(p, examples, pairs, marks)
            found[name].append(reciprocal(scores, same))
            for weight in WEIGHTS:
                found[f"static + {weight} {name}"].append(reciprocal(static + weight * scaled(scores), same))
    for name, values in found.items():
        print(f"{name:30} {np.mean(values):.4f} ± {np.std(values) / np.sqrt(len(values)):.4f}")


if __name__ == "__main__":
    main()
