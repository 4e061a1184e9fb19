"""Positions of nodes by ForceAtlas2, the layout of Gephi: linked nodes attract and all repel each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ITERATIONS = 300  # then the picture hardly changes any more
SEED = 1  # of the first positions
GRAVITY = 0.05  # towards the middle, with a strength that grows with the distance; keeps unconnected parts together
ACCURACY = 1.0  # of Barnes and Hut: nodes of a square repel as one if its width is less than this share of the distance
SPACING = 40.0  # mean width of the square that a node has for itself; sizes of nodes are of this order


def link_strengths(edges: Sequence[tuple[int, int]], node_count: int) -> NDArray[np.float64]:
    """Return how strongly the two nodes of each directed edge attract each other, in (0, 1].

    A page to which each page links (the home page, a menu) says nothing about which pages belong together, and would
    pull all of them into one heap: so the attraction of an edge is divided by the in-degree of its target.
    """
    targets = np.array([target for _, target in edges], dtype=np.int64)
    degrees = np.bincount(targets, minlength=node_count)
    return np.asarray(1.0 / degrees[targets], dtype=np.float64)


def force_layout(node_count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """Return (x, y) of the nodes 0 to *node_count* - 1, around (0, 0); equal edges give equal positions.

    *edges* are directed and without loops. Time: about
    n log n for each of the `ITERATIONS`.

    References
    ----------
    .. [1] Jacomy, Venturini, Heymann, Bastian (2014), ForceAtlas2, a Continuous Graph Layout Algorithm for Handy
       Network Visualization, PLoS ONE 9(6).
    .. [2] https://github.com/unimelbmdap/crategraph-forceatlas2, a port of graphology-layout-forceatlas2
    """
    if node_count < 2:
        return [(0.0, 0.0)] * node_count
    from crategraph_forceatlas2 import layout  # with the library of the layout, the import takes a tenth of a second

    places = layout(
        node_count,
        edges,
        init=np.random.default_rng(SEED).random((node_count, 2)) * SPACING * node_count**0.5,
        weights=link_strengths(edges, node_count),
        iterations=ITERATIONS,
        threads=1,  # the order of summation, and so each position, would depend on their number
        barnesHutOptimize=True,
        barnesHutTheta=ACCURACY,
        strongGravityMode=True,
        gravity=GRAVITY,
        scalingRatio=10.0,
        linLogMode=False,
        outboundAttractionDistribution=False,
    )
    places = places - places.mean(axis=0)
    spread = np.abs(places).mean() or 1.0
    places *= SPACING * node_count**0.5 / 4 / spread  # a square of that width has a mean distance of a quarter of it
    return [(round(x, 2), round(y, 2)) for x, y in places.tolist()]
