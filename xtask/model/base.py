"""The base model, all-MiniLM-L6-v2 (6 layers, 12 heads with 32 dimensions). Computes mean-pooled vectors of short token lists."""
import json
import os
from collections import defaultdict

import numpy as np
from scipy.special import erf

HEADS, WIDTH, LAYERS, CLS, SEP = 12, 384, 6, 101, 102


def base_table(model_dir, id_lists):
    """Returns a vector for each list of token ids. CLS and SEP are added to each list."""
    weights = read_weights(os.path.join(model_dir, "model.safetensors"))
    out, groups = np.zeros((len(id_lists), WIDTH), np.float32), defaultdict(list)
    for i, ids in enumerate(id_lists):
        groups[len(ids)].append(i)
    for members in groups.values():
        for at in range(0, len(members), 512):
            part = members[at:at + 512]
            out[part] = encode(weights, np.array([[CLS, *id_lists[i], SEP] for i in part])).mean(1)
    return out


def read_weights(path):
    """Returns the f32 arrays of a safetensors file. The file consists of a u64 length, a JSON text with that length, and the values."""
    with open(path, "rb") as f:
        raw = f.read()
    n = int.from_bytes(raw[:8], "little")
    about = {k: v for k, v in json.loads(raw[8:8 + n]).items() if k != "__metadata__" and v["dtype"] == "F32"}
    return {k: np.frombuffer(raw[8 + n + v["data_offsets"][0]:8 + n + v["data_offsets"][1]], np.float32).reshape(v["shape"])
            for k, v in about.items()}


def encode(w, ids):
    """Returns the last hidden states for a batch of token lists with equal lengths."""
    def norm(x, name):
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * w[name + ".weight"] + w[name + ".bias"]

    def linear(x, name):
        # Multiply two large matrices, because numpy would multiply a stack of small ones separately.
        return (x.reshape(-1, x.shape[-1]) @ w[name + ".weight"].T).reshape(*x.shape[:-1], -1) + w[name + ".bias"]

    b, t = ids.shape
    e = "embeddings."
    x = norm(w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][:t] + w[e + "token_type_embeddings.weight"][0],
             e + "LayerNorm")
    for layer in range(LAYERS):
        p = f"encoder.layer.{layer}."
        q, k, v = (linear(x, p + "attention.self." + s).reshape(b, t, HEADS, -1).transpose(0, 2, 1, 3) for s in ("query", "key", "value"))
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH // HEADS))
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        a = (scores / scores.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(b, t, WIDTH)
        x = norm(x + linear(a, p + "attention.output.dense"), p + "attention.output.LayerNorm")
        inner = linear(x, p + "intermediate.dense")
        inner *= .5 * (1 + erf(inner / np.float32(np.sqrt(2))))
        x = norm(x + linear(inner, p + "output.dense"), p + "output.LayerNorm")
    return x
