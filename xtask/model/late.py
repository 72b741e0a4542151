"""Late interaction over a token table, as `aur` computes it (analysis/src/static_model/late.rs), and its gradient.

The score of a query and a passage is a weighted mean over the distinct tokens of the query. The value of a token is its best cosine
with a distinct token of the passage, or 0 if that is negative. The weights of the tokens are trained.
"""
import numba
import numpy as np
import scipy.sparse as sp


def unit(x):
    """Returns the rows scaled to length 1, and their original lengths."""
    n = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
    return x / n, n


def through_unit(g, u, norm):
    """Returns the gradient with respect to the input of `unit`, from the gradient with respect to its output. Zero for rows of length near zero."""
    g = (g - u * (g * u).sum(1, keepdims=True)) / norm
    g[norm[:, 0] < 1e-6] = 0
    return g.astype(np.float32)


def distinct(m):
    """Returns the bags with every token counted once."""
    m = m.tocsr()
    m.data = np.ones_like(m.data)
    return m


@numba.njit(parallel=True, cache=True)
def find_best(cosines, starts, tokens, best, which):
    """Writes, for each passage and each column of `cosines`, the best value above 0 among the rows of the passage, and the row of that value."""
    for i in numba.prange(len(starts) - 1):
        for at in range(starts[i], starts[i + 1]):
            row = np.int32(tokens[at])
            for j in range(cosines.shape[1]):
                if cosines[row, j] > best[i, j]:
                    best[i, j] = cosines[row, j]
                    which[i, j] = row


@numba.njit(cache=True)
def add_at(out, rows, values):
    """Adds every value to its column of `out`, in the row that `rows` gives for the value."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[rows[i, j], j] += values[i, j]


class Words:
    """Scores of all queries with all passages, and their gradients. Queries and passages are sparse count matrices."""

    def __init__(self, queries, passages, E, weights):
        self.query_tokens, self.passage_tokens = np.unique(queries.indices), np.unique(passages.indices)
        position = np.zeros(len(E), np.int64)
        position[self.passage_tokens] = np.arange(len(self.passage_tokens))
        (self.q, self.q_norm), (self.d, self.d_norm) = unit(E[self.query_tokens]), unit(E[self.passage_tokens])
        self.best = np.zeros((passages.shape[0], len(self.query_tokens)), np.float32)  # passages x tokens of the queries
        self.which = np.zeros(self.best.shape, np.int32)  # the passage's token with the best cosine
        find_best(self.d @ self.q.T, passages.indptr, position[passages.indices], self.best, self.which)
        bags, weight = distinct(queries[:, self.query_tokens]), weights[self.query_tokens]
        self.per_weight = sp.diags(1 / np.maximum(bags @ weight, 1e-9)) @ bags
        self.share = (self.per_weight @ sp.diags(weight)).tocsr()
        self.scores = np.asarray(self.share @ self.best.T, np.float32)

    def add_gradients(self, g, table, weights):
        """Adds the contribution of `g`, the gradient of the scores, to the gradients of table and weights."""
        best = np.where(self.best > 0, (self.share.T @ g).T, 0)
        cosines = np.zeros((len(self.passage_tokens), len(self.query_tokens)), np.float32)
        add_at(cosines, self.which, best.astype(np.float32))
        table[self.query_tokens] += through_unit(cosines.T @ self.d, self.q, self.q_norm)
        table[self.passage_tokens] += through_unit(cosines @ self.q, self.d, self.d_norm)
        gradient = self.per_weight.multiply(g @ self.best).sum(0) - (self.per_weight.T @ (g * self.scores).sum(1))
        weights[self.query_tokens] += np.asarray(gradient, np.float32).ravel()
