"""Measures of the nodes of a graph (components, PageRank, hubs and authorities), as further columns.

Unlike the writers, the analysis holds the whole graph in memory (networkx): some 0.5 GB for 1.5 million edges.
Repeated links of a page count once, as in the degrees.

Values are rounded to 12 decimals. PageRank, hub and authority sum to 1 each, so with the largest graph
allowed by default the mean is at least 5e-7, and 12 decimals keep five digits of it; differences between
processors (the order of summation, about 1e-16 per step) are rounded away.

networkx is imported where it is used, because the import takes a fifth of a second, which crawls without measures must
not wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawlers.algorithms.ranking.link_ranks import hits
from crawlers.errors import ConfigError
from crawlers.graphs.model import Column, ColumnType
from crawlers.storage.importance import DECIMALS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from networkx import DiGraph

    from crawlers.graphs.model import Graph
    from crawlers.storage.files.cells import Value

DAMPING = 0.85  # Brin and Page (1998), The Anatomy of a Large-Scale Hypertextual Web Search Engine, 2.1.1
RANK_CHANGE = 1e-14  # of all nodes together, in one step; the remaining error is then below 1e-13
MAX_EDGES = 2_000_000  # 0.4 GB of memory for each million

MEASURES: dict[str, ColumnType] = {
    "in_degree": "integer",  # number of nodes that link here
    "out_degree": "integer",  # number of nodes linked to
    "component": "integer",  # number of the strongly connected component: 1 is the largest
    "component_size": "integer",  # number of nodes in it
    "pagerank": "double",
    "hub": "double",
    "authority": "double",
}


def analyse(graph: Graph, measures: Sequence[str]) -> dict[Column, Callable[[int], Value]]:
    """Return the *measures* (names in MEASURES) as columns of every node; equal graphs have equal values.

    Raises ConfigError for an unknown measure, and for more than `MAX_EDGES` edges, before the rest of them
    takes memory.
    """
    for name in measures:
        if name not in MEASURES:
            raise ConfigError(f"unknown measure {name!r}; choose from {', '.join(MEASURES)}")
    network = to_networkx(graph)
    found: dict[str, Mapping[int, Value]] = {}
    for names, measure in _GROUPS.items():
        if not set(names).isdisjoint(measures):
            found.update(zip(names, measure(network), strict=True))
    return {Column(name, MEASURES[name]): found[name].__getitem__ for name in measures}


def to_networkx(graph: Graph) -> DiGraph:
    """Return *graph* as a networkx graph of ids and edges, without attributes and weights."""
    from networkx import DiGraph

    network = DiGraph()
    edge_count = 0
    for source, targets in graph.edges():
        edge_count += len(targets)
        if edge_count > MAX_EDGES:
            raise ConfigError(
                f"{graph.name}: more than {MAX_EDGES:,} edges, too many to analyse in memory; export without "
                "measures, or analyse the graph of sites instead"
            )
        network.add_edges_from([(source, target) for target, _ in targets])
    network.add_nodes_from(row[0] for row in graph.nodes())
    return network


def _degrees(network: DiGraph) -> tuple[Mapping[int, int], ...]:
    return dict(network.in_degree()), dict(network.out_degree())


def _components(network: DiGraph) -> tuple[Mapping[int, int], ...]:
    """Number the components by size, largest first, then by their smallest id."""
    from networkx import strongly_connected_components

    components = sorted(strongly_connected_components(network), key=lambda nodes: (-len(nodes), min(nodes)))
    numbers = {node: number for number, nodes in enumerate(components, 1) for node in nodes}
    sizes = {node: len(nodes) for nodes in components for node in nodes}
    return numbers, sizes


def _pagerank(network: DiGraph) -> tuple[Mapping[int, float], ...]:
    from networkx import pagerank

    nodes = max(len(network), 1)
    # networkx multiplies the tolerance by the number of nodes; 0.85 ** 1000 is far below any tolerance.
    ranks = pagerank(network, alpha=DAMPING, weight=None, tol=RANK_CHANGE / nodes, max_iter=1000)
    return ({node: round(rank, DECIMALS) for node, rank in ranks.items()},)


def _hits(network: DiGraph) -> tuple[Mapping[int, float], ...]:
    from networkx import to_scipy_sparse_array

    if not network:
        return {}, {}
    found = hits(to_scipy_sparse_array(network, weight=None, dtype=float, format="csr"))
    shares = [np.round(scores / (scores.sum() or 1.0), DECIMALS).tolist() for scores in (found.hubs, found.authorities)]
    return tuple(dict(zip(network, its, strict=True)) for its in shares)


_GROUPS: dict[tuple[str, ...], Callable[[DiGraph], tuple[Mapping[int, Value], ...]]] = {
    ("in_degree", "out_degree"): _degrees,
    ("component", "component_size"): _components,
    ("pagerank",): _pagerank,
    ("hub", "authority"): _hits,
}
