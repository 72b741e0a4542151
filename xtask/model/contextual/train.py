"""Train the encoder: first on pairs, then on pairs and lists of a search's results.

usage: python3 -m contextual.train --work WORK --base MODEL --model MODEL.bin --name NAME --steps N --lr RATE --seed S
           [--start NAME] [--lists LISTS.npz]                          (in the directory above; writes WORK/NAME.npz)

MODEL is the directory of the base model, MODEL.bin the static model. The rate rises in 100 steps and falls to zero in the last one.
Pairs: cross-entropy of each query's passage among the batch's, and of each passage's query. Lists: cross-entropy of the results that
are right among the first 24, of the search's own score and the encoder's together, so that the encoder learns what the search does
not know; every third step is still one of pairs.
"""
import argparse
import functools
import os
import random
import time

import jax
import jax.numpy as jnp
import numpy as np

from evaluate import read_model

from . import network
from .batches import PairBatches, list_batch, read_lists
from .examples import Examples

BATCH = 64  # pairs
LISTS, LENGTH = 3, 24  # lists of a batch, results of a list
SEARCH = 12.  # logits that the best of a search's scores is worth
FIRST, SECOND = .9, .98  # decay of Adam's moments
LOG, SAVE = 50, 150


def pair_scores(p, queries, passages, fill):
    """Of every query (row) with every passage: cosines of the means, late interaction, and both together."""
    q_mean, q_late, q_weight = network.read(p, queries, fill, 0)
    d_mean, d_late, _ = network.read(p, passages, fill, 1)
    cosines = q_mean @ d_mean.T
    late = (jnp.einsum("qtd,psd->qpts", q_late, d_late).max(-1) * q_weight[:, None, :]).sum(-1)
    share = jnp.exp(p["scale"])
    return cosines, late, share[0] * cosines + share[1] * late


def pair_loss(p, queries, passages, same, fill):
    """And the share of queries that find their passage."""
    cosines, late, both = pair_scores(p, queries, passages, fill)

    def cross_entropy(s):
        s = jnp.where(same, -1e9, s)
        right = jnp.diag(s)
        return .7 * (jax.nn.logsumexp(s, 1) - right).mean() + .3 * (jax.nn.logsumexp(s, 0) - right).mean()

    loss = .2 * cross_entropy(20 * cosines) + .2 * cross_entropy(20 * late) + .6 * cross_entropy(both)
    return loss, (jnp.argmax(jnp.where(same, -1e9, both), 1) == jnp.arange(len(both))).mean()


def list_scores(p, queries, passages, fill):
    count, length, width = passages.shape
    q_mean, q_late, q_weight = network.read(p, queries, fill, 0)
    d_mean, d_late, _ = network.read(p, passages.reshape(-1, width), fill, 1)
    cosines = jnp.einsum("nd,nkd->nk", q_mean, d_mean.reshape(count, length, -1))
    best = jnp.einsum("ntd,nksd->nkts", q_late, d_late.reshape(count, length, width, -1)).max(-1)
    share = jnp.exp(p["scale"])
    return share[0] * cosines + share[1] * (best * q_weight[:, None, :]).sum(-1)


def list_loss(p, queries, passages, right, score, fill):
    """And the share of lists with a right result first."""
    s = SEARCH * score + list_scores(p, queries, passages, fill)
    loss = jax.nn.logsumexp(s, 1) - jax.nn.logsumexp(jnp.where(right, s, -1e9), 1)
    return loss.mean(), jnp.take_along_axis(right, jnp.argmax(s, 1)[:, None], 1).mean()


