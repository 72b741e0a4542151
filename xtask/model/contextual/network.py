"""The network: a transformer encoder over the tokens of the static model, and two comparisons of what it makes of two texts.

The score of a query and a passage is e^scale[0] · cosine of the means of their tokens + e^scale[1] · Σ weight of a query token · its
greatest cosine among the passage's tokens (late interaction: Khattab and Zaharia, "ColBERT", 2020).
"""
import os

import jax
import jax.numpy as jnp
import numpy as np

from base import CLS, HEADS, SEP, WIDTH, read_weights
from tokenizer import Tokenizer

PAD = 0  # of the base model
LATE, POSITIONS = 128, 128
BASE_LAYERS = (1, 3, 5)


class Marks:
    """The rows after those of the tokens: begin and end of a text, and what fills a batch."""

    def __init__(self, tokens):
        self.begin, self.end, self.fill = range(len(tokens), len(tokens) + 3)


def initial(tokens, model_dir, seed=1):
    """Parameters from layers 2, 4 and 6 of the base model. A token that it lacks begins as the mean of the base's own tokens for it."""
    w = read_weights(os.path.join(model_dir, "model.safetensors"))
    with open(os.path.join(model_dir, "vocab.txt"), encoding="utf-8") as f:
        base_tokens = [line.rstrip("\n") for line in f]
    at = {t: i for i, t in enumerate(base_tokens)}
    base = Tokenizer([t for t in base_tokens if t.isascii() and t.lstrip("#").isalnum()])
    words = w["embeddings.word_embeddings.weight"]

    def row(token):
        if token in at:
            return words[at[token]]
        ids = [at[base.tokens[i]] for i in base.piece(token.lstrip("#"))]
        return words[ids].mean(0) if ids else words.mean(0)

    def norm(name):
        return w[name + ".LayerNorm.weight"], w[name + ".LayerNorm.bias"]

    e = "embeddings"
    p = {"table": np.stack([*map(row, tokens), words[CLS], words[SEP], words[PAD]]),
         "positions": w[e + ".position_embeddings.weight"][:POSITIONS],
         "segments": np.repeat(w[e + ".token_type_embeddings.weight"][:1], 2, 0), "norm": norm(e), "layers": []}
    scale = np.sqrt(WIDTH // HEADS)  # of the dot products, kept in the weights of the query
    for layer in BASE_LAYERS:
        def of(name, part):
            return w[f"encoder.layer.{layer}.{name}.{part}"]

        query, key, value = ("attention.self." + name for name in ("query", "key", "value"))
        p["layers"].append({
            "attention": np.concatenate([of(query, "weight").T / scale, of(key, "weight").T, of(value, "weight").T], 1),
            "attention_bias": np.concatenate([of(query, "bias") / scale, of(key, "bias"), of(value, "bias")]),
            "attention_output": of("attention.output.dense", "weight").T, "attention_output_bias": of("attention.output.dense", "bias"),
            "attention_norm": norm(f"encoder.layer.{layer}.attention.output"),
            "intermediate": of("intermediate.dense", "weight").T, "intermediate_bias": of("intermediate.dense", "bias"),
            "output": of("output.dense", "weight").T, "output_bias": of("output.dense", "bias"),
            "output_norm": norm(f"encoder.layer.{layer}.output")})
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((WIDTH, WIDTH)))
    p["late"] = q[:, :LATE]
    p["word_weights"], p["word_bias"] = np.zeros(WIDTH), np.float32(.5)
    p["scale"] = np.log(np.array([10., 10.]))
    return jax.tree.map(lambda x: jnp.asarray(x, jnp.float32), p)


def norm(x, by):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-12) * by[0] + by[1]


def unit(x):
    return x * jax.lax.rsqrt((x * x).sum(-1, keepdims=True) + 1e-9)


def encode(p, ids, shown, segment):
    """The last hidden states of a batch; what is not `shown` fills it."""
    b, t = ids.shape
    x = norm(p["table"][ids] + p["positions"][:t] + p["segments"][segment], p["norm"]).reshape(b * t, WIDTH)
    bias = jnp.where(shown[:, None, None, :], 0., -1e9)
    for layer in p["layers"]:
        mixed = (x @ layer["attention"] + layer["attention_bias"]).reshape(b, t, 3, HEADS, WIDTH // HEADS)
        query, key, value = mixed[:, :, 0], mixed[:, :, 1], mixed[:, :, 2]
        weights = jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", query, key) + bias, -1)
        context = jnp.einsum("bhts,bshd->bthd", weights, value).reshape(b * t, WIDTH)
        x = norm(x + context @ layer["attention_output"] + layer["attention_output_bias"], layer["attention_norm"])
        inner = jax.nn.gelu(x @ layer["intermediate"] + layer["intermediate_bias"], approximate=True)
        x = norm(x + inner @ layer["output"] + layer["output_bias"], layer["output_norm"])
    return x.reshape(b, t, WIDTH)


def read(p, ids, fill, segment):
    """Of each text the direction of the mean, the directions of the projected tokens, and their weights as words of a query."""
    shown = ids != fill
    x, mask = encode(p, ids, shown, segment), shown[..., None]
    weights = jax.nn.softplus(x @ p["word_weights"] + p["word_bias"]) * shown
    return unit((x * mask).sum(1) / mask.sum(1)), unit(x @ p["late"]) * mask, weights / (weights.sum(1, keepdims=True) + 1e-9)


def save(p, path):
    """A checkpoint: the parameters, named by their place."""
    named, _ = jax.tree.flatten_with_path(p)
    np.savez(path, **{jax.tree_util.keystr(at, simple=True, separator="/"): np.asarray(value) for at, value in named})


def load(p, path):
    """The parameters of a checkpoint in the structure of `p`."""
    with np.load(path) as saved:
        return jax.tree_util.tree_map_with_path(
            lambda at, _: jnp.asarray(saved[jax.tree_util.keystr(at, simple=True, separator="/")]), p)
