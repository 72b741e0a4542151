"""Write the encoder's file, and what it makes of some texts to test the engine with.

usage: python3 -m contextual.export --work WORK --model MODEL.bin --base MODEL --name NAME --out OUT.bin --reference REFERENCE.json

Run in the directory above. Matrices become signed bytes with a scale for each column, the table of tokens with one for each row. The
order of the file stands in analysis/src/contextual/mod.rs. The reference texts are encoded with the floats of the training.
"""
import argparse
import json
import os
import struct

import numpy as np

from base import HEADS, WIDTH
from evaluate import quantise, read_model

from . import network
from .batches import PASSAGE

PANEL, STEP = 16, 4  # columns and inputs that stand together (storage/kernels/src/product.rs)
MATRICES = ("attention", "attention_output", "intermediate", "output")
TEXTS = ((0, 9), (1, PASSAGE), (1, 33), (1, 5))  # segment and tokens of the reference texts
SHOWN = 3  # of their projected tokens


def columns(matrix):
    """Bytes by column, inputs × columns, and the scales."""
    bytes_, scales = quantise(np.ascontiguousarray(np.asarray(matrix).T))
    return bytes_.T, scales


def panels(matrix):
    depth, width = matrix.shape
    return np.ascontiguousarray(matrix.reshape(depth // STEP, STEP, width // PANEL, PANEL).transpose(2, 0, 3, 1)).tobytes()


def floats(*arrays):
    return b"".join(np.ascontiguousarray(array, "<f4").tobytes() for array in arrays)


def padded(blob):
    return blob + bytes(-len(blob) % 64)


def file(p, rows, about):
    """The bytes of the file; `rows` of the table are in it."""
    table, scales = quantise(np.asarray(p["table"])[:rows])
    numbers, matrices = [scales, p["positions"][:PASSAGE], p["segments"], *p["norm"]], [table.tobytes()]
    for layer in p["layers"]:
        for name in MATRICES:
            bytes_, scales = columns(layer[name])
            numbers += [scales, layer[name + "_bias"]]
            matrices.append(panels(bytes_))
        numbers += [*layer["attention_norm"], *layer["output_norm"]]
    bytes_, scales = columns(p["late"])
    numbers += [scales, p["word_weights"], p["word_bias"], np.exp(p["scale"])]
    matrices.append(panels(bytes_))
    head = json.dumps({
        "name": "context-code", "version": 1, "dimensions": WIDTH, "heads": HEADS, "layers": len(p["layers"]),
        "inner": p["layers"][0]["intermediate"].shape[1], "positions": PASSAGE, "late": network.LATE, "rows": rows, **about}).encode()
    return padded(padded(b"AURCTX01" + struct.pack("<I", len(head)) + head) + floats(*numbers)) + b"".join(matrices)


def references(p, rows, marks):
    rng, out = np.random.default_rng(1), []
    for segment, tokens in TEXTS:
        ids = [marks.begin, *map(int, rng.integers(0, rows - 2, tokens - 2)), marks.end]
        mean, late, weights = (np.asarray(x)[0].round(5).tolist() for x in network.read(p, np.array([ids], np.int32), marks.fill, segment))
        out.append({"segment": segment, "ids": ids, "mean": mean, "late": late[:SHOWN], "weights": weights})
    return out


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--work", "--model", "--base", "--name", "--out", "--reference"):
        ap.add_argument(name, required=True)
    a = ap.parse_args()
    tokens = read_model(a.model)[0]
    p, marks = network.load(network.initial(tokens, a.base), os.path.join(a.work, a.name + ".npz")), network.Marks(tokens)
    rows = marks.end + 1
    about = {"training": {"base": "all-MiniLM-L6-v2 (Apache-2.0): initial weights of layers 2, 4 and 6"}}
    blob = file(p, rows, about)
    with open(a.out, "wb") as f:
        f.write(blob)
    print(a.out, len(blob), "bytes")
    with open(a.reference, "w", encoding="utf-8") as f:
        json.dump(references(p, rows, marks), f)


if __name__ == "__main__":
    main()
