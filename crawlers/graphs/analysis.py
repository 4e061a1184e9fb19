"""Measures of the nodes of a graph (components, PageRank, hubs and authorities), as further columns.

Unlike the writers, the analysis holds all edges in memory, as a sparse matrix: some 60 bytes for each. Repeated links
of a page count once, as in the degrees.

Values are rounded to 12 decimals. PageRank, hub and authority sum to 1 each, so with the largest graph
allowed by default the mean is at least 5e-7, and 12 decimals keep five digits of it; differences between
processors (the order of summation, about 1e-16 per step) are rounded away.

scipy is imported where it is used, because crawls without measures must not wait for it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from crawlers.errors import ConfigError
from crawlers.graphs.model import MEASURES, Column, edge_places
from crawlers.ranking.link_ranks import hits, pagerank
from crawlers.store.reading.importance import DECIMALS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from crawlers.files.csv_tables import Value
    from crawlers.graphs.model import Graph

DAMPING = 0.85  # Brin and Page (1998), The Anatomy of a Large-Scale Hypertextual Web Search Engine, 2.1.1
RANK_ERROR = 1e-13  # of all nodes together
MAX_EDGES = 2_000_000


def analyse(graph: Graph, measures: Sequence[str]) -> dict[Column, Callable[[int], Value]]:
    """Return the *measures* (names in MEASURES) as columns of every node; equal graphs have equal values.

    Raises ConfigError for an unknown measure, and for more than `MAX_EDGES` edges, before the rest of them
    takes memory.
    """
    for name in measures:
        if name not in MEASURES:
            raise ConfigError(f"unknown measure {name!r}; choose from {', '.join(MEASURES)}")
    links = link_matrix(graph, MAX_EDGES)
    found: dict[str, NDArray[Any]] = {}
    for names, measure in _GROUPS.items():
        if not set(names).isdisjoint(measures):
            found.update(zip(names, measure(links), strict=True))
    return {
        Column(name, "integer" if found[name].dtype.kind == "i" else "double"): dict(
            zip(graph.ids, found[name].tolist(), strict=True)
        ).__getitem__
        for name in measures
    }


def link_matrix(graph: Graph, most: int = sys.maxsize) -> csr_array:
    """Return the edges of *graph*, without weights; raise ConfigError if there are more than *most* of them."""
    from scipy.sparse import csr_array

    edges = edge_places(graph, most)
    if edges is None:
        raise ConfigError(
            f"{graph.name}: more than {most:,} edges, too many to analyse in memory; export without "
            "measures, or analyse the graph of sites instead"
        )
    return csr_array((np.ones(len(edges)), edges.T), shape=(len(graph.ids), len(graph.ids)))


def _degrees(links: csr_array) -> tuple[NDArray[Any], ...]:
    return links.sum(axis=0).astype(np.int64), links.sum(axis=1).astype(np.int64)


def _components(links: csr_array) -> tuple[NDArray[Any], ...]:
    """Number the components by size, largest first, then by their smallest id."""
    from scipy.sparse.csgraph import connected_components

    _, components = connected_components(links, connection="strong")
    _, firsts, components, sizes = np.unique(components, return_index=True, return_inverse=True, return_counts=True)
    numbers = np.empty(len(sizes), np.int64)
    numbers[np.lexsort((firsts, -sizes))] = np.arange(1, len(sizes) + 1)
    return numbers[components], sizes[components]


def _pagerank(links: csr_array) -> tuple[NDArray[Any], ...]:
    return (np.round(pagerank(links, DAMPING, RANK_ERROR).ranks, DECIMALS),)


def _hits(links: csr_array) -> tuple[NDArray[Any], ...]:
    found = hits(links)
    return tuple(np.round(scores / (scores.sum() or 1.0), DECIMALS) for scores in (found.hubs, found.authorities))


_GROUPS: dict[tuple[str, ...], Callable[[csr_array], tuple[NDArray[Any], ...]]] = {
    ("in_degree", "out_degree"): _degrees,  # numbers of nodes that link here, and that are linked to
    ("component", "component_size"): _components,  # number of the strongly connected component, and of its nodes
    ("pagerank",): _pagerank,
    ("hub", "authority"): _hits,
}
