"""Positions and communities of nodes, by their links.

Positions by ForceAtlas2, the layout of Gephi: linked nodes attract and all repel each other. Communities by the method
of Louvain: groups of nodes with more links among each other than to others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Links = NDArray[np.int64]  # two columns: source and target
    Numbers = NDArray[np.float64]

FIRST_ITERATIONS = 100  # from random positions
ITERATIONS = 20  # from those of a coarser graph; then the picture hardly changes any more
SMALL = 100  # nodes of a graph that is placed from random positions
SEED = 1  # of random positions, and of the order in which nodes are moved between communities
GRAVITY = 0.05  # towards the middle, with a strength that grows with the distance; keeps unconnected parts together
ACCURACY = 1.2  # of Barnes and Hut, as in Gephi: nodes in a square narrower than this part of its distance repel as one
SPACING = 40.0  # mean width of the square that a node has for itself; sizes of nodes are of this order


def link_strengths(edges: Links, node_count: int) -> Numbers:
    """Return how strongly the two nodes of each directed edge attract each other, in (0, 1].

    A page to which each page links (the home page, a menu) says nothing about which pages belong together, and would
    pull all of them into one heap: so the attraction of an edge is divided by the in-degree of its target.
    """
    targets = edges[:, 1]
    return np.asarray(1.0 / np.bincount(targets, minlength=node_count)[targets], dtype=np.float64)


def force_layout(node_count: int, edges: Links) -> list[tuple[float, float]]:
    """Return (x, y) of the nodes 0 to *node_count* - 1, around (0, 0); equal edges give equal positions.

    *edges* are directed and without loops. A coarser graph, whose nodes are groups of linked nodes, is placed first, in
    the same way; from there, a fifth of the iterations is enough. Time: about n log n for each of the `ITERATIONS`.

    References
    ----------
    .. [1] Jacomy, Venturini, Heymann, Bastian (2014), ForceAtlas2, a Continuous Graph Layout Algorithm for Handy
       Network Visualization, PLoS ONE 9(6).
    .. [2] Hu (2005), Efficient and High Quality Force-Directed Graph Drawing, The Mathematica Journal 10(1): levels.
    .. [3] https://github.com/unimelbmdap/crategraph-forceatlas2, a port of graphology-layout-forceatlas2
    """
    if node_count < 2:
        return [(0.0, 0.0)] * node_count
    places = _placed(_merged(node_count, edges, link_strengths(edges, node_count)))
    places = places - places.mean(axis=0)
    spread = np.abs(places).mean() or 1.0
    places *= SPACING * node_count**0.5 / 4 / spread  # a square of that width has a mean distance of a quarter of it
    return [(round(x, 2), round(y, 2)) for x, y in places.tolist()]


class _Web(NamedTuple):
    """An undirected graph without parallel edges."""

    size: int  # number of nodes
    edges: Links
    strengths: Numbers


def _merged(size: int, edges: Links, strengths: Numbers) -> _Web:
    """Return the graph of *edges* in either direction without loops; *strengths* of parallel edges are added."""
    low, high = edges.min(axis=1), edges.max(axis=1)
    inner = low < high
    pairs, place = np.unique(low[inner] * size + high[inner], return_inverse=True)
    added = np.bincount(place, strengths[inner], len(pairs)).astype(np.float64)
    return _Web(size, np.column_stack((pairs // size, pairs % size)), added)


def _placed(web: _Web) -> Numbers:
    """Return the positions of the nodes of *web*, in the unit of the forces."""
    rng = np.random.default_rng(SEED)
    groups = _groups(web) if web.size > SMALL else np.arange(web.size)
    sizes = np.bincount(groups)
    if len(sizes) == web.size:
        return _moved(web, rng.random((web.size, 2)) * SPACING * web.size**0.5, FIRST_ITERATIONS)
    middles = _placed(_merged(len(sizes), groups[web.edges], web.strengths))
    width = 2 * np.abs(middles - middles.mean(axis=0)).mean() / web.size**0.5  # of the square of a node, about
    around = (rng.random((web.size, 2)) - 0.5) * width * sizes[groups, np.newaxis] ** 0.5
    return _moved(web, middles[groups] + around, ITERATIONS)


def _groups(web: _Web) -> NDArray[np.int64]:
    """Return the number of the group of each node; a node is in the group of the one that attracts it most.

    The first of equally strong ones is chosen: so only two nodes can choose each other, and no longer cycle exists.
    """
    nodes, others = np.concatenate((web.edges, web.edges[:, ::-1])).T
    strengths = np.tile(web.strengths, 2)
    strongest = np.zeros(web.size)
    np.maximum.at(strongest, nodes, strengths)
    chosen = np.full(web.size, web.size)
    is_strongest = strengths == strongest[nodes]
    np.minimum.at(chosen, nodes[is_strongest], others[is_strongest])
    own = np.arange(web.size)
    chosen = np.where(chosen == web.size, own, chosen)  # a node without edges is its own group
    heads = np.where(chosen[chosen] == own, np.minimum(chosen, own), chosen)
    while not np.array_equal(heads, further := heads[heads]):
        heads = further
    return np.unique(heads, return_inverse=True)[1]


def _moved(web: _Web, places: Numbers, iterations: int) -> Numbers:
    from crategraph_forceatlas2 import layout  # with the library of the layout, the import takes a tenth of a second

    found: Numbers = layout(
        web.size,
        web.edges,
        init=places,
        weights=web.strengths,
        iterations=iterations,
        threads=1,  # the order of summation, and so each position, would depend on their number
        barnesHutOptimize=True,
        barnesHutTheta=ACCURACY,
        strongGravityMode=True,
        gravity=GRAVITY,
        scalingRatio=10.0,
        linLogMode=False,
        outboundAttractionDistribution=False,
    )
    return found


def communities(node_count: int, edges: Links) -> list[int]:
    """Return the number of the community of each node: 1 is the largest; equal sizes are numbered by their first node.

    *edges* are directed pairs of 0 to *node_count* - 1, without loops. They count as in the layout (`link_strengths`),
    so that nodes of one colour are near each other. Equal edges give equal communities. Time: some 5 s for 10^5 edges.

    References
    ----------
    .. [1] Blondel, Guillaume, Lambiotte, Lefebvre (2008), Fast Unfolding of Communities in Large Networks,
       Journal of Statistical Mechanics P10008.
    """
    from networkx import Graph
    from networkx.algorithms.community import louvain_communities

    network = Graph()
    network.add_nodes_from(range(node_count))
    for (source, target), strength in zip(edges.tolist(), link_strengths(edges, node_count).tolist(), strict=True):
        known = network.get_edge_data(source, target, {"weight": 0.0})
        network.add_edge(source, target, weight=known["weight"] + strength)
    found = louvain_communities(network, weight="weight", seed=SEED)
    numbers = [0] * node_count
    for number, nodes in enumerate(sorted(found, key=lambda nodes: (-len(nodes), min(nodes))), 1):
        for node in nodes:
            numbers[node] = number
    return numbers
