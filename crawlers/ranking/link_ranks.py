"""Ranks of the nodes of a graph by power iteration: PageRank, and hubs and authorities (HITS).

Graphs are sparse matrices of SciPy, with 1 in row s and column t for a link from node s to node t.

References
----------
.. [1] Brin, Page (1998), The Anatomy of a Large-Scale Hypertextual Web Search Engine, section 2.1.1.
.. [2] Kleinberg (1999), Authoritative Sources in a Hyperlinked Environment, Journal of the ACM 46, section 3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    Vector = NDArray[np.float64]

HUB_CHANGE = 1e-13  # in one step; the remaining error has no bound
MAX_STEPS = 1000  # some graphs need more; the values of the last step are as good as any for ranking


class PageRanks(NamedTuple):
    """The ranks, whose sum is 1, and an upper bound of the sum of all their errors."""

    ranks: Vector
    error_bound: float


class Hits(NamedTuple):
    """The two scores of each node, as vectors of length 1."""

    authorities: Vector
    hubs: Vector


def pagerank(links: csr_array, damping: float, enough: float) -> PageRanks:
    """Return PageRank with *damping* in [0, 1), with an error of at most *enough* if `MAX_STEPS` steps suffice.

    Nodes without links lead to all nodes. The error falls by the factor *damping* in each step, which takes O(links).
    """
    nodes = links.shape[0]
    back, degrees = links.T.tocsr(), links.sum(axis=1)
    is_end = degrees == 0.0
    shares = np.divide(damping, degrees, out=np.zeros(nodes), where=~is_end)
    ranks = np.full(nodes, 1.0 / max(nodes, 1))
    error = np.inf if nodes else 0.0
    for _ in range(MAX_STEPS):
        if error <= enough:
            break
        before = ranks
        ranks = back @ (ranks * shares) + (1.0 - damping + damping * ranks[is_end].sum()) / nodes
        error = float(np.abs(ranks - before).sum()) * damping / (1.0 - damping)
    return PageRanks(ranks, error)


def hits(links: csr_array) -> Hits:
    """Return hubs and authorities, beginning with equal hubs; without links, all scores are 0.

    `networkx.hits` begins at random: where several communities are equally strong, the limit depends on the start.
    """
    nodes = links.shape[0]
    if not links.nnz:
        return Hits(np.zeros(nodes), np.zeros(nodes))
    back = links.T.tocsr()
    authorities, hubs = np.zeros(nodes), np.full(nodes, nodes**-0.5)
    for _ in range(MAX_STEPS):
        authorities = _normalized(back @ hubs)
        before, hubs = hubs, _normalized(links @ authorities)
        if np.abs(hubs - before).sum() < HUB_CHANGE:
            break
    return Hits(authorities, hubs)


def _normalized(vector: Vector) -> Vector:
    normalized: Vector = vector / np.linalg.norm(vector)
    return normalized
