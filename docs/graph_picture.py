"""Draws the picture of the README: a graph of the demo in the layout of Gephi (ForceAtlas2), coloured by communities.

    make demo
    python docs/graph_picture.py demo/result/127.0.0.1_PORT.gexf docs/pictures/archive.png

PORT is the port of the site "archive", which demo/ports.json tells. The size of a node is its number of linking pages.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import networkx
import numpy as np
from matplotlib import pyplot
from matplotlib.collections import LineCollection
from matplotlib.patheffects import withStroke
from PIL import Image

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 4
BACKGROUND = "#11141a"
COLOURS = ["#4ecdc4", "#ffd166", "#ff6b6b", "#9b8cff", "#06d6a0", "#f78fb3", "#54a0ff", "#ff9f43", "#c8d6e5"]
HUB = 30  # linking pages of a node whose path is written beside it
INCHES, DPI = (9.6, 5.4), 100
BEND = 0.15  # of an edge's length


def _colours(graph: networkx.DiGraph, home: str) -> dict[str, str]:
    """Return a colour for each community of the pages other than *home*, to which every page links."""
    others = networkx.restricted_view(graph, [home], []).to_undirected()
    communities = networkx.community.louvain_communities(others, resolution=0.5, seed=SEED)
    communities.sort(key=lambda nodes: (-len(nodes), min(nodes, key=int)))
    return {home: "white"} | {node: COLOURS[n % len(COLOURS)] for n, nodes in enumerate(communities) for node in nodes}


def _places(graph: networkx.DiGraph) -> dict[str, NDArray[np.float64]]:
    undirected = graph.to_undirected()
    start = networkx.spring_layout(undirected, seed=SEED, scale=100.0)
    places = networkx.forceatlas2_layout(undirected, pos=start, max_iter=400, scaling_ratio=4.0, gravity=0.5, seed=SEED)
    return {node: np.array(place) for node, place in places.items()}


def _curve(start: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points of a quadratic Bézier curve, which bends to the left as seen from *start*."""
    along = end - start
    control = (start + end) / 2 + BEND * np.array([-along[1], along[0]])
    t = np.linspace(0, 1, 14)[:, None]
    return (1 - t) ** 2 * start + 2 * (1 - t) * t * control + t**2 * end


def draw(source: Path, target: Path) -> None:
    """Draw the GEXF file *source* as the PNG file *target*."""
    graph = networkx.read_gexf(source)
    links = np.array([graph.nodes[node]["in_degree"] for node in graph])
    home = list(graph)[links.argmax()]
    places, colours = _places(graph), _colours(graph, home)
    figure, axes = pyplot.subplots(figsize=INCHES, facecolor=BACKGROUND)
    curves = [_curve(places[a], places[b]) for a, b in graph.edges]
    axes.add_collection(LineCollection(curves, colors=[colours[a] for a, _ in graph.edges], linewidths=0.5, alpha=0.35))
    x, y = np.array([places[node] for node in graph]).T
    axes.scatter(
        x, y, 6 + 9 * np.sqrt(links), [colours[node] for node in graph], edgecolors=BACKGROUND, linewidths=0.4, zorder=2
    )
    for node, count in zip(graph, links, strict=True):
        if count >= HUB and node != home:
            axes.annotate(
                urlsplit(graph.nodes[node]["label"]).path, places[node], (6, 4), textcoords="offset points",
                color="white", fontsize=7, zorder=3, path_effects=[withStroke(linewidth=2, foreground=BACKGROUND)],
            )  # fmt: skip
    axes.set_aspect("equal")
    axes.axis("off")
    axes.margins(0.02)
    figure.subplots_adjust(0, 0, 1, 1)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=DPI, facecolor=BACKGROUND)
    Image.open(drawn).convert("RGB").quantize(96, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(sys.argv[2]))