def step(loss, p, m, v, t, rate, *batch):
    """One step of Adam (Kingma and Ba, 2014) with the gradient cut at length 1."""
    (value, share), g = jax.value_and_grad(loss, has_aux=True)(p, *batch)
    length = jnp.sqrt(sum(jnp.vdot(x, x) for x in jax.tree.leaves(g)))
    g = jax.tree.map(lambda x: x * jnp.minimum(1., 1. / length), g)
    m = jax.tree.map(lambda m, g: FIRST * m + (1 - FIRST) * g, m, g)
    v = jax.tree.map(lambda v, g: SECOND * v + (1 - SECOND) * g * g, v, g)
    a, b = 1 / (1 - FIRST ** t), 1 / (1 - SECOND ** t)
    p = jax.tree.map(lambda p, m, v: p - rate * (m * a) / (jnp.sqrt(v * b) + 1e-8), p, m, v)
    return p, m, v, value, share


def shuffled(lists, rng):
    """Endless batches of lists."""
    order = []
    while True:
        if len(order) < LISTS:
            order = lists[:]
            rng.shuffle(order)
        yield list_batch([order.pop() for _ in range(LISTS)], LENGTH)


def validate(p, fill, lists):
    """Mean reciprocal rank of the first right result by set, with the encoder's lift at some weights."""
    scores, found = jax.jit(functools.partial(list_scores, fill=fill)), {}
    for at in range(0, len(lists) - LISTS + 1, LISTS):
        part = lists[at:at + LISTS]
        queries, passages, _, _ = list_batch(part, LENGTH)
        for x, z in zip(part, np.asarray(scores(p, queries, passages))):
            z = z[:len(x["right"])]
            z = (z - z.min()) / max(z.max() - z.min(), 1e-9)
            for weight in (0, .1, .15, .2, .3):
                order = np.argsort(-(x["score"] + weight * z), kind="stable")
                found.setdefault(x["set"], {}).setdefault(weight, []).append(1 / (1 + np.argmax(x["right"][order])))
    for name, by_weight in sorted(found.items()):
        print(f"{name:10}", "  ".join(f"{weight}: {np.mean(ranks):.3f}" for weight, ranks in by_weight.items()), flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--work", "--base", "--model", "--name"):
        ap.add_argument(name, required=True)
    ap.add_argument("--steps", type=int, required=True)
    ap.add_argument("--lr", type=float, required=True)
    ap.add_argument("--seed", type=int, required=True)
    ap.add_argument("--start")
    ap.add_argument("--lists")
    a = ap.parse_args()
    tokens, rng = read_model(a.model)[0], random.Random(a.seed)
    marks, p = network.Marks(tokens), network.initial(tokens, a.base)
    if a.start:
        p = network.load(p, os.path.join(a.work, a.start + ".npz"))
    lists = read_lists(a.lists) if a.lists else {}
    pairs = iter(PairBatches(Examples(a.work), tokens, marks, BATCH, rng))
    results = shuffled(lists["training"], rng) if lists else None
    of_pairs, of_lists = (jax.jit(functools.partial(step, functools.partial(loss, fill=marks.fill)), donate_argnums=(0, 1, 2))
                          for loss in (pair_loss, list_loss))
    m, v = (jax.tree.map(jnp.zeros_like, p) for _ in range(2))
    begun, log = time.time(), {of_pairs: [], of_lists: []}
    out = os.path.join(a.work, a.name + ".npz")
    for t in range(1, a.steps + 1):
        rate = a.lr * min(1, t / 100) * max(.02, 1 - t / a.steps)
        kind, batch = (of_lists, next(results)) if lists and t % 3 else (of_pairs, next(pairs))
        p, m, v, *figures = kind(p, m, v, float(t), rate, *batch)
        log[kind].append([float(figure) for figure in figures])
        if t % LOG == 0 or t <= 3:
            said = "  ".join("loss {:.3f}, right {:.3f}".format(*np.mean(figures[-LOG:], 0)) for figures in log.values() if figures)
            print(f"{t:6}  {said}  {time.time() - begun:.0f} s", flush=True)
        if t % SAVE == 0 or t == a.steps:
            network.save(p, out)
    if lists:
        validate(p, marks.fill, lists["validation"])


if __name__ == "__main__":
    main()
