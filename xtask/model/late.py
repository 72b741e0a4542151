"""Late interaction over a token table, as the engine computes it (analysis/src/static_model/late.rs), and its gradient.

The score of a query and a passage is the weighted mean, over the query's distinct tokens, of the best cosine among
the passage's distinct tokens, not below 0; every token has a weight of its own, which is trained.
"""
import numpy as np
import scipy.sparse as sp
import torch


def unit(x):
    """Rows at length 1, and the lengths they had."""
    n = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
    return x / n, n


def through_unit(g, u, norm):
    """Gradient before `unit` from the gradient after it; none where there was nothing to scale."""
    g = (g - u * (g * u).sum(1, keepdims=True)) / norm
    g[norm[:, 0] < 1e-6] = 0
    return g.astype(np.float32)


def distinct(m):
    """The same bags with every token counted once."""
    m = m.tocsr()
    m.data = np.ones_like(m.data)
    return m


class Words:
    """Scores of all queries with all passages, and their gradients. Queries and passages are sparse count matrices."""

    def __init__(self, queries, passages, E, weights):
        self.asked, self.held = np.unique(queries.indices), np.unique(passages.indices)
        place = np.zeros(len(E), np.int64)
        place[self.held] = np.arange(len(self.held))
        (self.q, self.q_norm), (self.d, self.d_norm) = unit(E[self.asked]), unit(E[self.held])
        cosines = torch.from_numpy(self.d @ self.q.T)
        self.best = np.zeros((passages.shape[0], len(self.asked)), np.float32)  # passages x tokens of the queries
        self.which = np.zeros(self.best.shape, np.int64)  # the passage's token that gives it
        for i in range(passages.shape[0]):
            tokens = place[passages.indices[passages.indptr[i]:passages.indptr[i + 1]]]
            if len(tokens):
                best, at = cosines[tokens].max(0)
                self.best[i], self.which[i] = best.numpy(), tokens[at.numpy()]
        self.best = np.maximum(self.best, 0)
        bags, weight = distinct(queries[:, self.asked]), weights[self.asked]
        self.per_weight = sp.diags(1 / np.maximum(bags @ weight, 1e-9)) @ bags
        self.share = (self.per_weight @ sp.diags(weight)).tocsr()
        self.scores = np.asarray(self.share @ self.best.T, np.float32)

    def add_gradients(self, g, table, weights):
        """Adds to the gradients of table and weights what `g`, that of the scores, says of them."""
        best = np.where(self.best > 0, (self.share.T @ g).T, 0)
        at = self.which * len(self.asked) + np.arange(len(self.asked))
        cosines = np.bincount(at.ravel(), best.ravel(), len(self.held) * len(self.asked)).astype(np.float32)
        cosines = cosines.reshape(len(self.held), len(self.asked))
        table[self.asked] += through_unit(cosines.T @ self.d, self.q, self.q_norm)
        table[self.held] += through_unit(cosines @ self.q, self.d, self.d_norm)
        told = self.per_weight.multiply(g @ self.best).sum(0) - (self.per_weight.T @ (g * self.scores).sum(1))
        weights[self.asked] += np.asarray(told, np.float32).ravel()
